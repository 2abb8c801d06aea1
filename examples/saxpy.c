/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * saxpy.c: y = a * x + y, every device on its own slice of the vectors. The first thing to try:
 * it shows that each device can be reached, computes, and gives its results back.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu saxpy.c -o saxpy
 * Run:   omprma-run -n 2 ./saxpy [ELEMENTS]
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void saxpy(int device, size_t n, float a, const float *x, float *y)
{
#pragma omp target teams distribute parallel for device(device) map(to : x[:n]) map(tofrom : y[:n])
    for (size_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1 << 20;
    int devices = omp_get_num_devices();
    if (devices == 0) {
        fprintf(stderr, "saxpy: there is no device\n");
        return 1;
    }

    float *x = malloc((n + 1) * sizeof *x);
    float *y = malloc((n + 1) * sizeof *y);
    if (!x || !y) {
        fprintf(stderr, "saxpy: no memory for %zu elements\n", n);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(i % 1000);
        y[i] = 1.0f;
    }

    for (int d = 0; d < devices; d++) {
        size_t first = n * (size_t)d / (size_t)devices;
        size_t count = n * ((size_t)d + 1) / (size_t)devices - first;
        double start = omp_get_wtime();
        saxpy(d, count, 2.0f, x + first, y + first);
        printf("device %d: elements %zu to %zu in %.3f ms\n", d, first, first + count,
               1e3 * (omp_get_wtime() - start));
    }

    size_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += y[i] != 2.0f * (float)(i % 1000) + 1.0f; /* small integers: exact in a float */
    free(x);
    free(y);
    printf("saxpy: %zu of %zu elements wrong: %s\n", wrong, n, wrong ? "FAILED" : "ok");
    return wrong != 0;
}
