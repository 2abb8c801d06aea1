/* test: status=9
 * exit() from a second thread, while the first one is in a region. */
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
    check_devices();
    printf("start\n");
    pthread_create(&thread, NULL, leave, NULL);
    int x = 0;
#pragma omp target map(tofrom : x)
    {
        usleep(600000);
        x = 1;
    }
    usleep(3000000);
    return x;
}
