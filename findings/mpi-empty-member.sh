#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MPICH 4.0.2 and Open MPI 4.1.4, Debian 12. A structure of six integers by MPI_Type_create_struct(): four of one kind,
# none of another, and two of a third, as where this process happens to have none of them. The datatype of those of
# which there are none is a contiguous one of 0 elements. One such structure is sent and received.
# Guess: what is empty adds nothing, so six elements arrive, and the datatype reaches from the first to the last of
# them.
# Seen: in Open MPI they do. In MPICH the data is right, and MPI_Get_count() says 1, but MPI_Get_elements() says 4, for
# it counts up to the empty datatype only: 0 where that is the first one. And the true extent ends where the empty one
# stands, at 400, though nothing does. A block length of 0 in place of the empty datatype is right.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

/* The empty member stands at 400. */
static void try(const char *what, int *lengths, MPI_Aint *places, MPI_Datatype *members)
{
    int from[128], to[128] = {0}, count = -1, elements = -1, right = 0;
    MPI_Aint bound, extent;
    MPI_Datatype all;
    MPI_Status status;

    for (int i = 0; i < 128; i++)
        from[i] = i + 1;
    MPI_Type_create_struct(3, lengths, places, members, &all);
    MPI_Type_commit(&all);
    MPI_Sendrecv(from, 1, all, 0, 0, to, 1, all, 0, 0, MPI_COMM_SELF, &status);
    for (int i = 0; i < 128; i++)
        right += to[i] == from[i];
    MPI_Get_count(&status, all, &count);
    MPI_Get_elements(&status, all, &elements);
    MPI_Type_get_true_extent(all, &bound, &extent);
    printf("%s: %d integers are right, count %d, elements %d, true extent %d to %d\n", what, right, count, elements,
           (int)bound, (int)(bound + extent));
    MPI_Type_free(&all);
}

int main(int argc, char **argv)
{
    MPI_Datatype none;

    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    try("second empty", (int[]){4, 1, 2}, (MPI_Aint[]){64, 400, 128}, (MPI_Datatype[]){MPI_INT, none, MPI_INT});
    try("first empty", (int[]){1, 4, 2}, (MPI_Aint[]){400, 64, 128}, (MPI_Datatype[]){none, MPI_INT, MPI_INT});
    try("no integers", (int[]){4, 0, 2}, (MPI_Aint[]){64, 400, 128}, (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_INT});
    MPI_Finalize();
    return 0;
}
C
right='6 integers are right, count 1, elements 6, true extent 64 to 136$'
saw_mpi openmpi "$folder/try.c"
expect "^second empty: $right"
expect "^first empty: $right"
expect "^no integers: $right"
saw_mpi mpich "$folder/try.c"
expect '^second empty: 6 integers are right, count 1, elements 4, true extent 64 to 400$'
expect '^first empty: 6 integers are right, count 1, elements 0, true extent '
expect "^no integers: $right"
exit "$changed"
