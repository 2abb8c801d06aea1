/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * end-of-region.c: accesses that end exactly where an attached region ends.
 *
 * What goes wrong: an access to the very last byte of the region crashes the process that makes it.
 * Where: Open MPI 4.1.4 with osc/ucx over shared memory; accesses of two bytes and more do not.
 * Cause: the look-up among the target's attached regions takes the address of the first byte and a
 * length of 1, and wants address + 1 < end of region, where <= is right. The last byte is not
 * found, and a key from in front of the table is used, as in no-rput.c.
 *
 *   mpicc end-of-region.c -o end-of-region
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./end-of-region [BYTES] [avoid]
 *
 * Puts BYTES (default: 65536, then 8, 2, 1) that end at the region's end, gets them back, compares.
 * Prints "end-of-region: seen: ..." or "end-of-region: not seen: ...". With `avoid` one page more
 * than the region is attached; then it must not be seen.
 */
#include "reproducer.h"

enum { REGION = 1 << 20, ROUNDS = 50 };

/* Whether the data comes back as it was. */
static bool put_and_get(MPI_Win window, const char *from, char *back, int bytes, MPI_Aint at)
{
    must(MPI_Put(from, bytes, MPI_BYTE, TARGET, at, bytes, MPI_BYTE, window), "MPI_Put");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
    must(MPI_Get(back, bytes, MPI_BYTE, TARGET, at, bytes, MPI_BYTE, window), "MPI_Get");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
    return memcmp(from, back, (size_t)bytes) == 0;
}

int main(int count, char **words)
{
    static const int sizes[] = {65536, 8, 2, 1};
    bool avoid = count > 1 && strcmp(words[count - 1], "avoid") == 0;
    int only = count > 1 ? atoi(words[1]) : 0, wrong = 0, last = 0;
    char *mine, *back;
    MPI_Aint theirs;
    MPI_Win window;

    begin("end-of-region", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    mine = map_memory(REGION + PAGE);
    back = map_memory(REGION);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, mine, avoid ? REGION + PAGE : REGION), "MPI_Win_attach");
    theirs = share_address(mine);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    for (size_t i = 0; job.rank == ORIGIN && !wrong && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        last = only ? only : sizes[i];
        for (int round = 0; round < ROUNDS && !wrong; round++) {
            memset(mine, 'a' + round % 26, (size_t)last);
            watch(10, "a put or get of %d bytes at the very end", last);
            use_heap();
            wrong = !put_and_get(window, mine, back, last, theirs + REGION - last);
            calm();
        }
    }
    finish(wrong, "%s data for accesses of down to %d bytes at the very end",
           wrong ? "wrong" : "right", last);
    return 0;
}
