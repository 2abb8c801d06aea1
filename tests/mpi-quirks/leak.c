/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * leak.c: many MPI_Get and MPI_Put from and to a dynamic window, each completed by a flush.
 *
 * What goes wrong: of each 32 KiB that are got the origin keeps 80 bytes for ever; of each 128 KiB
 * that are put the target keeps 656. Where: Open MPI 5.0.7 and 6.0.0rc2, osc/rdma; puts in shared
 * memory only. Not 4.1.4. Cause: a get goes as active messages of 32 KiB (btl_sm_max_send_size),
 * and what notes that the next one is to be sent is not given back. A put of more than an eager
 * message has the target get the data, and what that one notes of it is not given back.
 *
 *   mpicc leak.c -o leak
 *   mpirun -n 2 --mca pml ob1 --mca osc rdma ./leak [avoid]
 *
 * Prints "leak: seen: ..." if a heap grows by more than 64 bytes for each transfer of 384 KiB, else
 * "leak: not seen: ...". With `avoid` no get is larger than 31 KiB, no put larger than 3.5 KiB, and
 * it must not be seen.
 */
#include "reproducer.h"

#include <malloc.h>

enum {
    BYTES = 384 << 10,
    SMALL_GET = 31 << 10,
    SMALL_PUT = 7 << 9,
    ROUNDS = 100,
    FIRST = 50,
    MOST = 64
};

typedef int transfer(MPI_Win window, char *local, int bytes, MPI_Aint remote);

static int put(MPI_Win window, char *local, int bytes, MPI_Aint remote)
{
    return MPI_Put(local, bytes, MPI_BYTE, TARGET, remote, bytes, MPI_BYTE, window);
}

static int get(MPI_Win window, char *local, int bytes, MPI_Aint remote)
{
    return MPI_Get(local, bytes, MPI_BYTE, TARGET, remote, bytes, MPI_BYTE, window);
}

static void serve(void)
{
    int arrived = 0;

    while (!arrived)
        MPI_Iprobe(ORIGIN, 1, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, ORIGIN, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The origin's, while the target polls. */
static void repeat(MPI_Win window, transfer *way, char *local, MPI_Aint remote, int most,
                   int rounds)
{
    calm(); /* the time is for each of these */
    for (int i = 0; job.rank == ORIGIN && i < rounds; i++) {
        for (int at = 0; at < BYTES; at += most)
            must(way(window, local + at, BYTES - at < most ? BYTES - at : most, remote + at),
                 "a transfer");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
    }
    if (job.rank == TARGET)
        serve();
    else
        MPI_Send(NULL, 0, MPI_BYTE, TARGET, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Bytes that stay on this side of each transfer. */
static int kept(MPI_Win window, transfer *way, char *local, MPI_Aint remote, int most)
{
    size_t before, after;

    repeat(window, way, local, remote, most, FIRST);
    before = mallinfo2().uordblks;
    repeat(window, way, local, remote, most, ROUNDS);
    after = mallinfo2().uordblks;
    return after > before ? (int)(after - before) / ROUNDS : 0;
}

int main(int count, char **words)
{
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0;
    int of_get, of_put;
    char *memory;
    MPI_Aint theirs;
    MPI_Win window;

    begin("leak", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory(BYTES);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory, BYTES), "MPI_Win_attach");
    theirs = share_address(memory);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    of_get = kept(window, get, memory, theirs, avoid ? SMALL_GET : BYTES);
    of_put = kept(window, put, memory, theirs, avoid ? SMALL_PUT : BYTES);
    must(MPI_Bcast(&of_put, 1, MPI_INT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
    finish(of_get > MOST || of_put > MOST,
           "%d bytes are kept of each get of %d KiB, and %d at the target of each put", of_get,
           BYTES >> 10, of_put);
    return 0;
}
