#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4, Debian 12, two processes of one host, a dynamic window, a passive epoch (MPI_Win_lock_all). The
# target computes for a second and calls nothing of MPI.
# Guess: MPI_Put and MPI_Fetch_and_op return at once, as calls that only begin something. What has to wait for the
# target waits in MPI_Win_flush.
# Seen: where osc/rdma serves the window, as it does unless told otherwise, a put and its flush are over in
# microseconds, and MPI_Fetch_and_op in the same window waits inside the call until the target comes back. Where
# osc/ucx serves it, MPI_Put itself does. So a thread that has several targets is held up by one of them before it
# has asked the next.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static const char *took(double seconds)
{
    return seconds > 0.5 ? "waits" : seconds < 0.1 ? "returns at once" : "neither";
}

static void origin(MPI_Win window, MPI_Aint at)
{
    long one = 1, old = -1;
    double begin, put, flushed, fetched;

    usleep(200000);
    begin = MPI_Wtime();
    MPI_Put(&one, 1, MPI_LONG, 0, at, 1, MPI_LONG, window);
    put = MPI_Wtime();
    MPI_Win_flush(0, window);
    flushed = MPI_Wtime();
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, at, MPI_SUM, window);
    fetched = MPI_Wtime();
    MPI_Win_flush(0, window);
    printf("MPI_Put %s\n", took(put - begin));
    printf("its flush %s\n", took(flushed - put));
    printf("MPI_Fetch_and_op %s and brings %ld\n", took(fetched - flushed), old);
}

int main(int argc, char **argv)
{
    static long word;
    MPI_Win window;
    MPI_Aint at;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, &word, sizeof(word));
    MPI_Get_address(&word, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        sleep(1);
    else
        origin(window, at);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_detach(window, &word);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
saw_mpi_two rdma "$folder/try.c"
expect '^MPI_Put returns at once$'
expect '^its flush returns at once$'
expect '^MPI_Fetch_and_op waits and brings 1$'
saw_mpi_two ucx "$folder/try.c"
expect '^MPI_Put waits$'
exit "$changed"
