! What a region prints is written at its end, before what the host prints after it.
program output
  use iso_fortran_env
  implicit none
  integer :: i, j

  do i = 1, 3
    !$omp target map(to: i)
    print '(a, i3)', 'region', i
    !$omp end target
    print '(a, i3)', 'host', i
    flush (output_unit)
  end do
  j = 0
  !$omp target map(tofrom: j)
  !$omp parallel num_threads(3) reduction(+: j)
  j = j + 1
  !$omp critical
  write (output_unit, '(a)', advance='no') 'thread '
  write (output_unit, '(a)') 'done'
  !$omp end critical
  !$omp end parallel
  print '(a, i3)', 'last', j
  !$omp end target
end program
