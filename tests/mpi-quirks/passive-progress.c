/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * passive-progress.c: a put to a process that computes and does not enter MPI.
 *
 * What goes wrong: the put completes only when the target enters MPI again.
 * Where: Open MPI 4.1.4: every put over TCP (osc/pt2pt, osc/ucx), and every put to a dynamic window
 * with osc/ucx in shared memory. Not osc/rdma in shared memory, which copies by process_vm_writev.
 * Cause: the transport needs the target's help, and no thread of the MPI library runs there. The
 * standard allows it.
 *
 *   mpicc passive-progress.c -o passive-progress
 *   mpirun -n 2 --mca osc rdma ./passive-progress [avoid]
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any [-x UCX_TLS=tcp,self] ./passive-progress [avoid]
 *
 * Three times the target computes for a second, while 8 bytes, 8 bytes and 1 MiB are put and
 * flushed. Prints "passive-progress: seen: ..." if one of them ended only after the target had
 * stopped computing, else "passive-progress: not seen: ...". With `avoid` the target calls
 * MPI_Iprobe all the while, and it must not be seen. Both processes must be on one host.
 */
#include "reproducer.h"

#include <time.h>

enum { REGION = 1 << 20, PUTS = 3 };

/* Seconds on a clock that all processes of a host share. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* When it stopped. */
static double compute(double seconds, bool avoid)
{
    double end = now() + seconds, at;
    int arrived;

    while ((at = now()) < end)
        if (avoid)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    return at;
}

static void put(MPI_Win window, const char *from, int bytes, MPI_Aint to)
{
    must(MPI_Put(from, bytes, MPI_BYTE, TARGET, to, bytes, MPI_BYTE, window), "MPI_Put");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
}

int main(int count, char **words)
{
    static const int bytes[PUTS] = {8, 8, REGION};
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0, seen = false;
    double ms[PUTS] = {0}, start, end, stop = 0;
    char *memory;
    MPI_Aint theirs;
    MPI_Win window;

    begin("passive-progress", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory(REGION + PAGE);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory, REGION + PAGE), "MPI_Win_attach");
    theirs = share_address(memory);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    for (int i = 0; i < PUTS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (job.rank == TARGET)
            stop = compute(1, avoid);
        else
            usleep(50000); /* the target has left the barrier */
        start = now();
        if (job.rank == ORIGIN)
            put(window, memory, bytes[i], theirs);
        end = now();
        ms[i] = (end - start) * 1e3;
        must(MPI_Bcast(&stop, 1, MPI_DOUBLE, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
        seen = seen || end > stop;
    }
    finish(seen, "8 B, 8 B and 1 MiB put in %.3f, %.3f and %.3f ms to a target that computes%s",
           ms[0], ms[1], ms[2], avoid ? " and polls" : "");
    return 0;
}
