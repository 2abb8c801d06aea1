/* test: stderr=device
 * More memory than any device has: NULL, and the program goes on. */
#include "check.h"

int main(void)
{
    check_devices();
    for (int i = 0; i < 3; i++)
        CHECK(omp_target_alloc((size_t)1 << (50 - i), 0) == NULL);
    void *p = omp_target_alloc(1000, 0);
    CHECK(p);
    omp_target_free(p, 0);
    int x = 1;
#pragma omp target map(tofrom : x)
    x = 2;
    CHECK_EQUAL(x, 2);
    return finish("nomemory");
}
