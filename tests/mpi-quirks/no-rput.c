/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * no-rput.c: MPI_Rput and MPI_Rget on a dynamic window.
 *
 * What goes wrong: the process that puts or gets dies, by SIGSEGV or, with UCX 1.13, by
 * "mm_posix.c:360: Assertion `length > 0' failed" (SIGABRT).
 * Where: Open MPI 4.1.4 with osc/ucx over shared memory, in every run with the heap that
 * use_heap() makes and in some without it. Not over TCP, where keys hold nothing that is opened.
 * Not osc/rdma.
 * Cause: to make a request, osc/ucx does an atomic operation on a word of its own at the target,
 * and looks up the address of that word, not the user's, among the target's attached regions. It is
 * not there; the look-up gives -1, which only an assertion would notice, and the key that is
 * unpacked is what lies 1016 bytes in front of the copy of the table. Zeros there do no harm.
 *
 *   mpicc no-rput.c -o no-rput
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./no-rput [avoid]
 *
 * Prints "no-rput: seen: ..." or "no-rput: not seen: ...". With `avoid`: the same with MPI_Put,
 * MPI_Get and MPI_Win_flush, where it must not be seen.
 */
#include "reproducer.h"

enum { REGION = 1 << 20, ROUNDS = 100 };

static void put(const char *from, int bytes, MPI_Aint to, MPI_Win window, bool avoid)
{
    MPI_Request request;

    if (avoid) {
        must(MPI_Put(from, bytes, MPI_BYTE, TARGET, to, bytes, MPI_BYTE, window), "MPI_Put");
    } else {
        must(MPI_Rput(from, bytes, MPI_BYTE, TARGET, to, bytes, MPI_BYTE, window, &request),
             "MPI_Rput");
        must(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
}

static void get(char *to, int bytes, MPI_Aint from, MPI_Win window, bool avoid)
{
    MPI_Request request;

    if (avoid) {
        must(MPI_Get(to, bytes, MPI_BYTE, TARGET, from, bytes, MPI_BYTE, window), "MPI_Get");
        must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
    } else {
        must(MPI_Rget(to, bytes, MPI_BYTE, TARGET, from, bytes, MPI_BYTE, window, &request),
             "MPI_Rget");
        must(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
}

int main(int count, char **words)
{
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0;
    const char *what = avoid ? "MPI_Put, MPI_Get and flush" : "MPI_Rput and MPI_Rget";
    char *mine, *back;
    MPI_Aint theirs;
    MPI_Win window;
    int wrong = 0;

    begin("no-rput", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    mine = map_memory(REGION);
    back = map_memory(REGION);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, mine, REGION), "MPI_Win_attach");
    theirs = share_address(mine);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    for (int i = 0; job.rank == ORIGIN && i < ROUNDS; i++) {
        int bytes = i % 2 ? REGION / 2 : 64;

        watch(10, "round %d of %s", i, what);
        memset(mine, i, REGION / 2);
        use_heap();
        put(mine, bytes, theirs, window, avoid);
        get(back, bytes, theirs, window, avoid);
        calm();
        wrong += memcmp(mine, back, (size_t)bytes) != 0;
    }
    finish(wrong > 0, "%d rounds of %s, %d with wrong data", ROUNDS, what, wrong);
    return 0;
}
