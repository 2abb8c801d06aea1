/* test: tier=few
 * A kernel that takes long does not stop the other devices, nor transfers to them. */
#include "check.h"

int main(void)
{
    static char data[4 << 20];
    int count = check_devices(), slow = 0;
    double start = omp_get_wtime();
#pragma omp target nowait map(tofrom : slow) depend(out : slow)
    {
        usleep(2500000);
        slow = 1;
    }
    if (count > 1) {
        for (int i = 0; i < 10; i++) {
#pragma omp target map(tofrom : data) device(1)
            data[i] = 1;
        }
        if (test_is_remote())
            CHECK(omp_get_wtime() - start < 2.0);
    }
#pragma omp taskwait
    CHECK_EQUAL(slow, 1);
    return finish("long_kernel");
}
