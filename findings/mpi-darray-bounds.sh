#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12, x86-64. MPI_Type_create_darray() makes a process's share of an array of
# integers that is dealt out to several processes; MPI_Type_get_true_extent() says where the share's data begins and
# ends.
# Guess: the first of its integers to the last, and 0 and 0 for a process that has none, as for any empty datatype. So
# buffer - true_lb is where a buffer for just that data begins.
# Seen: in Open MPI a process that has none, the third one of an array of two, has the true lower bound
# 9223372036854775807 and the true extent 1; other empty datatypes have 0 and 0. In MPICH it has 0 and 0. There, where
# rows are dealt out in blocks of more rows than there are, the true lower bound is 0, also for a process whose share
# begins at the third column, so a buffer for it is larger than need be, and not what Open MPI says. The data that is
# packed is the same in both, and each call returns success.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

static void show(const char *what, MPI_Datatype share)
{
    int array[16], packed[16], position = 0;
    MPI_Aint begin, extent;

    for (int i = 0; i < 16; i++)
        array[i] = i;
    MPI_Type_commit(&share);
    MPI_Type_get_true_extent(share, &begin, &extent);
    MPI_Pack(array, 1, share, packed, sizeof(packed), &position, MPI_COMM_WORLD);
    printf("%s: true bounds %ld, extent %ld, data", what, (long)begin, (long)extent);
    for (int i = 0; i < position / (int)sizeof(int); i++)
        printf(" %d", packed[i]);
    printf("\n");
    MPI_Type_free(&share);
}

int main(int argc, char **argv)
{
    int two = 2, three = 3, block = MPI_DISTRIBUTE_BLOCK, unset = MPI_DISTRIBUTE_DFLT_DARG;
    int sizes[] = {1, 3}, cyclic[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, processes[] = {1, 2};
    int blocks[] = {1, 2}, large_blocks[] = {2, 2};
    MPI_Datatype share;

    MPI_Init(&argc, &argv);
    for (int rank = 1; rank < 3; rank++) {
        MPI_Type_create_darray(3, rank, 1, &two, &block, &unset, &three, MPI_ORDER_C, MPI_INT, &share);
        show(rank == 1 ? "the second" : "the third", share);
    }
    MPI_Type_contiguous(0, MPI_INT, &share);
    show("another empty one", share);
    MPI_Type_create_darray(2, 1, 2, sizes, cyclic, blocks, processes, MPI_ORDER_C, MPI_INT, &share);
    show("blocks of one row", share);
    MPI_Type_create_darray(2, 1, 2, sizes, cyclic, large_blocks, processes, MPI_ORDER_C, MPI_INT, &share);
    show("blocks of two rows", share);
    MPI_Finalize();
    return 0;
}
C
for kind in openmpi mpich; do
    saw_mpi $kind "$folder/try.c"
    expect '^the second: true bounds 4, extent 4, data 1$'
    expect '^another empty one: true bounds 0, extent 0, data$'
    expect '^blocks of one row: true bounds 8, extent 4, data 2$'
    if [ $kind = openmpi ]; then
        expect '^the third: true bounds 9223372036854775807, extent 1, data$'
        expect '^blocks of two rows: true bounds 8, extent 4, data 2$'
    else
        expect '^the third: true bounds 0, extent 0, data$'
        expect '^blocks of two rows: true bounds 0, extent 12, data 2$'
    fi
done
exit "$changed"
