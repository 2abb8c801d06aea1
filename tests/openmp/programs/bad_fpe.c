/* test: needs=worker reference=no status=nonzero stderr=kernel.*(floating|divi|arithmetic)
 * A region that goes wrong gives a clear line that names it, a status, and no hang. */
#include "check.h"

int main(void)
{
    volatile int start = 0;
    check_devices();
    int x = start;
#pragma omp target map(tofrom : x)
    x = 1000 / x;
    printf("still here\n");
    return 0;
}
