#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12, x86-64. MPI_SUM of 65 bytes of 250 and 65 of 10, by MPI_Reduce_local() with
# MPI_UINT8_T.
# Guess: 4 in each place, 260 modulo 256, as unsigned numbers are added in C. At least the same in each place.
# Seen: MPICH does so. In Open MPI the first 64 are 255, and the last one is 4: what its component for vector
# instructions adds is saturated, and the rest of the count, which fills no vector, is not. So it is with MPI_UINT16_T
# (65535 and 4), not with longer ones. With that component left out (--mca op ^avx) all are 4. So a sum modulo 256, as
# for checksums, depends on where it stands.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
grep -qw avx2 /proc/cpuinfo || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define TRY(TYPE, DATATYPE) \
    do { \
        TYPE a[65], b[65]; \
        for (int i = 0; i < 65; i++) { \
            a[i] = (TYPE)-6; \
            b[i] = 10; \
        } \
        if (MPI_Reduce_local(a, b, 65, DATATYPE, MPI_SUM) == MPI_SUCCESS) \
            printf("%s: first %u, 64th %u, last %u\n", #DATATYPE, (unsigned)b[0], (unsigned)b[63], (unsigned)b[64]); \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    TRY(uint8_t, MPI_UINT8_T);
    TRY(uint16_t, MPI_UINT16_T);
    TRY(uint32_t, MPI_UINT32_T);
    MPI_Finalize();
    return 0;
}
C
right() {
    for bits in 8 16 32; do
        expect "^MPI_UINT${bits}_T: first 4, 64th 4, last 4\$"
    done
}
saw_mpi openmpi "$folder/try.c"
expect '^MPI_UINT8_T: first 255, 64th 255, last 4$'
expect '^MPI_UINT16_T: first 65535, 64th 65535, last 4$'
expect '^MPI_UINT32_T: first 4, 64th 4, last 4$'
OMPI_MCA_op=^avx saw_mpi openmpi "$folder/try.c"
right
saw_mpi mpich "$folder/try.c"
right
exit "$changed"
