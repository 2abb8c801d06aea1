/* test: reference=no stderr=device.0
 * Freeing twice is reported and does no harm. */
#include "check.h"

int main(void)
{
    check_devices();
    void *p = omp_target_alloc(100, 0);
    omp_target_free(p, 0);
    omp_target_free(p, 0);
    int x = 0;
#pragma omp target map(tofrom : x)
    x = 4;
    CHECK_EQUAL(x, 4);
    return finish("bad_free");
}
