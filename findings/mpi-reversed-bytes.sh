#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. MPI_Type_vector() with a stride of -1 names five elements from the last one
# to the first. They are packed, and sent by MPI_Sendrecv() from one process to itself.
# Guess: the elements come in reverse, whatever they are. The standard lets strides be negative.
# Seen: so it is for short and int, and in MPICH for char, too. In Open MPI chars come forward, beginning with the last
# one: what is sent is what lies behind the array. Its true lower bound is 0 then, instead of -4, and each call returns
# success. Inside, -1 as the distance of two elements stands for "none given". MPI_Type_create_hvector() with -1 is the
# same; with a stride of -2, chars are right.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

/* Five elements, and what stands behind them. */
static char chars[] = "abcdefghijk";
static short shorts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void try(const char *what, MPI_Datatype element, int stride, void *last)
{
    MPI_Datatype back;
    MPI_Aint bound, extent;
    short packed[8] = {0}, sent[8] = {0};
    int position = 0;

    MPI_Type_vector(5, 1, stride, element, &back);
    MPI_Type_commit(&back);
    MPI_Type_get_true_extent(back, &bound, &extent);
    MPI_Pack(last, 1, back, packed, sizeof(packed), &position, MPI_COMM_SELF);
    MPI_Sendrecv(last, 1, back, 0, 0, sent, 5, element, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    printf("%s: true lower bound %d, ", what, (int)bound);
    if (element == MPI_CHAR)
        printf("packs %s, sends %s\n", (char *)packed, (char *)sent);
    else
        printf("packs %d to %d, sends %d to %d\n", packed[0], packed[4], sent[0], sent[4]);
    MPI_Type_free(&back);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try("shorts by -1", MPI_SHORT, -1, shorts + 4);
    try("chars by -1", MPI_CHAR, -1, chars + 4);
    try("chars by -2", MPI_CHAR, -2, chars + 8);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi "$folder/try.c"
expect '^shorts by -1: true lower bound -8, packs 5 to 1, sends 5 to 1$'
expect '^chars by -1: true lower bound 0, packs efghi, sends efghi$'
expect '^chars by -2: true lower bound -8, packs igeca, sends igeca$'
saw_mpi mpich "$folder/try.c"
expect '^shorts by -1: true lower bound -8, packs 5 to 1, sends 5 to 1$'
expect '^chars by -1: true lower bound -4, packs edcba, sends edcba$'
expect '^chars by -2: true lower bound -8, packs igeca, sends igeca$'
exit "$changed"
