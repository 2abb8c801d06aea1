#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. MPI_Pack_size() is asked for 2^28 and 2^29 doubles, which take 2 and
# 4 GiB: more than its result, an int, can hold.
# Guess: an error, or MPI_UNDEFINED (-32766), as MPI_Type_size() gives in both.
# Seen: MPICH gives MPI_UNDEFINED. Open MPI gives success and the lower 32 bits: -2147483648 for 2 GiB, and 0 for
# 4 GiB, which a caller takes for "nothing to pack". Its MPI_Pack_external_size() is right.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

static void try(int count)
{
    int bytes = -1, code = MPI_Pack_size(count, MPI_DOUBLE, MPI_COMM_WORLD, &bytes);
    MPI_Aint external = -1;

    MPI_Pack_external_size("external32", count, MPI_DOUBLE, &external);
    printf("%d doubles: code %d, %d bytes, external %ld bytes\n", count, code, bytes, (long)external);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    try(1 << 28);
    try(1 << 29);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi "$folder/try.c"
expect '^268435456 doubles: code 0, -2147483648 bytes, external 2147483648 bytes$'
expect '^536870912 doubles: code 0, 0 bytes, external 4294967296 bytes$'
saw_mpi mpich "$folder/try.c"
expect '^268435456 doubles: code 0, -32766 bytes, external 2147483648 bytes$'
expect '^536870912 doubles: code 0, -32766 bytes, external 4294967296 bytes$'
exit "$changed"
