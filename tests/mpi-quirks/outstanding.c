/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * outstanding.c: many MPI_Rput to one peer before any is waited for.
 *
 * What goes wrong: the 255th aborts the process.
 * Where: reported for Open MPI 5.0.x with osc/ucx, over shared memory, TCP and InfiniBand alike.
 * Cause as reported (open-mpi/ompi issue 14192): each request is an unfinished flush of the whole
 * UCX worker, each of these holds a reference to the endpoint, and UCX counts them in eight bits.
 *
 *   mpicc outstanding.c -o outstanding
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./outstanding [COUNT]
 *
 * Starts COUNT (default 300) MPI_Rput of 8 bytes on a window from MPI_Win_allocate, then waits.
 * Prints "outstanding: seen: ..." or "outstanding: not seen: ...". With COUNT 64 it must not be
 * seen. The window is not a dynamic one, so that no-rput does not come first.
 */
#include "reproducer.h"

enum { MOST = 100000 };

int main(int count, char **words)
{
    int requests = count > 1 ? atoi(words[1]) : 300, wrong = 0;
    static MPI_Request request[MOST];
    static uint64_t value[MOST];
    uint64_t *memory = NULL;
    MPI_Win window;

    begin("outstanding", MPI_THREAD_SERIALIZED);
    if (requests < 1 || requests > MOST)
        broken("COUNT is 1 to %d", MOST);
    must(MPI_Win_allocate(requests * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window),
         "MPI_Win_allocate");
    memset(memory, 0, (size_t)requests * 8);
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    for (int i = 0; job.rank == ORIGIN && i < requests; i++) {
        value[i] = (uint64_t)i + 1;
        watch(10, "MPI_Rput number %d", i + 1);
        must(MPI_Rput(&value[i], 8, MPI_BYTE, TARGET, i, 8, MPI_BYTE, window, &request[i]),
             "MPI_Rput");
    }
    if (job.rank == ORIGIN) {
        watch(10, "waiting for %d MPI_Rput", requests);
        for (int i = 0; i < requests; i++)
            must(MPI_Wait(&request[i], MPI_STATUS_IGNORE), "MPI_Wait");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        calm();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_Win_sync(window), "MPI_Win_sync");
    for (int i = 0; job.rank == TARGET && i < requests; i++)
        wrong += memory[i] != (uint64_t)i + 1;
    must(MPI_Bcast(&wrong, 1, MPI_INT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
    finish(wrong > 0, "%d MPI_Rput outstanding, %d values wrong", requests, wrong);
    return 0;
}
