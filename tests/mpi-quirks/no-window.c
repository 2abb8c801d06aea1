/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * no-window.c: whether a dynamic window can be had at all, by thread level.
 *
 * What goes wrong: MPI_Win_create_dynamic fails with MPI_ERR_WIN, which ends the job unless errors
 * are returned.
 * Where: Open MPI 4.1.4 over TCP without UCX. With MPI_THREAD_MULTIPLE always; with
 * MPI_THREAD_SERIALIZED as Debian sets it up, but not if osc/pt2pt is asked for.
 * Cause: osc/rdma does not work over TCP, and osc/pt2pt refuses MPI_THREAD_MULTIPLE. At the lower
 * level osc/pt2pt works, but Debian's openmpi-mca-params.conf leaves it out: "osc = ^ucx,pt2pt".
 *
 *   mpicc no-window.c -o no-window
 *   mpirun -n 2 --mca pml ob1 --mca btl tcp,self [--mca osc pt2pt]
 *          ./no-window serialized|multiple
 *
 * Creates the window, attaches, puts 1 MiB and gets it back. Prints "no-window: seen: ..." if the
 * window cannot be created or does not work, else "no-window: not seen: ...".
 */
#include "reproducer.h"

enum { REGION = 1 << 20 };

/* Ends the program with what MPI says if there is no window. */
static void need_window(int code, const char *level)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, most = 0;

    must(MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    if (most == MPI_SUCCESS)
        return;
    MPI_Error_string(most, text, &length);
    finish(true, "MPI_Win_create_dynamic with MPI_THREAD_%s gives \"%s\"", level, text);
    exit(0);
}

int main(int count, char **words)
{
    bool multiple = count > 1 && strcmp(words[1], "multiple") == 0;
    const char *level = multiple ? "MULTIPLE" : "SERIALIZED";
    MPI_Win window = MPI_WIN_NULL;
    char *mine, *back;
    MPI_Aint theirs;
    bool same;

    begin("no-window", multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED);
    need_window(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window), level);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    mine = map_memory(REGION + PAGE);
    back = map_memory(REGION);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, mine, REGION + PAGE), "MPI_Win_attach");
    theirs = share_address(mine);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    if (job.rank == ORIGIN) {
        watch(10, "a put and get with MPI_THREAD_%s", level);
        memset(mine, 'x', REGION);
        must(MPI_Put(mine, REGION, MPI_BYTE, TARGET, theirs, REGION, MPI_BYTE, window), "MPI_Put");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        must(MPI_Get(back, REGION, MPI_BYTE, TARGET, theirs, REGION, MPI_BYTE, window), "MPI_Get");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        calm();
    }
    same = memcmp(mine, back, REGION) == 0 || job.rank == TARGET;
    finish(!same, "a dynamic window with MPI_THREAD_%s; data comes back %s", level,
           same ? "right" : "wrong");
    return 0;
}
