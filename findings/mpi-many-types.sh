#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MPICH 4.0.2 and Open MPI 4.1.4, Debian 12, one process. A program makes 1,300 contiguous datatypes of 25 integers,
# keeps them, as a library of grids or of particles would, and packs 100 bytes by MPI_Pack() with each of them.
# Guess: equal datatypes do the same, however many there are. When there are too many, a call says so.
# Seen: in Open MPI they do. In MPICH the first 771 pack 100 bytes, the next 256 only 99, then 96, then 85. Every
# call returns success, and the position says that fewer bytes were packed. Bits 8 to 15 of the datatype's handle
# are taken for the size of its elements, as they are in handles of predefined ones, so MPI_Pack() packs a multiple
# of 3, of 16, of 17 bytes. A datatype with gaps is packed as a whole, whatever its handle.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

enum { NUMBERS = 25, TYPES = 1300 };

static int packed(MPI_Datatype type)
{
    int numbers[2 * NUMBERS] = {0}, position = 0;
    char buffer[sizeof(numbers)];

    if (MPI_Pack(numbers, 1, type, buffer, sizeof(buffer), &position, MPI_COMM_WORLD))
        return -1;
    return position;
}

int main(int argc, char **argv)
{
    int last = 0, gaps = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < TYPES; i++) {
        MPI_Datatype type;
        int bytes;

        MPI_Type_contiguous(NUMBERS, MPI_INT, &type);
        MPI_Type_commit(&type);
        bytes = packed(type);
        if (bytes != last)
            printf("from datatype %d on: %d bytes\n", i, bytes);
        last = bytes;
    }
    for (int i = 0; i < TYPES; i++) {
        MPI_Datatype type;

        MPI_Type_vector(NUMBERS, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        gaps += packed(type) == 100;
    }
    printf("with gaps: 100 bytes with %d of %d\n", gaps, TYPES);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi "$folder/try.c"
expect '^from datatype 0 on: 100 bytes$'
[ "$(grep -c '^from' <<<"$output")" = 1 ] || { echo 'changed: there is more than one size' && changed=1; }
expect '^with gaps: 100 bytes with 1300 of 1300$'
saw_mpi mpich "$folder/try.c"
expect '^from datatype 0 on: 100 bytes$'
expect '^from datatype 771 on: 99 bytes$'
expect '^from datatype 1027 on: 96 bytes$'
expect '^from datatype 1283 on: 85 bytes$'
expect '^with gaps: 100 bytes with 1300 of 1300$'
exit "$changed"
