/* test: status=1 env=OMPRMA_CHECK=full reference=no needs=worker;program stderr=check:;2;findings
 * Under OMPRMA_CHECK=full: a region writes in front of a mapped section and behind it. Neither
 * disturbs anything, and both are found. */
#include "check.h"

int main(void)
{
    check_devices();
    int *p = malloc(100 * sizeof(*p));
    volatile int front = -1, back = 100;
    for (int i = 0; i < 100; i++)
        p[i] = i;
    int low = front, high = back;
#pragma omp target map(tofrom : p [0:100])
    {
        p[low] = 7;
        p[high] = 8;
        p[50] = 9;
    }
    CHECK_EQUAL(p[50], 9);
    CHECK_EQUAL(p[0], 0);
    CHECK_EQUAL(p[99], 99);
    free(p);
    return finish("bad_bounds");
}
