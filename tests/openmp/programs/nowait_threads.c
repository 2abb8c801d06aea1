/* test: needs=own
 * Threads of the program's own, each with nowait regions in flight that it waits for before it
 * ends. (libomp crashes with such tasks of its own, with LLVM's local device too.) */
#include "check.h"

#include <pthread.h>

enum { TEAM = 4, LINKS = 20, ROUNDS = 10 };

static int devices;

// clang-format off
static void *own_thread(void *context)
{
    long *link = context;
    for (int i = 0; i < LINKS; i++) {
#pragma omp target nowait map(tofrom : link[0:1]) depend(inout : link[0]) device(i % devices)
        link[0] = link[0] * 2 + 1;
    }
#pragma omp taskwait
    return NULL;
}
// clang-format on

int main(void)
{
    devices = check_devices();
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[TEAM];
        long links[TEAM] = {0};
        for (int i = 0; i < TEAM; i++)
            CHECK_EQUAL(pthread_create(&threads[i], NULL, own_thread, &links[i]), 0);
        for (int i = 0; i < TEAM; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < TEAM; i++)
            CHECK_EQUAL(links[i], (1 << LINKS) - 1);
    }
    return finish("nowait_threads");
}
