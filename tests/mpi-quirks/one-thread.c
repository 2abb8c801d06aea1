/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * one-thread.c: while there is a window, a thread calls MPI that has not called MPI_Init.
 *
 * What goes wrong: the process ends with SIGABRT, "Assertion `ucs_async_check_owner_thread(...)'".
 * Where: Open MPI 5.0.7, osc/ucx, with a UCX from 1.18 on that was built with assertions, as
 * Debian's. Cause (open-mpi/ompi issue 13347, mended by pull request 13655 for 5.0.10): osc/ucx
 * makes a UCX worker for one thread only, at whatever thread level.
 *
 *   mpicc one-thread.c -o one-thread -pthread
 *   mpirun -n 2 --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
 *          --mca opal_common_ucx_devices any ./one-thread [avoid]
 *
 * One thread at a time calls MPI_Iprobe, first that of main(), then another. Prints "one-thread:
 * seen: ..." or "one-thread: not seen: ...". With `avoid` the window is freed before, and it must
 * not be seen.
 */
#include "reproducer.h"

#include <pthread.h>

static void *probe(void *unused)
{
    int arrived;

    (void)unused;
    for (int i = 0; i < 1000; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int count, char **words)
{
    bool avoid = count > 1 && strcmp(words[1], "avoid") == 0;
    pthread_t thread;
    MPI_Win window;

    begin("one-thread", MPI_THREAD_SERIALIZED);
    window = dynamic_window();
    if (avoid)
        must(MPI_Win_free(&window), "MPI_Win_free");
    probe(NULL);
    watch(10, "MPI_Iprobe of a second thread %s a window", avoid ? "after" : "beside");
    if (pthread_create(&thread, NULL, probe, NULL) != 0)
        broken("no thread");
    pthread_join(thread, NULL);
    calm();
    finish(false, "a second thread calls MPI_Iprobe %s a window", avoid ? "after" : "beside");
    return 0;
}
