! flags: -fdo-concurrent-to-openmp=device
! Loops that the compiler makes regions of; bounds and values near zero, which it passes by value.
program concurrent
  use iso_fortran_env
  implicit none
  integer :: a(-3:3), i
  integer(int64) :: b(-8:-1), j, minus

  a = 0
  do concurrent (i = -3:3)
    a(i) = i
  end do
  print '(a, 7i3)', 'concurrent', a

  minus = -1
  b = 0
  !$omp target teams distribute parallel do map(tofrom: b)
  do j = -8_int64, minus
    b(j) = j * minus
  end do
  print '(a, 8i3)', 'bounds', b
end program
