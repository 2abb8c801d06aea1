/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attach-limit.c: how many regions can be attached to a dynamic window, and what comes after the
 * limit.
 *
 * What goes wrong: MPI_Win_attach fails after a number of regions that is small and that no MPI
 * call tells, and with osc/rdma the next access to that target never returns.
 * Where: Open MPI 4.1.4. osc/ucx: 32 regions, a constant. osc/rdma: 64, the parameter
 * osc_rdma_max_attach (32 in the first releases of 4.0).
 * Cause of the hang: attach takes the lock of the table of regions, then finds that the table is
 * full, and returns without giving the lock back; the next access waits for it.
 *
 *   mpicc attach-limit.c -o attach-limit
 *   mpirun -n 2 --mca osc rdma ./attach-limit [COUNT]
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./attach-limit [COUNT]
 *
 * Attaches up to COUNT regions (default 200), then puts to the first. Prints
 * "attach-limit: seen: ..." if an attach fails or the put does not return, else "not seen". With
 * COUNT 31 (osc/ucx) or 63 (osc/rdma) it must not be seen.
 */
#include "reproducer.h"

/* Two pages each, and two pages between them, so that no two regions can be taken for one. */
enum { REGION = 2 * PAGE, STRIDE = 4 * PAGE };

int main(int count, char **words)
{
    int wanted = count > 1 ? atoi(words[1]) : 200, done = 0, code = MPI_SUCCESS, length = 0;
    char text[MPI_MAX_ERROR_STRING] = "no error";
    char *memory;
    MPI_Aint theirs;
    MPI_Win window;
    double value = 1.0;

    begin("attach-limit", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory((size_t)(wanted + 1) * STRIDE);
    theirs = share_address(memory);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    while (job.rank == TARGET && code == MPI_SUCCESS && done < wanted) {
        code = MPI_Win_attach(window, memory + (size_t)done * STRIDE, REGION);
        if (code == MPI_SUCCESS)
            done++;
    }
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    must(MPI_Bcast(&done, 1, MPI_INT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
    must(MPI_Bcast(text, sizeof(text), MPI_CHAR, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
    if (job.rank == ORIGIN) {
        watch(3, "attach %d gives \"%s\" and a put after %s", done + 1, text,
              done < wanted ? "that" : "all attaches");
        must(MPI_Put(&value, 8, MPI_BYTE, TARGET, theirs, 8, MPI_BYTE, window), "MPI_Put");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        calm();
    }
    if (done < wanted)
        finish(true, "attach %d gives \"%s\", a put after that returns", done + 1, text);
    else
        finish(false, "%d regions attached, a put after that returns", done);
    return 0;
}
