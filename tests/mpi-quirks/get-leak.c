/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * get-leak.c: many MPI_Get from a dynamic window, each completed by a flush.
 *
 * What goes wrong: the origin keeps 80 bytes of each 32 KiB for ever.
 * Where: Open MPI 5.0.7 and 6.0.0rc2, osc/rdma in shared memory. Not MPI_Put, and not 4.1.4.
 * Cause: a get goes as active messages of 32 KiB (btl_sm_max_send_size). What notes that the next
 * one is to be sent is not given back.
 *
 *   mpicc get-leak.c -o get-leak
 *   mpirun -n 2 --mca pml ob1 --mca osc rdma ./get-leak [put|avoid]
 *
 * Prints "get-leak: seen: ..." if the heap grows by more than 16 bytes for each get of 384 KiB,
 * else "get-leak: not seen: ...". With `put` it puts; with `avoid` no get is larger than 31 KiB,
 * and it must not be seen.
 */
#include "reproducer.h"

#include <malloc.h>

enum { BYTES = 384 << 10, SMALL = 31 << 10, ROUNDS = 200, FIRST = 50 };

static void put(MPI_Win window, char *local, MPI_Aint remote)
{
    must(MPI_Put(local, BYTES, MPI_BYTE, TARGET, remote, BYTES, MPI_BYTE, window), "MPI_Put");
}

static void get(MPI_Win window, char *local, MPI_Aint remote, int most)
{
    for (int at = 0; at < BYTES; at += most) {
        int bytes = BYTES - at < most ? BYTES - at : most;

        must(MPI_Get(local + at, bytes, MPI_BYTE, TARGET, remote + at, bytes, MPI_BYTE, window),
             "MPI_Get");
    }
}

static void serve(void)
{
    int arrived = 0;

    while (!arrived)
        MPI_Iprobe(ORIGIN, 1, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, ORIGIN, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int count, char **words)
{
    bool puts = count > 1 && strcmp(words[1], "put") == 0;
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0;
    size_t before = 0, kept = 0;
    char *memory;
    MPI_Aint theirs;
    MPI_Win window;

    begin("get-leak", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory(BYTES);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory, BYTES), "MPI_Win_attach");
    theirs = share_address(memory);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    for (int i = 0; job.rank == ORIGIN && i < FIRST + ROUNDS; i++) {
        if (i == FIRST)
            before = mallinfo2().uordblks;
        if (puts)
            put(window, memory, theirs);
        else
            get(window, memory, theirs, avoid ? SMALL : BYTES);
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
    }
    if (job.rank == ORIGIN) {
        size_t after = mallinfo2().uordblks;

        kept = after > before ? (after - before) / ROUNDS : 0;
        MPI_Send(NULL, 0, MPI_BYTE, TARGET, 1, MPI_COMM_WORLD);
    } else {
        serve();
    }
    finish(kept > 16, "%zu bytes are kept of each %s of %d KiB", kept, puts ? "put" : "get",
           BYTES >> 10);
    return 0;
}
