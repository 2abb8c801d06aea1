! flags: -fopenmp-version=52
! Thread limits that are known only when the program runs, which flang passes on from OpenMP 5.1 on:
! omprma's OpenMP runtime tells them to regions; LLVM's local device does not, so nothing is expected
! of it.
program limits
  use omp_lib
  implicit none
  integer :: limit, n, i, length, known, within
  logical :: told

  call get_environment_variable('OMPI_COMM_WORLD_RANK', length=length)
  told = length > 0 ! omprma-run has started the program
  limit = command_argument_count() + 2
  n = 0
  !$omp target teams num_teams(1) thread_limit(limit) map(tofrom: n)
  !$omp parallel num_threads(4)
  !$omp atomic
  n = n + 1
  !$omp end parallel
  !$omp end target teams
  print '(a, l2)', 'teams', n > 0 .and. (n <= limit .or. .not. told)

  n = 0
  !$omp target teams distribute parallel do num_teams(1) thread_limit(limit) map(tofrom: n)
  do i = 1, 100
    !$omp critical
    n = max(n, omp_get_num_threads())
    !$omp end critical
  end do
  print '(a, l2)', 'combined', n > 0 .and. (n <= limit .or. .not. told)

  known = 0
  within = 0
  !$omp target thread_limit(limit + 1) map(tofrom: known, within)
  known = omp_get_thread_limit()
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) within = omp_get_thread_limit()
  !$omp end parallel
  !$omp end target
  print '(a, 2l2)', 'function', known == limit + 1 .or. .not. told, within == known

  n = 0
  !$omp target map(tofrom: n)
  !$omp parallel num_threads(4)
  !$omp atomic
  n = n + 1
  !$omp end parallel
  !$omp end target
  print '(a, i4)', 'no limit', n
  known = omp_get_thread_limit()
  !$omp target map(tofrom: within)
  within = omp_get_thread_limit()
  !$omp end target
  print '(a, l2)', 'no limit any more', within == known
end program
