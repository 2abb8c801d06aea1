! Jacobi steps on columns that are divided among the ranks; each step is a region, and the columns at
! the borders go to the neighbours. With mpif.h, because mpi.mod is made for one compiler.
program halo_fortran
  implicit none
  include 'mpif.h'
  integer, parameter :: height = 64, columns = 24, steps = 30
  double precision :: from(height, 0:columns + 1), to(height, 0:columns + 1)
  double precision, allocatable :: whole(:, :), next(:, :)
  integer :: rank, ranks, code, up, down, step, row, column, differences

  call mpi_init(code)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
  up = rank - 1
  if (rank == 0) up = MPI_PROC_NULL
  down = rank + 1
  if (rank == ranks - 1) down = MPI_PROC_NULL

  do column = 0, columns + 1
    do row = 1, height
      from(row, column) = start(row, rank * columns + column)
    end do
  end do
  to = from
  !$omp target data map(tofrom: from, to)
  do step = 1, steps
    !$omp target teams distribute parallel do collapse(2)
    do column = 1, columns
      do row = 2, height - 1
        to(row, column) = 0.25d0 * (from(row - 1, column) + from(row + 1, column) &
            + from(row, column - 1) + from(row, column + 1))
      end do
    end do
    !$omp target
    from = to
    !$omp end target
    !$omp target update from(from(:, 1:1))
    !$omp target update from(from(:, columns:columns))
    call mpi_sendrecv(from(1, 1), height, MPI_DOUBLE_PRECISION, up, 1, &
        from(1, columns + 1), height, MPI_DOUBLE_PRECISION, down, 1, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call mpi_sendrecv(from(1, columns), height, MPI_DOUBLE_PRECISION, down, 2, &
        from(1, 0), height, MPI_DOUBLE_PRECISION, up, 2, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    !$omp target update to(from(:, 0:0))
    !$omp target update to(from(:, columns + 1:columns + 1))
  end do
  !$omp end target data

  allocate (whole(height, 0:columns * ranks + 1), next(height, 0:columns * ranks + 1))
  do column = 0, columns * ranks + 1
    do row = 1, height
      whole(row, column) = start(row, column)
    end do
  end do
  next = whole
  do step = 1, steps
    do column = 1, columns * ranks
      do row = 2, height - 1
        next(row, column) = 0.25d0 * (whole(row - 1, column) + whole(row + 1, column) &
            + whole(row, column - 1) + whole(row, column + 1))
      end do
    end do
    whole = next
  end do
  differences = count(from(:, 1:columns) /= whole(:, rank * columns + 1:(rank + 1) * columns))
  call mpi_finalize(code)
  if (differences /= 0) then
    print '(a, i0, a, i0, a, i0, a)', 'wrong halo_fortran ', rank, ' of ', ranks, ': ', differences, ' values'
    stop 1
  end if
  print '(a, i0, a, i0)', 'ok halo_fortran ', rank, ' of ', ranks

contains

  double precision function start(row, column)
    integer, intent(in) :: row, column

    start = mod(column * 37 + row * 11, 101)
  end function start
end program halo_fortran
