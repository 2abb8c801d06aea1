/* test: tier=few needs=worker;own reference=no from=16 status=3 stderr=waits.for.a.nowait.region
 * A program that ends beside a nowait region says what it waits for. */
#include "check.h"

int main(void)
{
    volatile int on = 7000;
    check_devices();
#pragma omp target map(to : on) nowait
    while (on-- > 0)
        usleep(1000);
    sleep(1); /* it has begun */
    return 3;
}
