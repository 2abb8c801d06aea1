/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* other.c: what LLVM's runtime does in other steps, or does not have. What the tool is to say of
 * it, other.txt has. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1000 };

struct list {
    int count;
    double *values;
};

int main(void)
{
    static double a[N], b[N], plane[8][8];
    _Alignas(64) double whole[8] = {0};
    _Alignas(4096) static double large[1024];
    int host = omp_get_initial_device(), small = 0, last = omp_get_num_devices() - 1;
    size_t volume[2] = {3, 2}, none[2] = {0, 0}, edges[2] = {8, 8};
    struct list list = {3, a};

#pragma omp target firstprivate(whole) map(tofrom : small)
    small += (int)whole[0];
#pragma omp target firstprivate(whole, large) map(tofrom : small)
    small += (int)large[0];
#pragma omp target map(tofrom : list) map(tofrom : list.values [0:3])
    list.values[0] = list.count;
#pragma omp target data map(tofrom : plane)
    {
#pragma omp target update to(plane [0:4] [0:2])
    }
    double *there = omp_target_alloc(sizeof(a), 0), *far = omp_target_alloc(sizeof(a), last);
    omp_target_memcpy(far, there, 80, 0, 8, last, 0);
    omp_target_memcpy(there, there, 80, 800, 8, 0, 0);
    omp_target_memcpy_rect(there, plane, sizeof(double), 2, volume, none, none, edges, edges, 0,
                           host);
    omp_target_free(far, last);
    omp_target_free(there, 0);
#pragma omp target map(tofrom : a) map(from : b)
    {
        usleep(100000);
        b[0] = a[0];
    }
    printf("%d %g\n", small, b[0]);
    return 0;
}
