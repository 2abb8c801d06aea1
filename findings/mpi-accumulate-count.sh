#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4, Debian 12, two processes of one host, a dynamic window. MPI_Accumulate() adds 1 to 6 to six integers
# of the other process. The target's datatype is MPI_INT, or a contiguous one of so many integers.
# Guess: six sums, whichever datatype they are named by, and whichever component serves the window.
# Seen: osc/rdma does so. Where osc/ucx serves the window, only the first element of a derived datatype of the target
# is added to: of two of three integers, three sums are there, and of three of two, two. Nothing is said, and the
# flush returns success. A derived datatype of the origin is right, a count of 1 is right, and so is MPI_REPLACE.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

enum { NUMBERS = 6 };

static MPI_Win window;
static MPI_Aint at;
static int numbers[NUMBERS];

/* A datatype of so many integers is used as often as it takes to make six of them. */
static void try(const char *name, int rank, int origin_integers, int target_integers, MPI_Op op)
{
    MPI_Datatype origin = MPI_INT, target = MPI_INT;
    int added[NUMBERS] = {1, 2, 3, 4, 5, 6};

    if (origin_integers > 1)
        MPI_Type_contiguous(origin_integers, MPI_INT, &origin);
    if (target_integers > 1)
        MPI_Type_contiguous(target_integers, MPI_INT, &target);
    MPI_Type_commit(&origin);
    MPI_Type_commit(&target);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = 0;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Accumulate(added, NUMBERS / origin_integers, origin, 0, at, NUMBERS / target_integers, target, op, window);
        MPI_Win_flush(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    if (rank == 0)
        printf("%s, %d of %d to %d of %d: %d %d %d %d %d %d\n", name, NUMBERS / origin_integers, origin_integers,
               NUMBERS / target_integers, target_integers, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4],
               numbers[5]);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, numbers, sizeof(numbers));
    MPI_Get_address(numbers, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    try("sum", rank, 1, 1, MPI_SUM);
    try("sum", rank, 3, 1, MPI_SUM);
    try("sum", rank, 1, 6, MPI_SUM);
    try("sum", rank, 1, 3, MPI_SUM);
    try("sum", rank, 2, 2, MPI_SUM);
    try("replace", rank, 1, 3, MPI_REPLACE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_detach(window, numbers);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
saw_mpi_two rdma "$folder/try.c"
expect '^sum, 6 of 1 to 2 of 3: 1 2 3 4 5 6$'
expect '^sum, 3 of 2 to 3 of 2: 1 2 3 4 5 6$'
saw_mpi_two ucx "$folder/try.c"
expect '^sum, 6 of 1 to 6 of 1: 1 2 3 4 5 6$'
expect '^sum, 2 of 3 to 6 of 1: 1 2 3 4 5 6$'
expect '^sum, 6 of 1 to 1 of 6: 1 2 3 4 5 6$'
expect '^sum, 6 of 1 to 2 of 3: 1 2 3 0 0 0$'
expect '^sum, 3 of 2 to 3 of 2: 1 2 0 0 0 0$'
expect '^replace, 6 of 1 to 2 of 3: 1 2 3 4 5 6$'
exit "$changed"
