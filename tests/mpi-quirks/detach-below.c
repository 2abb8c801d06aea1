/*
 * detach-below.c: a region that is attached below another one, and detached.
 *
 * What goes wrong: MPI_Win_detach leaves it in the table. The next one at that place is a further
 * entry, until the table is full and MPI_Win_attach fails; a smaller one is not attached at all,
 * and accesses to it fail once the old entry goes. Where: Open MPI 4.1.4 with osc/ucx. Not
 * osc/rdma. Cause: the table is sorted by address. MPI_Win_attach moves up the entries behind the
 * new one and counts its references from what the moved entry left there, so from 1; MPI_Win_detach
 * takes one away, sees that one is left, and does nothing. Above all others nothing was left there.
 *
 *   mpicc detach-below.c -o detach-below
 *   mpirun -n 2 --mca pml ucx --mca osc ucx ./detach-below [avoid]
 *
 * Attaches and detaches 100 times. Prints "detach-below: seen: ..." or "detach-below: not seen:
 * ...". With `avoid` above the other region instead of below; then it must not be seen.
 */
#include "reproducer.h"

enum { REGION = 1 << 20, TIMES = 100 };

int main(int count, char **words)
{
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0;
    int code = MPI_SUCCESS, times = 0;
    char *memory;
    MPI_Win window;

    begin("detach-below", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory(3 * REGION);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory + (avoid ? 0 : 2) * REGION, REGION), "MPI_Win_attach");
    for (; job.rank == TARGET && times < TIMES; times++) {
        code = MPI_Win_attach(window, memory + (avoid ? 2 : 0) * REGION, REGION);
        if (code != MPI_SUCCESS)
            break;
        must(MPI_Win_detach(window, memory + (avoid ? 2 : 0) * REGION), "MPI_Win_detach");
    }
    must(MPI_Bcast(&times, 1, MPI_INT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
    finish(times < TIMES, "attached and detached %d times %s another region", times,
           avoid ? "above" : "below");
    return 0;
}
