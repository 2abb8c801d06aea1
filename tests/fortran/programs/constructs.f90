! What else is allowed in a region: critical, single, masked, sections, tasks, ordered, orphaned
! loops and parallel regions, nowait and dependences, workshare.
module routines
  implicit none
contains
  subroutine orphan(a, n)
    !$omp declare target
    integer, intent(in) :: n
    integer, intent(inout) :: a(n)
    integer :: i
    !$omp do
    do i = 1, n
      a(i) = a(i) + i
    end do
  end subroutine
  subroutine alone(a, n)
    !$omp declare target
    integer, intent(in) :: n
    integer, intent(inout) :: a(n)
    integer :: i
    !$omp parallel do
    do i = 1, n
      a(i) = a(i) + 1
    end do
  end subroutine
end module

program constructs
  use omp_lib
  use routines
  implicit none
  integer, parameter :: n = 200
  integer :: a(n), order(n), at, i, j

  a = 0
  !$omp target map(tofrom: a)
  !$omp parallel num_threads(4)
  !$omp critical
  a(1) = a(1) + 1
  !$omp end critical
  !$omp critical (named)
  a(2) = a(2) + 1
  !$omp end critical (named)
  !$omp atomic
  a(3) = a(3) + 1
  !$omp single
  a(4) = a(4) + 1
  !$omp end single
  !$omp masked
  a(5) = a(5) + 1
  !$omp end masked
  !$omp barrier
  !$omp sections
  !$omp section
  a(6) = a(6) + a(5)
  !$omp section
  a(7) = a(7) + a(5)
  !$omp section
  a(8) = a(8) + 1
  !$omp end sections
  !$omp single
  do i = 9, 20
    !$omp task firstprivate(i)
    a(i) = a(i) + i
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  !$omp end target
  print '(a, 20i4)', 'mixed', a(1:20)

  a = 0
  !$omp target map(tofrom: a)
  !$omp parallel num_threads(3)
  call orphan(a, n)
  call orphan(a, n)
  !$omp end parallel
  call orphan(a, n)
  call alone(a, n)
  !$omp end target
  print '(a, i8)', 'orphan', sum(a)

  ! Uneven: some threads have more iterations, and not each one meets the construct.
  at = 0
  order = 0
  !$omp target map(tofrom: order, at)
  !$omp parallel num_threads(3)
  do j = 1, 2
    !$omp do ordered
    do i = 1, 101
      if (mod(i, 3) /= 0) then
        !$omp ordered
        at = at + 1
        order(at) = i
        !$omp end ordered
      end if
    end do
  end do
  !$omp end parallel
  !$omp end target
  print '(a, i5)', 'ordered', at
  print '(20i4)', order(1:at)

  a = 0
  if (omp_get_num_devices() > 0) then
    !$omp target teams map(tofrom: a)
    !$omp distribute private(j)
    do i = 1, 10
      j = i * 10
      !$omp parallel do firstprivate(j)
      do at = 1, 10
        a(j + at) = i + at
      end do
    end do
    !$omp end target teams
  else ! on the host libomp fails in the code that flang 22 makes of this
    do i = 1, 10
      a(i * 10 + 1:i * 10 + 10) = [(i + at, at = 1, 10)]
    end do
  end if
  print '(a, i8)', 'distribute', sum(a)

  !$omp target map(tofrom: a)
  !$omp parallel workshare
  a = a + 2
  !$omp end parallel workshare
  !$omp end target
  print '(a, i8)', 'workshare', sum(a)

  !$omp parallel
  !$omp single
  do j = 1, 20
    !$omp target parallel do nowait depend(inout: a) map(tofrom: a)
    do i = 1, n
      a(i) = 3 * mod(a(i), 1000) + i
    end do
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  print '(a, i8)', 'nowait', sum(a)
end program
