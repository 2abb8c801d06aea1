#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4, Debian 12, two processes of one host, a dynamic window served by osc/rdma, which is the default.
# MPI_Get_accumulate() adds to six integers of the other process, and brings what was there. The datatypes are
# MPI_INT, or contiguous ones of three integers, which name the same bytes.
# Guess: the same result for each choice. osc/rdma does this by a get, an addition and a put.
# Seen: that holds where all three are MPI_INT. If only one is derived, that of the origin, of the result or of the
# target, the sums in the other process are right, MPI_Get_accumulate() and the flush return success, and the six
# numbers that it was to bring are not there: the buffer keeps what it had, or other bytes come. With MPI_NO_OP, which
# is an atomic get, they are right.
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
static int numbers[NUMBERS], begin = 1000;

/* Whether all are FIRST + i * STEP. */
static const char *right(const int *numbers, int first, int step)
{
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i] != first + i * step)
            return "wrong";
    return "right";
}

static void try(const char *name, int rank, MPI_Datatype origin, MPI_Datatype result, MPI_Datatype target, MPI_Op op)
{
    int added[NUMBERS], brought[NUMBERS], sizes[3];

    begin += 1000;
    MPI_Type_size(origin, &sizes[0]);
    MPI_Type_size(result, &sizes[1]);
    MPI_Type_size(target, &sizes[2]);
    for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = begin + i;
        added[i] = i;
        brought[i] = -1;
    }
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        int bytes = sizeof(added);

        MPI_Get_accumulate(added, bytes / sizes[0], origin, brought, bytes / sizes[1], result, 0, at,
                           bytes / sizes[2], target, op, window);
        MPI_Win_flush(0, window);
        MPI_Send(brought, NUMBERS, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(brought, NUMBERS, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_sync(window);
        printf("%s: there %s, brought %s\n", name, right(numbers, begin, op == MPI_SUM ? 2 : 1),
               right(brought, begin, 1));
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype one = MPI_INT, three;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, numbers, sizeof(numbers));
    MPI_Get_address(numbers, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    try("sum, none derived", rank, one, one, one, MPI_SUM);
    try("sum, origin derived", rank, three, one, one, MPI_SUM);
    try("sum, result derived", rank, one, three, one, MPI_SUM);
    try("sum, target derived", rank, one, one, three, MPI_SUM);
    try("sum, all derived", rank, three, three, three, MPI_SUM);
    try("no_op, all derived", rank, three, three, three, MPI_NO_OP);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_detach(window, numbers);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
saw_mpi_two rdma "$folder/try.c"
expect '^sum, none derived: there right, brought right$'
expect '^sum, origin derived: there right, brought wrong$'
expect '^sum, result derived: there right, brought wrong$'
expect '^sum, target derived: there right, brought wrong$'
expect '^sum, all derived: there right, brought wrong$'
expect '^no_op, all derived: there right, brought right$'
exit "$changed"
