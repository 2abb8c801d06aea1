/* test: tier=few needs=worker reference=no status=9 env=OMPRMA_TIMEOUT=3 stderr=ends
 * exit() from a second thread, while the first one is in a region that never ends. */
#include <pthread.h>
#include "check.h"

static void *leave(void *unused)
{
    (void)unused;
    usleep(100000);
    exit(9);
}

int main(void)
{
    pthread_t thread;
    volatile int on = 1;
    check_devices();
    pthread_create(&thread, NULL, leave, NULL);
#pragma omp target map(to : on)
    while (on)
        usleep(1000);
    return on;
}
