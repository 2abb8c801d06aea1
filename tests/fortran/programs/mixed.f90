! Regions in C and Fortran in one image: what libomprma-device.a has for Fortran leaves C alone.
program mixed
  use iso_c_binding
  implicit none
  interface
    subroutine in_order(order, n) bind(c)
      import c_int
      integer(c_int), value :: n
      integer(c_int) :: order(n)
    end subroutine
  end interface
  integer(c_int) :: order(500), i
  integer :: a(10), at

  order = -1
  call in_order(order, 500)
  print '(a, l2)', 'C', all(order == [(i - 1, i = 1, 500)])
  at = 0
  !$omp target parallel do ordered num_threads(4) map(tofrom: at)
  do i = 1, 10
    !$omp ordered
    at = at + 1
    a(at) = i
    !$omp end ordered
  end do
  print '(a, 10i3)', 'Fortran', a
end program
