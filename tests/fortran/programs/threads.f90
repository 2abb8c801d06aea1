! How many threads there are: num_threads, thread_limit, if, nested regions, and who is who.
program threads
  use omp_lib
  implicit none
  integer :: seen(0:15), i, n, sizes(8)

  call omp_set_dynamic(.false.)
  seen = 0
  sizes = 0
  !$omp target map(tofrom: seen, sizes)
  !$omp parallel num_threads(4)
  seen(omp_get_thread_num()) = seen(omp_get_thread_num()) + 1
  !$omp single
  sizes(1) = omp_get_num_threads()
  !$omp end single
  !$omp end parallel
  !$omp end target
  print '(a, 16i3)', 'four', seen
  print '(a, i3)', 'size', sizes(1)

  n = 3
  seen = 0
  !$omp target parallel do num_threads(n) map(tofrom: seen)
  do i = 1, 300
    !$omp atomic
    seen(omp_get_thread_num()) = seen(omp_get_thread_num()) + 1
  end do
  print '(a, 16i4)', 'variable', seen

  seen = 0
  !$omp target teams distribute parallel do num_teams(1) thread_limit(2) num_threads(5) map(tofrom: seen)
  do i = 1, 300
    !$omp atomic
    seen(omp_get_thread_num()) = seen(omp_get_thread_num()) + 1
  end do
  print '(a, i5, a, i4)', 'limit', sum(seen), ' beyond', sum(seen(2:))

  seen = 0
  !$omp target parallel do if(parallel: n > 3) map(tofrom: seen)
  do i = 1, 300
    seen(omp_get_thread_num()) = seen(omp_get_thread_num()) + 1
  end do
  print '(a, 16i4)', 'if', seen

  ! The outer region keeps its four threads although the inner one has less.
  sizes = 0
  !$omp target map(tofrom: sizes)
  call omp_set_max_active_levels(2)
  !$omp parallel num_threads(4)
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0 .and. omp_get_ancestor_thread_num(1) == 3) then
    sizes(1) = omp_get_num_threads()
    sizes(2) = omp_get_team_size(1)
    sizes(3) = omp_get_level()
    sizes(4) = omp_get_active_level()
  end if
  !$omp end parallel
  !$omp end parallel
  !$omp end target
  print '(a, 4i3)', 'nested', sizes(1:4)

  sizes = 0
  !$omp target map(tofrom: sizes)
  call omp_set_max_active_levels(2)
  !$omp parallel num_threads(2)
  !$omp parallel do num_threads(3)
  do i = 1, 99
    !$omp atomic
    sizes(1 + omp_get_thread_num()) = sizes(1 + omp_get_thread_num()) + 1
  end do
  !$omp end parallel
  !$omp end target
  print '(a, 8i4)', 'nested loop', sizes

  sizes = 0
  !$omp target map(tofrom: sizes)
  sizes(1) = omp_get_num_threads()
  sizes(2) = omp_get_thread_num()
  sizes(3) = merge(1, 0, omp_in_parallel())
  sizes(4) = omp_get_level()
  sizes(5) = omp_get_team_num()
  !$omp end target
  print '(a, 5i3)', 'alone', sizes(1:5)
end program
