/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * slow-large.c: what a large put and get cost beside a message of as many bytes.
 *
 * What goes wrong: puts and gets of more than 64 KiB take many times as long as messages do.
 * Where: MPICH 4.0.2 (ch4:ucx), in shared memory and over TCP. Not in 4.2.1 and later, nor in Open
 * MPI. Cause: not known. All of MPICH's use active messages to a dynamic window.
 *
 *   mpicc slow-large.c -o slow-large
 *   mpiexec -n 2 ./slow-large
 *
 * Times 4 MiB put and flushed on a dynamic window while the target receives, the same with a get,
 * and as many bytes sent and answered. Prints "slow-large: seen: ..." if a put or get takes at
 * least three times as long as that, else "slow-large: not seen: ...".
 */
#include "reproducer.h"

enum { BYTES = 4 << 20, ROUNDS = 12, STOP = 1, DATA = 2 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Takes messages and answers each, until there is none more. */
static void answer(char *memory)
{
    MPI_Status status;

    do {
        must(MPI_Recv(memory, BYTES, MPI_BYTE, ORIGIN, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
             "MPI_Recv");
        must(MPI_Send(NULL, 0, MPI_BYTE, ORIGIN, DATA, MPI_COMM_WORLD), "MPI_Send");
    } while (status.MPI_TAG != STOP);
}

static void message(const char *memory, int bytes, int tag)
{
    must(MPI_Send(memory, bytes, MPI_BYTE, TARGET, tag, MPI_COMM_WORLD), "MPI_Send");
    must(MPI_Recv(NULL, 0, MPI_BYTE, TARGET, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
}

static void put(MPI_Win window, char *memory, MPI_Aint theirs)
{
    must(MPI_Put(memory, BYTES, MPI_BYTE, TARGET, theirs, BYTES, MPI_BYTE, window), "MPI_Put");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
}

static void get(MPI_Win window, char *memory, MPI_Aint theirs)
{
    must(MPI_Get(memory, BYTES, MPI_BYTE, TARGET, theirs, BYTES, MPI_BYTE, window), "MPI_Get");
    must(MPI_Win_flush(TARGET, window), "MPI_Win_flush");
}

static void send(MPI_Win window, char *memory, MPI_Aint theirs)
{
    (void)window;
    (void)theirs;
    message(memory, BYTES, DATA);
}

/* The median in milliseconds. */
static double time_of(void transfer(MPI_Win, char *, MPI_Aint), MPI_Win window, char *memory,
                      MPI_Aint theirs)
{
    double ms[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        double start = MPI_Wtime();

        transfer(window, memory, theirs);
        ms[i] = (MPI_Wtime() - start) * 1e3;
    }
    qsort(ms, ROUNDS, sizeof(ms[0]), by_value);
    return ms[ROUNDS / 2];
}

int main(void)
{
    char *memory;
    double in_put = 0, in_get = 0, in_send = 0;
    MPI_Win window;
    MPI_Aint theirs;

    begin("slow-large", MPI_THREAD_MULTIPLE);
    window = dynamic_window();
    memory = map_memory(BYTES);
    memset(memory, 1, BYTES);
    if (job.rank == TARGET)
        must(MPI_Win_attach(window, memory, BYTES), "MPI_Win_attach");
    theirs = share_address(memory);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    if (job.rank == TARGET) {
        answer(memory);
    } else {
        in_put = time_of(put, window, memory, theirs);
        in_get = time_of(get, window, memory, theirs);
        in_send = time_of(send, window, memory, theirs);
        message(NULL, 0, STOP);
    }
    finish(in_put >= 3 * in_send || in_get >= 3 * in_send,
           "4 MiB are put in %.2f, got in %.2f, sent in %.2f ms", in_put, in_get, in_send);
    return 0;
}
