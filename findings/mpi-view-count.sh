#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MPICH 4.0.2 and Open MPI 4.1.4, Debian 12. A file's view shows every second integer, and the file has seven of them.
# They are read by MPI_File_read_at(), at the end, behind it, and by MPI_File_read() four at a time.
# Guess: MPI_Get_count() says how many were there, as for a file without holes, and 0 behind the end, so a loop may read
# until nothing comes.
# Seen: that holds for Open MPI's own component for files. In MPICH, and with Open MPI's romio321, each status says that
# all came that was asked for, at the end, behind it and far behind, so that loop never ends. Zeros come for what is not
# there, or what an earlier read has left in a buffer; with the hint romio_ds_read=disable nothing comes, and the count
# is the same. Without holes in the view the counts are right.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cd "$folder" || exit 77
cat >try.c <<'C'
#include <mpi.h>
#include <stdio.h>

static int read_at(MPI_File file, MPI_Offset at, int number)
{
    int got[8], count = -1;
    MPI_Status status;

    if (MPI_File_read_at(file, at, got, number, MPI_INT, &status) == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_INT, &count);
    return count;
}

static void try(const char *what, MPI_Datatype shown, MPI_Info hints)
{
    int numbers[7] = {1, 2, 3, 4, 5, 6, 7}, got[4], reads = 0, count = -1;
    MPI_File file;
    MPI_Status status;

    if (MPI_File_open(MPI_COMM_SELF, "numbers", MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file))
        return;
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, 0, MPI_INT, shown, "native", hints);
    MPI_File_write_at(file, 0, numbers, 7, MPI_INT, MPI_STATUS_IGNORE);
    printf("%s: 5 at 5: %d, 3 at 7: %d, 3 at 1000: %d; ", what, read_at(file, 5, 5), read_at(file, 7, 3),
           read_at(file, 1000, 3));
    while (count && reads < 100) {
        MPI_File_read(file, got, 4, MPI_INT, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        reads++;
    }
    if (count)
        printf("no end after %d reads\n", reads);
    else
        printf("nothing at read %d\n", reads);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Datatype second;
    MPI_Info hints;

    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second);
    MPI_Type_commit(&second);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_ds_read", "disable");
    try("every integer", MPI_INT, MPI_INFO_NULL);
    try("every second", second, MPI_INFO_NULL);
    try("with the hint", second, hints);
    MPI_Info_free(&hints);
    MPI_Type_free(&second);
    MPI_Finalize();
    return 0;
}
C
right='5 at 5: 2, 3 at 7: 0, 3 at 1000: 0; nothing at read 3$'
wrong='5 at 5: 5, 3 at 7: 3, 3 at 1000: 3; no end after 100 reads$'
saw_mpi mpich try.c
expect "^every integer: $right"
expect "^every second: $wrong"
expect "^with the hint: $wrong"
OMPI_MCA_io=romio321 saw_mpi openmpi try.c
expect "^every integer: $right"
expect "^every second: $wrong"
expect "^with the hint: $wrong"
saw_mpi openmpi try.c
expect "^every integer: $right"
expect "^every second: $right"
exit "$changed"
