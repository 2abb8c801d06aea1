/* test: tier=big
 * One array of more than 4 GiB. */
#include "check.h"

int main(void)
{
    size_t n = ((size_t)4 << 30) / sizeof(long) + 1000003;
    long *a = malloc(n * sizeof(*a));
    check_devices();
    for (size_t i = 0; i < n; i++)
        a[i] = (long)i;
#pragma omp target map(tofrom : a [0:n])
    for (size_t i = 0; i < n; i++)
        a[i] = a[i] * 3 + 1;
    size_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad += a[i] != (long)i * 3 + 1;
    CHECK_EQUAL(bad, 0);
    free(a);
    return finish("big");
}
