/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * btl-ofi.c: a put over btl/ofi is not there when MPI_Win_flush returns.
 *
 * What goes wrong: MPI_Win_flush says that a put is complete at the target while its data has not
 * arrived. Whoever looks at the target then finds what was there before, or the front of the new
 * data; and what the target writes meanwhile is written over by the late data.
 * Where: Open MPI 4.1.4, osc/rdma, wherever btl/ofi is among the BTLs: Debian leaves it out by
 * openmpi-mca-params.conf (btl = ^uct,openib,ofi), but a `btl` of the user's, as ^openib, or
 * another file takes the place of that line. osc/rdma prefers it to shared memory then. Seen with
 * libfabric 1.17 and its provider "net", also with MPI_THREAD_SINGLE. Not over btl/vader.
 * Cause: the flush waits for the provider to report the operation, and btl/ofi takes providers
 * that report it when the data was sent, not when it was delivered: the test for
 * FI_DELIVERY_COMPLETE in its validate_info() is always true (open-mpi/ompi issue 7982). With
 * several threads it also counts an operation only after it was started, so that a flush may miss
 * it (issue 11654).
 *
 *   mpicc btl-ofi.c -o btl-ofi
 *   mpirun -n 2 --mca pml ob1 --mca osc rdma --mca btl ^openib ./btl-ofi
 *   mpirun -n 2 --mca pml ob1 --mca osc rdma --mca btl ^openib --mca btl_base_exclude ofi ./btl-ofi
 *
 * The target computes for a quarter of a second, while data is put and flushed, and then looks at
 * its memory before it enters MPI. Prints "btl-ofi: seen: ..." if it finds anything else than what
 * was put although the flush had returned by then, else "btl-ofi: not seen: ...". The second
 * command is omprma's way, where it must not be seen. Both processes must be on one host.
 */
#include "reproducer.h"

#include <time.h>

enum { REGION = 1 << 20, PUTS = 4 };

/* Seconds on a clock that all processes of a host share. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double compute(double seconds)
{
    double end = now() + seconds, at;

    while ((at = now()) < end)
        ;
    return at;
}

/* Bytes that differ from what was put. */
static int count_wrong(const unsigned char *memory, int bytes, int value)
{
    int wrong = 0;

    for (int i = 0; i < bytes; i++)
        wrong += memory[i] != value;
    return wrong;
}

int main(void)
{
    static const int bytes[PUTS] = {8, 4096, 65536, REGION};
    struct {
        double stop;
        int wrong;
    } found = {0};
    double end;
    char *memory;
    MPI_Aint theirs;
    MPI_Win window;
    int late = 0, wrong = 0;

    begin("btl-ofi", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    memory = map_memory(REGION);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory, REGION), "MPI_Win_attach");
    theirs = share_address(memory);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    for (int i = 0; i < PUTS; i++) {
        if (job.rank == ORIGIN)
            memset(memory, i + 1, REGION);
        MPI_Barrier(MPI_COMM_WORLD);
        if (job.rank == TARGET) {
            found.stop = compute(0.25);
            found.wrong = count_wrong((unsigned char *)memory, bytes[i], i + 1);
        } else {
            usleep(50000); /* the target has left the barrier */
            must(MPI_Put(memory, bytes[i], MPI_BYTE, TARGET, theirs, bytes[i], MPI_BYTE, window),
                 "MPI_Put");
            must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
        }
        end = now();
        must(MPI_Bcast(&found, sizeof(found), MPI_BYTE, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
        late += end < found.stop && found.wrong > 0;
        wrong += end < found.stop ? found.wrong : 0;
    }
    finish(late > 0, "%d of %d puts had not arrived when MPI_Win_flush returned, %d bytes", late,
           PUTS, wrong);
    return 0;
}
