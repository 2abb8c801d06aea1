/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attach-order.c: attaching and detaching in any order of addresses.
 *
 * What goes wrong: (1) a put into a region that is attached kills the process that puts, once
 * another region was attached above all others; (2) MPI_Win_detach leaves a region that was
 * attached below another, until the table is full and MPI_Win_attach fails, and what is attached
 * later at its addresses can be lost. Where: Open MPI 4.1.4 with osc/ucx. Not osc/rdma. Cause: the
 * table is sorted by address. (1) The search for the place looks one entry too far, at an empty
 * one; a region above all others goes behind that, and by the hole others are not found: what is
 * unpacked then is as in no-rput.c. (2) MPI_Win_attach moves up the entries behind the new one and
 * goes on counting references from what the moved entry left there; MPI_Win_detach takes one away,
 * sees that some are left, and does nothing.
 *
 *   mpicc attach-order.c -o attach-order
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./attach-order [avoid]
 *
 * Attaches and detaches regions in random order; after each step the origin puts into all that are
 * attached, and gets. Prints "attach-order: seen: ..." or "attach-order: not seen: ...". With
 * `avoid` one region above all others is attached first and stays, and each is detached as often as
 * it was counted; then it must not be seen.
 */
#include "reproducer.h"

enum { REGION = 64 << 10, PLACES = 40, MOST = 31, STEPS = 200 };

static struct region {
    char *at;
    int references; /* as the library counts them */
} table[MOST];
static int count;

/* As the library does: an entry begins with the references of the one that was at its place. */
static void attach(MPI_Win window, char *at)
{
    int i = count;

    must(MPI_Win_attach(window, at, REGION), "MPI_Win_attach");
    for (; i > 0 && table[i - 1].at > at; i--)
        table[i] = table[i - 1];
    table[i].at = at;
    table[i].references = i < count ? table[i].references + 1 : 1;
    count++;
}

static void detach(MPI_Win window, int i, bool avoid)
{
    for (int k = 0; k < (avoid ? table[i].references : 1); k++)
        must(MPI_Win_detach(window, table[i].at), "MPI_Win_detach");
    count--;
    memmove(&table[i], &table[i + 1], (size_t)(count - i) * sizeof(table[0]));
}

/* One region comes or goes. */
static void change(MPI_Win window, char *memory, bool avoid)
{
    char *at = memory + (size_t)(random() % PLACES) * 2 * REGION;

    for (int i = 0; i < count; i++)
        if (table[i].at == at) {
            detach(window, i, avoid);
            return;
        }
    if (count < MOST)
        attach(window, at);
}

/* Whether what is put can be got. */
static bool try_all(MPI_Win window, const MPI_Aint *regions, int regions_count, int step)
{
    for (int i = 0; i < regions_count; i++) {
        int sent = step * MOST + i, back = -1;

        must(MPI_Put(&sent, 1, MPI_INT, TARGET, regions[i], 1, MPI_INT, window), "MPI_Put");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        must(MPI_Get(&back, 1, MPI_INT, TARGET, regions[i], 1, MPI_INT, window), "MPI_Get");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        if (back != sent)
            return false;
    }
    return true;
}

int main(int words_count, char **words)
{
    bool avoid = words_count > 1 && strcmp(words[1], "avoid") == 0, right = true;
    MPI_Aint regions[MOST];
    char *memory;
    MPI_Win window;

    begin("attach-order", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory((size_t)(PLACES + 1) * 2 * REGION);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    if (job.rank == TARGET && avoid)
        attach(window, memory + (size_t)PLACES * 2 * REGION);
    if (job.rank == ORIGIN)
        use_heap();
    watch(15, "attaching and detaching in random order");
    for (int step = 0; step < STEPS && right; step++) {
        if (job.rank == TARGET)
            change(window, memory, avoid);
        for (int i = 0; i < count; i++)
            must(MPI_Get_address(table[i].at, &regions[i]), "MPI_Get_address");
        must(MPI_Bcast(&count, 1, MPI_INT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
        must(MPI_Bcast(regions, count, MPI_AINT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
        if (job.rank == ORIGIN)
            right = try_all(window, regions, count, step);
        if (job.rank == ORIGIN)
            count = 0;
        must(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        must(MPI_Bcast(&right, 1, MPI_C_BOOL, ORIGIN, MPI_COMM_WORLD), "MPI_Bcast");
    }
    calm();
    finish(!right, "%s data after attaching and detaching in random order",
           right ? "right" : "wrong");
    return 0;
}
