#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Open MPI 4.1.4, Debian 12, two processes of one host. 16,384 numbers, each second one of an array, go as one vector
# datatype: by MPI_Put and MPI_Win_flush into a dynamic window, and by MPI_Ssend of the same datatype.
# Guess: the put packs them, or the target does, as with messages: it takes about as long.
# Seen: the put takes more than fifty times as long (37 ms and 66 us), by osc/rdma and by osc/ucx, for it is as many
# operations as there are runs. Whoever has strided data packs it before a put.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3

cat >"$folder/try.c" <<'C'
#include <mpi.h>
#include <stdio.h>

enum { RUNS = 16384, ROUNDS = 20 };

static double numbers[2 * RUNS];

static double put(MPI_Win window, MPI_Datatype runs, MPI_Aint at)
{
    double begin = MPI_Wtime();

    MPI_Put(numbers, 1, runs, 0, at, 1, runs, window);
    MPI_Win_flush(0, window);
    return MPI_Wtime() - begin;
}

static double send(MPI_Datatype runs)
{
    double begin = MPI_Wtime();

    MPI_Ssend(numbers, 1, runs, 0, 0, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    double best_put = 1e9, best_send = 1e9, time;
    MPI_Datatype runs;
    MPI_Win window;
    MPI_Aint at;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(RUNS, 1, 2, MPI_DOUBLE, &runs);
    MPI_Type_commit(&runs);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, numbers, sizeof(numbers));
    MPI_Get_address(numbers, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1 && (time = put(window, runs, at)) < best_put)
            best_put = time;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(numbers, 1, runs, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if ((time = send(runs)) < best_send)
            best_send = time;
    }
    if (rank == 1)
        printf("put %.0f us, send %.0f us: %s\n", best_put * 1e6, best_send * 1e6,
               best_put > 50 * best_send ? "more than fifty times as long" : "less");
    MPI_Win_unlock_all(window);
    MPI_Win_detach(window, numbers);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
C
saw_mpi_two rdma "$folder/try.c"
expect ': more than fifty times as long$'
saw_mpi_two ucx "$folder/try.c"
expect ': more than fifty times as long$'
exit "$changed"
