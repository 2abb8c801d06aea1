/* A region that never ends. */
#include <unistd.h>

void stuck(void)
{
    volatile int on = 1;
#pragma omp target map(to : on)
    while (on)
        usleep(1000);
}
