! Reductions of every kind, in teams, parallel regions and loops.
program reductions
  implicit none
  integer, parameter :: n = 1000
  integer :: i, least, most, bits, either, many, array(4)
  integer(8) :: total
  real(8) :: x(n), s, p
  real(4) :: f
  complex(8) :: z
  logical :: all_true, any_true

  do i = 1, n
    x(i) = mod(7 * i, 101)
  end do
  s = 5
  !$omp target teams distribute parallel do reduction(+: s) map(tofrom: s) map(to: x)
  do i = 1, n
    s = s + x(i)
  end do
  print '(a, f10.1)', 'sum', s

  least = 1000
  most = -1
  !$omp target parallel do reduction(min: least) reduction(max: most) map(tofrom: least, most)
  do i = 1, n
    least = min(least, int(x(i)) + 1)
    most = max(most, int(x(i)))
  end do
  print '(a, 2i6)', 'min max', least, most

  p = 1
  total = 0
  !$omp target teams distribute parallel do reduction(*: p) reduction(+: total) &
  !$omp& map(tofrom: p, total)
  do i = 1, n
    if (mod(i, 100) == 0) p = p * 2
    total = total + i * 1000000_8
  end do
  print '(a, f8.1, i16)', 'product', p, total

  bits = 0
  either = 0
  all_true = .true.
  any_true = .false.
  !$omp target parallel do reduction(ior: bits) reduction(ieor: either) &
  !$omp& reduction(.and.: all_true) reduction(.or.: any_true) &
  !$omp& map(tofrom: bits, either, all_true, any_true)
  do i = 1, n
    bits = ior(bits, i)
    either = ieor(either, i)
    all_true = all_true .and. x(i) < 200
    any_true = any_true .or. x(i) == 100
  end do
  print '(a, 2i6, 2l3)', 'bits', bits, either, all_true, any_true

  z = (0, 0)
  f = 0
  !$omp target teams distribute parallel do reduction(+: z, f) map(tofrom: z, f)
  do i = 1, 100
    z = z + cmplx(i, -i, 8)
    f = f + 1
  end do
  print '(a, 3f9.1)', 'complex', z, f

  array = 0
  !$omp target parallel do reduction(+: array) map(tofrom: array)
  do i = 1, n
    array(1 + mod(i, 4)) = array(1 + mod(i, 4)) + 1
  end do
  print '(a, 4i6)', 'array', array

  many = 0
  total = 0
  !$omp target map(tofrom: many, total)
  !$omp parallel num_threads(3) reduction(+: many)
  many = many + 1
  !$omp end parallel
  !$omp parallel num_threads(3)
  !$omp do reduction(+: total)
  do i = 1, n
    total = total + i
  end do
  !$omp do reduction(+: total)
  do i = 1, n
    total = total + i
  end do
  !$omp end parallel
  !$omp end target
  print '(a, i4, i10)', 'twice', many, total

  many = 10
  !$omp target teams reduction(+: many) map(tofrom: many) num_teams(1)
  many = many + 7
  !$omp end target teams
  print '(a, i4)', 'teams', many
end program
