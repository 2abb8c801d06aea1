/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fixed-cost.c: what an access to a dynamic window costs beside one to an ordinary window.
 *
 * What goes wrong: each access to a dynamic window pays for a round trip of 33 KB before it begins,
 * so accesses that should overlap wait for each other.
 * Where: Open MPI 4.1.4 with osc/ucx: a factor of 5 to 10 in shared memory, 40 over TCP. osc/rdma
 * pays next to nothing.
 * Cause: osc/ucx reads the target's whole table of attached regions (32 entries of 1040 bytes),
 * flushes the endpoint, and unpacks a key from the table, again for every access.
 *
 *   mpicc fixed-cost.c -o fixed-cost
 *   mpirun -n 2 --mca osc rdma ./fixed-cost
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./fixed-cost
 *
 * Times 8 bytes put and flushed, and 32 puts of 4 KiB with one flush, on both kinds of window.
 * Prints "fixed-cost: seen: ..." if the many puts take at least three times as long on the dynamic
 * one, else "fixed-cost: not seen: ...".
 */
#include "reproducer.h"

enum { REGION = 1 << 20, ROUNDS = 300, PUTS = 32 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median time in microseconds of `puts` puts of `bytes` and a flush, over half a second at most. */
static double put_time(MPI_Win window, const char *from, MPI_Aint to, int bytes, int puts)
{
    double us[ROUNDS], end = MPI_Wtime() + 0.5;
    int rounds = 0;

    while (rounds < ROUNDS && (rounds == 0 || MPI_Wtime() < end)) {
        double start = MPI_Wtime();

        for (int k = 0; k < puts; k++)
            must(MPI_Put(from, bytes, MPI_BYTE, TARGET, to + k * bytes, bytes, MPI_BYTE, window),
                 "MPI_Put");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        us[rounds++] = (MPI_Wtime() - start) * 1e6;
    }
    qsort(us, (size_t)rounds, sizeof(us[0]), by_value);
    return us[rounds / 2];
}

int main(void)
{
    char *ordinary, *attached;
    double small[2] = {0}, many[2] = {0};
    MPI_Win windows[2]; /* ordinary, dynamic */
    MPI_Aint theirs;

    begin("fixed-cost", MPI_THREAD_SERIALIZED);
    ordinary = map_memory(REGION);
    attached = map_memory(REGION);
    must(MPI_Win_create(ordinary, REGION, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[0]),
         "MPI_Win_create");
    windows[1] = dynamic_window();
    if (job.rank == TARGET)
        must(MPI_Win_attach(windows[1], attached, REGION), "MPI_Win_attach");
    theirs = share_address(attached);
    for (int i = 0; i < 2; i++) {
        must(MPI_Win_lock_all(MPI_MODE_NOCHECK, windows[i]), "MPI_Win_lock_all");
        if (job.rank == ORIGIN) {
            small[i] = put_time(windows[i], attached, i ? theirs : 0, 8, 1);
            many[i] = put_time(windows[i], attached, i ? theirs : 0, PAGE, PUTS);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    finish(many[1] >= 3 * many[0],
           "8 B take %.2f us, %.2f us on an ordinary window; %d puts of 4 KiB %.1f and %.1f us",
           small[1], small[0], PUTS, many[1], many[0]);
    return 0;
}
