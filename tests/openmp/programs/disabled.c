/* test: env=OMP_TARGET_OFFLOAD=DISABLED reference=no
 * Offloading is switched off: there are no devices, and all constructs run on the host, with its
 * data. */
#include "check.h"

#pragma omp declare target
int global = 5;
#pragma omp end declare target

int main(void)
{
    int a[10] = {0}, pid = 0, sum = 0;
    CHECK_EQUAL(omp_get_num_devices(), 0);
    CHECK_EQUAL(omp_get_initial_device(), 0);
#pragma omp target map(tofrom : a) map(from : pid)
    {
        a[3] = global++;
        pid = getpid();
    }
    CHECK_EQUAL(pid, getpid());
    CHECK_EQUAL(a[3], 5);
    CHECK_EQUAL(global, 6);
#pragma omp target enter data map(to : a)
    a[3] = 1;
#pragma omp target update to(a)
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 10; i++)
        sum += a[i];
    CHECK_EQUAL(sum, 1);
#pragma omp target exit data map(from : a)
#pragma omp target nowait depend(out : a) map(tofrom : a)
    a[4] = 4;
#pragma omp taskwait
    CHECK_EQUAL(a[4], 4);
    int *p = omp_target_alloc(40, omp_get_initial_device());
    CHECK(p);
    CHECK_EQUAL(omp_target_memcpy(p, a, 40, 0, 0, 0, 0), 0);
    CHECK_EQUAL(p[4], 4);
    omp_target_free(p, 0);
    return finish("disabled");
}
