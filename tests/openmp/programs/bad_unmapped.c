/* test: status=1 env=OMPRMA_CHECK=full reference=no needs=own
 * stderr=check:.*points;to;memory;that;the;device;does;not;have.*not;mapped Under
 * OMPRMA_CHECK=full: a region gets a pointer to what is not mapped any more. It does not use it, or
 * it would crash. */
#include "check.h"

int main(void)
{
    check_devices();
    int *p = calloc(100, sizeof(*p)), use = 0;
#pragma omp target map(tofrom : p [0:100])
    p[3]++;
#pragma omp target map(tofrom : use)
    if (use)
        p[3]++;
    CHECK_EQUAL(p[3], 1);
    free(p);
    return finish("bad_unmapped");
}
