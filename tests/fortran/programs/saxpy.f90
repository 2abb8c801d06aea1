! The plain cases: arrays in and out, a scalar by value, empty and short loops, directions and steps.
program saxpy
  use omp_lib
  implicit none
  integer, parameter :: n = 10007
  real :: x(n), y(n)
  integer :: i, a(20)
  logical :: initial

  do i = 1, n
    x(i) = mod(i, 17)
    y(i) = mod(i, 5)
  end do
  call add(x, y, 2.0, n)
  print '(a, f12.1)', 'saxpy', sum(y)
  call add(x, y, 2.0, 0)
  call add(x, y, 1.0, 1)
  call add(x, y, 1.0, 3)
  print '(a, f12.1)', 'short', sum(y)

  a = 0
  !$omp target teams distribute parallel do map(tofrom: a)
  do i = 20, 1, -3
    a(i) = a(i) + i
  end do
  print '(a, 20i4)', 'down', a
  !$omp target parallel do map(tofrom: a)
  do i = 2, 20, 7
    a(i) = a(i) + 100
  end do
  print '(a, 20i4)', 'step', a
  !$omp target simd map(tofrom: a)
  do i = 1, 20
    a(i) = a(i) + 1
  end do
  print '(a, 20i4)', 'simd', a
  !$omp target teams distribute parallel do simd map(tofrom: a) simdlen(4)
  do i = 1, 20
    a(i) = a(i) * 2
  end do
  print '(a, 20i4)', 'both', a

  ! The one difference: with a device, a region is not on the initial device.
  initial = .true.
  !$omp target map(from: initial)
  initial = omp_is_initial_device()
  !$omp end target
  if (initial .neqv. omp_get_num_devices() == 0) print '(a)', 'wrong device'
contains
  subroutine add(x, y, factor, n)
    integer, intent(in) :: n
    real, intent(in) :: x(n), factor
    real, intent(inout) :: y(n)
    integer :: i
    !$omp target teams distribute parallel do map(to: x) map(tofrom: y)
    do i = 1, n
      y(i) = y(i) + factor * x(i)
    end do
  end subroutine
end program
