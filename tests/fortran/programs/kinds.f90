! Loops over every kind of integer, and nests of loops made one.
program kinds
  use iso_fortran_env
  implicit none
  integer :: counts(0:300), square(13, 17), cube(5, 6, 7), i, j, k
  integer(int8) :: i8
  integer(int16) :: i16
  integer(int64) :: i64, far

  counts = 0
  !$omp target parallel do map(tofrom: counts)
  do i8 = -100_int8, 100_int8
    counts(i8 + 100) = counts(i8 + 100) + 1
  end do
  print '(a, 2i6)', 'int8', sum(counts), maxval(counts)
  counts = 0
  !$omp target teams distribute parallel do map(tofrom: counts)
  do i16 = 300_int16, 0_int16, -1_int16
    counts(i16) = counts(i16) + 1
  end do
  print '(a, 2i6)', 'int16', sum(counts), maxval(counts)
  counts = 0
  far = 3000000000_int64
  !$omp target teams distribute parallel do map(tofrom: counts)
  do i64 = far, far + 300_int64
    counts(i64 - far) = counts(i64 - far) + 1
  end do
  print '(a, 2i6)', 'int64', sum(counts), maxval(counts)
  counts = 0
  !$omp target map(tofrom: counts)
  !$omp parallel do
  do i64 = -far, -far + 300_int64
    counts(i64 + far) = counts(i64 + far) + 1
  end do
  !$omp end target
  print '(a, 2i6)', 'int64', sum(counts), maxval(counts)

  counts = 0
  !$omp target teams distribute map(tofrom: counts) dist_schedule(static, 7)
  do i64 = 0_int64, 300_int64
    counts(i64) = counts(i64) + 1
  end do
  print '(a, 2i6)', 'distribute', sum(counts), maxval(counts)

  square = 0
  !$omp target teams distribute parallel do collapse(2) map(tofrom: square)
  do j = 1, 17
    do i = 1, 13
      square(i, j) = square(i, j) + 100 * i + j
    end do
  end do
  print '(a, 2i8)', 'collapse 2', sum(square), square(13, 17)
  cube = 0
  !$omp target parallel do collapse(3) map(tofrom: cube)
  do k = 7, 1, -1
    do j = 1, 6
      do i = 1, 5, 2
        cube(i, j, k) = cube(i, j, k) + 100 * i + 10 * j + k
      end do
    end do
  end do
  print '(a, 2i8)', 'collapse 3', sum(cube), cube(5, 6, 7)
end program
