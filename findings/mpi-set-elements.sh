#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. A status is filled by MPI_Status_set_elements(), as for a generalized
# request, with a datatype of four integers and a count of 2 and 8.
# Guess: both set basic elements, which MPI_Get_elements() gives back, as the standard says; 8 is a count of 2.
# Seen: Open MPI does so. MPICH takes the number as copies of the datatype: 2 and 8 come back as 8 and 32
# elements, and as a count of 2 and 8. A library that fills statuses is right in one of them only, unless it
# gives basic datatypes.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

static void try(MPI_Datatype four, int number)
{
    int elements = -1, count = -1;
    MPI_Status status;

    MPI_Status_set_elements(&status, four, number);
    MPI_Get_elements(&status, four, &elements);
    MPI_Get_count(&status, four, &count);
    printf("set %d: elements %d, count ", number, elements);
    if (count == MPI_UNDEFINED)
        printf("undefined\n");
    else
        printf("%d\n", count);
}

int main(int argc, char **argv)
{
    MPI_Datatype four;

    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    try(four, 2);
    try(four, 8);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi "$folder/try.c"
expect '^set 2: elements 2, count undefined$'
expect '^set 8: elements 8, count 2$'
saw_mpi mpich "$folder/try.c"
expect '^set 2: elements 8, count 2$'
expect '^set 8: elements 32, count 8$'
exit "$changed"
