/*
 * passive-progress.c: a put to a process that computes and does not enter MPI.
 *
 * What goes wrong: the put completes only when the target enters MPI again.
 * Where: WHERE
 * Cause: the transport needs the target's help, and no thread of the MPI library runs there. The
 * standard allows it.
 *
 *   mpicc passive-progress.c -o passive-progress
 *   mpirun -n 2 --mca osc rdma ./passive-progress [avoid]
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any [-x UCX_TLS=tcp,self] ./passive-progress [avoid]
 *
 * Three times the target computes for 0.8 s, while 8 bytes, 8 bytes and 1 MiB are put and flushed.
 * Prints "passive-progress: seen: ..." if one of them takes more than 0.6 s, else
 * "passive-progress: not seen: ...". With `avoid` the target calls MPI_Iprobe all the while, and it
 * must not be seen.
 */
#include "reproducer.h"

enum { REGION = 1 << 20, PUTS = 3 };

static void compute(double seconds, bool avoid)
{
    double end = MPI_Wtime() + seconds;
    int arrived;

    while (MPI_Wtime() < end)
        if (avoid)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
}

/* Milliseconds of a put and flush. */
static double put_time(MPI_Win window, const char *from, int bytes, MPI_Aint to)
{
    double start = MPI_Wtime();

    must(MPI_Put(from, bytes, MPI_BYTE, TARGET, to, bytes, MPI_BYTE, window), "MPI_Put");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
    return (MPI_Wtime() - start) * 1e3;
}

int main(int count, char **words)
{
    static const int bytes[PUTS] = {8, 8, REGION};
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0, seen = false;
    double ms[PUTS] = {0};
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
        if (job.rank == TARGET) {
            compute(0.8, avoid);
        } else {
            usleep(50000); /* the target has left the barrier */
            ms[i] = put_time(window, memory, bytes[i], theirs);
            seen = seen || ms[i] > 600;
        }
    }
    finish(seen, "8 B, 8 B and 1 MiB put in %.3f, %.3f and %.3f ms to a target that computes%s",
           ms[0], ms[1], ms[2], avoid ? " and polls" : "");
    return 0;
}
