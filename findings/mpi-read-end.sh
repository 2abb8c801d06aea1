#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4 and MPICH 4.0.2, Debian 12. A file of ten integers is read by MPI_File_read(), eight at a time, until
# nothing comes. Then a number is written behind them.
# Guess: the file pointer goes on by what was read, so it stands at the end then, at 10, and the number is the eleventh.
# Seen: in MPICH it is, and with Open MPI's other component for files, romio321. With Open MPI's own, ompio, the
# statuses are right, 8, 2 and 0 integers, but the pointer goes on by what was asked for, also at the end. So it stands
# at 24, and the file has 25 integers now, fourteen zeros among them. Each call returns success.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1

cd "$folder" || exit 77
cat >try.c <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, got[8], count = -1;
    MPI_Offset at = -1, size = -1;
    MPI_File file;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    if (MPI_File_open(MPI_COMM_SELF, "numbers", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        return 1;
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, numbers, 10, MPI_INT, MPI_STATUS_IGNORE);
    while (count) {
        if (MPI_File_read(file, got, 8, MPI_INT, &status))
            return 1;
        MPI_Get_count(&status, MPI_INT, &count);
        MPI_File_get_position(file, &at);
        printf("read %d, pointer at %d\n", count, (int)at);
    }
    if (MPI_File_write(file, numbers, 1, MPI_INT, MPI_STATUS_IGNORE))
        return 1;
    MPI_File_get_size(file, &size);
    printf("the file has %d integers\n", (int)size / 4);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
C
saw_mpi openmpi try.c
expect '^read 8, pointer at 8$'
expect '^read 2, pointer at 16$'
expect '^read 0, pointer at 24$'
expect '^the file has 25 integers$'
right() {
    expect '^read 8, pointer at 8$'
    expect '^read 2, pointer at 10$'
    expect '^read 0, pointer at 10$'
    expect '^the file has 11 integers$'
}
OMPI_MCA_io=romio321 saw_mpi openmpi try.c
right
saw_mpi mpich try.c
right
exit "$changed"
