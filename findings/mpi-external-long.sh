#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12, x86-64. 1.5 as MPI_LONG_DOUBLE, and a number as MPI_LONG, go through
# MPI_Pack_external() and MPI_Unpack_external() with "external32", MPI's format for exchange between machines.
# Guess: each library reads back what it has written, and what MPI_Pack_external_size() says is what is written.
# External32 has 16 bytes, IEEE's, for a long double, and 4 for a long, so a small number comes back whole.
# Seen: MPICH does all of that. Open MPI writes 16 bytes that are not IEEE's, reads back 1.26079e-4932 from its own,
# and returns success. To its MPI_Pack_external_size() a long takes 8 bytes, and MPI_Pack_external() writes 4.
# Doubles are right in both.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

static unsigned char buffer[64];

/* There and back, and what was asked and returned on the way. */
static void pass(const char *name, void *from, void *to, MPI_Datatype type)
{
    MPI_Aint size = -1, packed = 0, unpacked = 0;
    int codes = 0;

    codes += MPI_Pack_external_size("external32", 1, type, &size);
    codes += MPI_Pack_external("external32", from, 1, type, buffer, sizeof(buffer), &packed);
    codes += MPI_Unpack_external("external32", buffer, packed, &unpacked, to, 1, type);
    printf("%s: codes %d, size %ld, packed %ld, begins with %02x %02x %02x %02x, back ", name, codes, (long)size,
           (long)packed, buffer[0], buffer[1], buffer[2], buffer[3]);
}

int main(int argc, char **argv)
{
    static long double wide = 1.5L, wide_back; /* with zeros for padding */
    double plain = 1.5, plain_back = 0;
    long number = 7, number_back = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    pass("double", &plain, &plain_back, MPI_DOUBLE);
    printf("%g\n", plain_back);
    pass("long double", &wide, &wide_back, MPI_LONG_DOUBLE);
    printf("%Lg\n", wide_back);
    pass("long", &number, &number_back, MPI_LONG);
    printf("%ld\n", number_back);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi "$folder/try.c"
expect '^double: codes 0, size 8, packed 8, begins with 3f f8 00 00, back 1\.5$'
expect '^long double: codes 0, size 16, packed 16, begins with 00 00 60 00, back 1\.26079e-4932$'
expect '^long: codes 0, size 8, packed 4, begins with 00 00 00 07, back 7$'
saw_mpi mpich "$folder/try.c"
expect '^double: codes 0, size 8, packed 8, begins with 3f f8 00 00, back 1\.5$'
expect '^long double: codes 0, size 16, packed 16, begins with 3f ff 80 00, back 1\.5$'
expect '^long: codes 0, size 4, packed 4, begins with 00 00 00 07, back 7$'
exit "$changed"
