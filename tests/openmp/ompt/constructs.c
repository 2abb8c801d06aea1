/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* constructs.c: one of each target construct and function, for the tool beside it, as far as LLVM's
 * runtime does the same for them. No thread but one works. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

#pragma omp declare target
int table[4] = {1, 2, 3, 4};
#pragma omp end declare target

int main(void)
{
    static double a[N], b[N], c[N];
    int small = 5, sum = 0, last = omp_get_num_devices() - 1;

#pragma omp target map(tofrom : small)
    small++;
#pragma omp target map(tofrom : small) map(to : a) map(from : b)
    for (int i = 0; i < N; i++)
        b[i] = a[i] + small;
#pragma omp target
    small++;
#pragma omp target map(tofrom : small)
    small++;
#pragma omp target teams distribute parallel for reduction(+ : sum) num_teams(2)
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp target if (0) map(tofrom : small)
    small++;
#pragma omp target device(omp_get_initial_device()) map(tofrom : small)
    small++;

#pragma omp target data map(to : a) map(from : c) map(alloc : b)
    {
#pragma omp target map(to : a) map(from : b)
        for (int i = 0; i < N; i++)
            b[i] = a[i];
        a[3] = 7;
#pragma omp target update to(a) from(b)
#pragma omp target update to(a [10:5])
    }
#pragma omp target enter data map(to : a [0:10], small)
#pragma omp target enter data map(to : a [0:10])
#pragma omp target exit data map(release : a [0:10])
#pragma omp target exit data map(from : a [0:10]) map(delete : small)

#pragma omp target data map(tofrom : a) use_device_addr(a)
    small++;
#pragma omp target map(always, tofrom : table)
    table[0]++;

#pragma omp target data map(tofrom : a) device(last)
    {
#pragma omp target map(tofrom : a) device(last)
        a[0]++;
    }

    double *there = omp_target_alloc(sizeof(a), 0), *other = omp_target_alloc(sizeof(a), last);
    omp_target_memcpy(there, a, sizeof(a), 0, 0, 0, omp_get_initial_device());
    omp_target_memcpy(b, there, 80, 0, 8, omp_get_initial_device(), 0);
    omp_target_memcpy(b, a, 80, 0, 8, omp_get_initial_device(), omp_get_initial_device());
    omp_target_associate_ptr(c, there, sizeof(c), 0, 0);
#pragma omp target map(tofrom : c)
    c[0]++;
    omp_target_disassociate_ptr(c, 0);
    omp_target_free(there, 0);
    omp_target_free(other, last);
    printf("%d %d %g\n", small, sum, a[0]);
    return 0;
}
