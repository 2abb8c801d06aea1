! own: LLVM's device takes the structure away with its component
program component
  implicit none
  type outer
    integer :: n
    real(8) :: fixed(10)
    real(8), allocatable :: grid(:, :)
  end type
  type(outer) :: o
  integer :: i, j

  o%n = 4
  o%fixed = 1.8
  allocate (o%grid(4, 3))
  o%grid = 2
  ! A component goes by itself: what it is a part of stays, and comes back.
  do i = 1, 2
    !$omp target enter data map(to: o)
    do j = 1, i
      !$omp target enter data map(to: o%grid)
    end do
    !$omp target
    o%n = o%n + 10
    o%grid(1, 1) = o%n
    !$omp end target
    !$omp target exit data map(delete: o%grid)
    !$omp target
    o%n = o%n + 1
    !$omp end target
    !$omp target exit data map(from: o)
  end do
  print '(a, i4, f8.1)', 'component', o%n, sum(o%fixed)
end program
