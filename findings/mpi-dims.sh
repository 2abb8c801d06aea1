#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. MPI_Dims_create() lays 1 to 1,000 processes out in two and in three
# dimensions, and each layout is compared with all others of so many processes.
# Guess: 72 processes become 9 by 8, for the standard wants the dimensions as near to each other as can be.
# Seen: MPICH does so for every number. Open MPI makes 12 by 6 of 72, 18 by 10 of 180, which could be 15 by 12, and
# 12 by 6 by 6 of 432, which could be 9 by 8 by 6: each prime factor, the largest first, goes to what is smallest so
# far, and stays there. So the same program has other neighbours, and longer borders, than with the other library.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

enum { MOST = 1000 };

/* The least difference between the largest and the smallest dimension. */
static int least(int count, int dimensions, int largest, int limit)
{
    int best = MOST;

    if (dimensions == 1)
        return count <= limit ? largest - count : MOST;
    for (int size = 1; size <= count && size <= limit; size++) {
        int found = count % size ? MOST : least(count / size, dimensions - 1, largest ? largest : size, size);

        if (found < best)
            best = found;
    }
    return best;
}

static void compare(int dimensions)
{
    int wider = 0;

    for (int count = 1; count <= MOST; count++) {
        int sizes[3] = {0};

        MPI_Dims_create(count, dimensions, sizes);
        if (sizes[0] - sizes[dimensions - 1] == least(count, dimensions, 0, count))
            continue;
        wider++;
        if (count == 72 || count == 180 || count == 432)
            printf("%d in %d dimensions: %d, %d, %d\n", count, dimensions, sizes[0], sizes[1], sizes[2]);
    }
    printf("%d dimensions: %d of %d could be nearer\n", dimensions, wider, MOST);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    compare(2);
    compare(3);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi "$folder/try.c"
expect '^72 in 2 dimensions: 12, 6, 0$'
expect '^180 in 2 dimensions: 18, 10, 0$'
expect '^432 in 3 dimensions: 12, 6, 6$'
saw_mpi mpich "$folder/try.c"
expect '^2 dimensions: 0 of 1000 could be nearer$'
expect '^3 dimensions: 0 of 1000 could be nearer$'
exit "$changed"
