! Data: allocatables, derived types, sections, pointers, globals, target data and update.
module types
  implicit none
  type plain
    integer :: id
    real :: weight = 1
  end type
  type inner
    integer :: id
    real(8), allocatable :: values(:)
  end type
  type outer
    integer :: n
    real(8) :: fixed(10)
    type(inner) :: part
    real(8), allocatable :: grid(:, :)
  end type
  integer :: everywhere(20) = 3
  !$omp declare target(everywhere)
contains
  integer function square(i)
    !$omp declare target
    integer, intent(in) :: i
    square = i * i
  end function
end module

program data
  use omp_lib
  use types
  implicit none
  integer, parameter :: n = 500
  real(8), allocatable :: x(:), y(:, :)
  real(8), target :: whole(n)
  real(8), pointer :: view(:)
  type(outer) :: o
  type(plain) :: list(3)
  real(8) :: scratch(8), first
  character(8) :: name
  integer :: i, j

  allocate (x(n), y(0:9, -5:5))
  x = 1
  y = 2
  !$omp target teams distribute parallel do map(tofrom: x, y)
  do i = 1, n
    x(i) = x(i) + i
    if (i <= 10) y(i - 1, :) = y(i - 1, :) * i
  end do
  print '(a, 2f12.1, 4i4)', 'allocatable', sum(x), sum(y), lbound(y), ubound(y)

  o%n = 4
  o%fixed = 1
  allocate (o%grid(4, 3), o%part%values(6))
  o%part%id = 9
  o%grid = 2
  o%part%values = 3
  !$omp target map(tofrom: o%grid, o%part%values, o%fixed) map(to: o%n)
  o%fixed(2:3) = o%fixed(2:3) + o%n
  o%grid(:, 2) = o%grid(:, 2) * 10
  o%part%values(6) = 7
  !$omp end target
  print '(a, 3f8.1, i4)', 'members', sum(o%fixed), sum(o%grid), sum(o%part%values), o%part%id

  list%id = [1, 2, 3]
  !$omp target map(tofrom: list(2:3))
  list(2)%id = list(2)%id + 10
  list(3) = plain(20, -1)
  !$omp end target
  print '(a, 3i4, f5.1)', 'list', list%id, sum(list%weight)

  whole = 1
  view => whole(101:300)
  !$omp target parallel do map(tofrom: view)
  do i = 1, size(view)
    view(i) = view(i) + 1
  end do
  print '(a, f9.1)', 'pointer', sum(whole)

  !$omp target data map(tofrom: x) map(alloc: whole)
  !$omp target parallel do
  do i = 1, n
    whole(i) = 2 * x(i)
    x(i) = 0
  end do
  ! Without a device there is only one x.
  if (omp_get_num_devices() > 0 .and. sum(x) /= 125750) print '(a, f12.1)', 'too early', sum(x)
  !$omp target update from(whole)
  print '(a, f12.1)', 'update', sum(whole)
  whole(11:20) = 1
  !$omp target update to(whole(11:20))
  !$omp target parallel do
  do i = 1, n
    x(i) = whole(i)
  end do
  !$omp end target data
  print '(a, f12.1)', 'section', sum(x)

  !$omp target enter data map(to: x)
  if (omp_get_num_devices() > 0) x = -1
  !$omp target
  x(1) = 5
  !$omp end target
  !$omp target exit data map(from: x)
  print '(a, f12.1)', 'exit', sum(x)

  everywhere = 4
  !$omp target update to(everywhere)
  j = 0
  !$omp target map(tofrom: j)
  everywhere(1) = square(3)
  do i = 1, 20
    j = j + everywhere(i)
  end do
  !$omp end target
  !$omp target update from(everywhere)
  print '(a, 2i5)', 'global', j, everywhere(1)

  scratch = 1
  first = 8
  name = 'before'
  !$omp target map(tofrom: x, name, j)
  !$omp parallel do private(scratch) firstprivate(first) lastprivate(j)
  do i = 1, n
    scratch = first
    x(i) = sum(scratch)
    j = i
    if (i == n) name = 'after'
  end do
  !$omp end target
  print '(a, f10.1, i5, 1x, a, f5.1)', 'private', sum(x), j, name, sum(scratch)

  deallocate (x)
  allocate (x(3))
  x = 2
  !$omp target map(tofrom: x)
  x = x + [1, 2, 3]
  !$omp end target
  print '(a, 3f5.1)', 'assign', x
end program
