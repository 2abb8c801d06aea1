/* test:
 * Data environments: target data, enter and exit data, reference counts, release, delete. */
#include "check.h"

enum { N = 1000 };

static int sum_on_device(int *a)
{
    int sum = 0;
#pragma omp target map(tofrom : sum) map(to : a [0:N])
    for (int i = 0; i < N; i++)
        sum += a[i];
    return sum;
}

int main(void)
{
    int *a = malloc(N * sizeof(*a)), device = omp_get_default_device();
    for (int i = 0; i < N; i++)
        a[i] = i;
    check_devices();
    CHECK(!omp_target_is_present(a, device));
#pragma omp target data map(tofrom : a [0:N])
    {
        CHECK(omp_target_is_present(a, device));
#pragma omp target
        for (int i = 0; i < N; i++)
            a[i] *= 2;
        CHECK_EQUAL(a[10], 10); /* not copied back yet */
        CHECK_EQUAL(sum_on_device(a), N * (N - 1));
    }
    CHECK_EQUAL(a[10], 20);
    CHECK(!omp_target_is_present(a, device));

    /* Three references: two regions' ends do not remove the data, the third does. */
#pragma omp target enter data map(to : a [0:N])
#pragma omp target enter data map(to : a [0:N])
#pragma omp target enter data map(alloc : a [0:N])
    memset(a, 0, N * sizeof(*a));
#pragma omp target exit data map(from : a [0:N])
    CHECK_EQUAL(a[10], 0);
#pragma omp target exit data map(release : a [0:N])
    CHECK(omp_target_is_present(a, device));
#pragma omp target exit data map(from : a [0:N])
    CHECK_EQUAL(a[10], 20);
    CHECK(!omp_target_is_present(a, device));

#pragma omp target enter data map(to : a [0:N])
#pragma omp target enter data map(to : a [0:N])
#pragma omp target exit data map(delete : a [0:N])
    CHECK(!omp_target_is_present(a, device));

    /* A part of an array; addresses before and behind it stay untouched. */
    int part[30];
    for (int i = 0; i < 30; i++)
        part[i] = i;
#pragma omp target map(tofrom : part [10:10])
    for (int i = 10; i < 20; i++)
        part[i] = -part[i];
    CHECK(part[9] == 9 && part[10] == -10 && part[19] == -19 && part[20] == 20);

    /* use_device_ptr gives the device's address. */
#pragma omp target data map(tofrom : a [0:N]) use_device_ptr(a)
    {
#pragma omp target is_device_ptr(a)
        a[5] = 555;
    }
    CHECK_EQUAL(a[5], 555);
    free(a);
    return finish("data");
}
