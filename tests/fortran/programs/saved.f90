! Variables that regions write: of a module, and saved ones of a procedure, which no table names.
module saved_variables
  implicit none
  integer :: total = 5
  !$omp declare target(total)
contains
  subroutine bump(calls_so_far)
    !$omp declare target
    integer, intent(out) :: calls_so_far
    integer, save :: calls = 0
    calls = calls + 1
    calls_so_far = calls
  end subroutine
end module

program saved
  use saved_variables
  implicit none
  integer :: i, calls, sum
  do i = 1, 12
    !$omp target map(from: calls, sum)
    call bump(calls)
    total = total + i
    sum = total
    !$omp end target
    print *, calls, sum
  end do
end program
