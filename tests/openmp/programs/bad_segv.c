/* test: needs=worker reference=no status=nonzero stderr=kernel.*segmentation.fault
 * A region that goes wrong gives a clear line that names it, a status, and no hang. */
#include "check.h"

int main(void)
{
    volatile int start = 16;
    check_devices();
    int x = start;
#pragma omp target map(tofrom : x)
    *(volatile int *)(long)x = 1;
    printf("still here\n");
    return 0;
}
