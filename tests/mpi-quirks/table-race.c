/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * table-race.c: a put into a region that stays attached, while others come and go.
 *
 * What goes wrong: MPI_Put says MPI_ERR_RMA_RANGE, as if nothing were attached there.
 * Where: Open MPI 5.0.7 with osc/rdma, within a host.
 * Cause: a process of the same host reads the target's table of regions, which is sorted by
 * address, without the lock under which the target moves its entries. A region that is attached
 * below the others moves all of them up, and is counted later. (osc/ucx before 5.0 reads its table
 * without a lock as well, but only where a network reads it without the target.)
 *
 *   mpicc table-race.c -o table-race
 *   mpirun -n 2 --mca pml ob1 --mca osc rdma ./table-race [avoid]
 *
 * For three seconds the origin puts 8 bytes into one region, and the target attaches and detaches
 * another one below it. Prints "table-race: seen: ..." or "table-race: not seen: ...". With `avoid`
 * the two take turns, and it must not be seen.
 */
#include "reproducer.h"

enum { REGION = 64 << 10, TAG = 1, SECONDS = 3, PUTS = 20 };

/* Has the origin sent a message? With `last`: that was the last one. */
static bool was_told(bool *last)
{
    int arrived = 0;

    MPI_Iprobe(ORIGIN, TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    if (arrived)
        must(MPI_Recv(last, 1, MPI_C_BOOL, ORIGIN, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "MPI_Recv");
    return arrived;
}

static void tell(bool last)
{
    must(MPI_Send(&last, 1, MPI_C_BOOL, TARGET, TAG, MPI_COMM_WORLD), "MPI_Send");
}

static void put(MPI_Win window, MPI_Aint there)
{
    static const char data[8];

    must(MPI_Put(data, sizeof(data), MPI_BYTE, TARGET, there, sizeof(data), MPI_BYTE, window),
         "MPI_Put");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
}

static void change(MPI_Win window, char *below)
{
    must(MPI_Win_attach(window, below, REGION), "MPI_Win_attach");
    must(MPI_Win_detach(window, below), "MPI_Win_detach");
}

static void origin(MPI_Win window, MPI_Aint there, bool avoid)
{
    double end = MPI_Wtime() + SECONDS;

    while (MPI_Wtime() < end) {
        for (int i = 0; i < PUTS; i++)
            put(window, there);
        if (!avoid)
            continue;
        tell(false);
        must(MPI_Recv(NULL, 0, MPI_BYTE, TARGET, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "MPI_Recv");
    }
    tell(true);
}

static void target(MPI_Win window, char *below, bool avoid)
{
    for (bool last = false; !last;) {
        bool told = was_told(&last);

        if (avoid && !told)
            continue;
        change(window, below);
        if (avoid && !last)
            must(MPI_Send(NULL, 0, MPI_BYTE, ORIGIN, TAG, MPI_COMM_WORLD), "MPI_Send");
    }
}

int main(int words_count, char **words)
{
    bool avoid = words_count > 1 && strcmp(words[1], "avoid") == 0;
    MPI_Win window;
    MPI_Aint there;
    char *memory;

    begin("table-race", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory(3 * REGION);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory + (size_t)2 * REGION, REGION), "MPI_Win_attach");
    there = share_address(memory + (size_t)2 * REGION);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    MPI_Barrier(MPI_COMM_WORLD);
    watch(SECONDS + 10, "a put while other regions come and go");
    if (job.rank == ORIGIN)
        origin(window, there, avoid);
    else
        target(window, memory, avoid);
    calm();
    finish(false, "all puts found their region");
    return 0;
}
