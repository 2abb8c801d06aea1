/* test: tier=few needs=worker reference=no status=9 env=OMPRMA_TIMEOUT=3 stderr=not.waited.for
 * exit() from a second thread, while the first one is in a region that never ends. */
#include "check.h"
#include "leave.h"

int main(void)
{
    volatile int on = 1;
    check_devices();
    leave_after(100000);
#pragma omp target map(to : on)
    while (on)
        usleep(1000);
    return on;
}
