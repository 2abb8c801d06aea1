#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. A file's view shows every second integer, as for one of two processes that
# share the file. Seven integers are written through it, then MPI_File_seek(0, MPI_SEEK_END), then another.
# Guess: the end is the end of the view, so the pointer stands at 7, and the other number comes behind the seven.
# Seen: in MPICH, and with Open MPI's component romio321. With Open MPI's own component for files, ompio, the pointer
# stands at 1, as the end is looked for in one piece of the view only, and the new number replaces the second of the
# seven. Two numbers before the end are refused, with "known error not in list". Without holes in the view it is right.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cd "$folder" || exit 77
cat >try.c <<'C'
#include <mpi.h>
#include <stdio.h>

static void try(const char *what, MPI_Datatype shown)
{
    int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8] = {0}, refused;
    MPI_Offset end = -1;
    MPI_File file;

    if (MPI_File_open(MPI_COMM_SELF, "numbers", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        return;
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, 0, MPI_INT, shown, "native", MPI_INFO_NULL);
    MPI_File_write(file, numbers, 7, MPI_INT, MPI_STATUS_IGNORE);
    refused = MPI_File_seek(file, -2, MPI_SEEK_END) != MPI_SUCCESS;
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &end);
    MPI_File_write(file, numbers + 7, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, got, 8, MPI_INT, MPI_STATUS_IGNORE);
    printf("%s: end at %d, -2 from there %s, numbers", what, (int)end, refused ? "refused" : "taken");
    for (int i = 0; i < 8; i++)
        printf(" %d", got[i]);
    printf("\n");
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Datatype second;

    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second);
    MPI_Type_commit(&second);
    try("every integer", MPI_INT);
    try("every second", second);
    MPI_Type_free(&second);
    MPI_Finalize();
    return 0;
}
C
right='end at 7, -2 from there taken, numbers 1 2 3 4 5 6 7 8$'
saw_mpi openmpi try.c
expect "^every integer: $right"
expect '^every second: end at 1, -2 from there refused, numbers 1 8 3 4 5 6 7 0$'
OMPI_MCA_io=romio321 saw_mpi openmpi try.c
expect "^every integer: $right"
expect "^every second: $right"
saw_mpi mpich try.c
expect "^every integer: $right"
expect "^every second: $right"
exit "$changed"
