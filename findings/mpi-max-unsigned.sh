#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12, x86-64. MPI_MAX by MPI_Reduce_local() of 3 and of -4, which unsigned
# datatypes see as a large number.
# Guess: the larger number, which the datatype tells; signed and unsigned ones are different datatypes.
# Seen: MPICH compares the unsigned ones as signed, and says that 3 is larger than 2^32 - 4 or 2^64 - 4. Open MPI does
# so for MPI_UNSIGNED_LONG only, not for MPI_UINT64_T and MPI_UNSIGNED_LONG_LONG, which are as long; and it compares
# MPI_OFFSET, which is signed, as unsigned: -4 is larger than 3. MPI_MIN is wrong in the same way. All calls return
# success.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* Whether MPI_MAX and MPI_MIN of -4, as the type sees it, and 3 are those of C. */
#define TRY(TYPE, DATATYPE) \
    do { \
        TYPE a = (TYPE)-4, b = 3, most = b, least = b; \
        int failed = MPI_Reduce_local(&a, &most, 1, DATATYPE, MPI_MAX); \
        failed |= MPI_Reduce_local(&a, &least, 1, DATATYPE, MPI_MIN); \
        printf("%s: the larger is %s, the smaller %s%s\n", #DATATYPE, most == (a > b ? a : b) ? "right" : "wrong", \
               least == (a > b ? b : a) ? "right" : "wrong", failed ? ", failed" : ""); \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    TRY(unsigned char, MPI_UNSIGNED_CHAR);
    TRY(unsigned short, MPI_UNSIGNED_SHORT);
    TRY(unsigned, MPI_UNSIGNED);
    TRY(unsigned long, MPI_UNSIGNED_LONG);
    TRY(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    TRY(uint64_t, MPI_UINT64_T);
    TRY(int, MPI_INT);
    TRY(long, MPI_LONG);
    TRY(MPI_Offset, MPI_OFFSET);
    MPI_Finalize();
    return 0;
}
C
right='the larger is right, the smaller right$'
wrong='the larger is wrong, the smaller wrong$'
saw_mpi openmpi "$folder/try.c"
for datatype in UNSIGNED_CHAR UNSIGNED_SHORT UNSIGNED UNSIGNED_LONG_LONG UINT64_T INT LONG; do
    expect "^MPI_$datatype: $right"
done
expect "^MPI_UNSIGNED_LONG: $wrong"
expect "^MPI_OFFSET: $wrong"
saw_mpi mpich "$folder/try.c"
for datatype in UNSIGNED_CHAR UNSIGNED_SHORT UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG UINT64_T; do
    expect "^MPI_$datatype: $wrong"
done
for datatype in INT LONG OFFSET; do
    expect "^MPI_$datatype: $right"
done
exit "$changed"
