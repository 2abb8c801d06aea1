/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * matmul.c: C = A * B. Every device gets a panel of rows of A and all of B, and computes its panel
 * of C block by block with all its cores. The matrices hold small whole numbers, so that every sum
 * is exact: sampled entries and the sum of all entries must agree to the last bit.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu matmul.c -o matmul
 * Run:   omprma-run -n 2 ./matmul [N [BLOCK]]
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1000 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

#pragma omp declare target
/* c += a * b for the block of c that starts at (row, column), inner index from k to k_end. */
static void block_multiply(const double *a, const double *b, double *c, int n, int row, int row_end,
                           int column, int column_end, int k, int k_end)
{
    for (int i = row; i < row_end; i++)
        for (int l = k; l < k_end; l++) {
            double factor = a[(size_t)i * (size_t)n + (size_t)l];
            const double *from = b + (size_t)l * (size_t)n;
            double *to = c + (size_t)i * (size_t)n;
#pragma omp simd
            for (int j = column; j < column_end; j++)
                to[j] += factor * from[j];
        }
}
#pragma omp end declare target

/* `rows` rows of C on one device. */
static void panel_multiply(int device, const double *a, const double *b, double *c, int n, int rows,
                           int block)
{
    size_t panel = (size_t)rows * (size_t)n, whole = (size_t)n * (size_t)n;
    /* clang-format off */
#pragma omp target parallel for collapse(2) schedule(dynamic) device(device) \
    map(to : a[:panel], b[:whole]) map(tofrom : c[:panel])
    /* clang-format on */
    for (int i = 0; i < rows; i += block)
        for (int j = 0; j < n; j += block)
            for (int k = 0; k < n; k += block)
                block_multiply(a, b, c, n, i, i + block < rows ? i + block : rows, j,
                               j + block < n ? j + block : n, k, k + block < n ? k + block : n);
}

/* Entries at pseudo-random places, each against the dot product that defines it. */
static int count_wrong(const double *a, const double *b, const double *c, int n)
{
    int wrong = 0;
    unsigned seed = 1;
    for (int s = 0; s < SAMPLES; s++) {
        seed = seed * 1664525u + 1013904223u;
        size_t row = (seed >> 8) % (unsigned)n;
        seed = seed * 1664525u + 1013904223u;
        size_t column = (seed >> 8) % (unsigned)n;
        double sum = 0.0;
        for (size_t k = 0; k < (size_t)n; k++)
            sum += a[row * (size_t)n + k] * b[k * (size_t)n + column];
        wrong += c[row * (size_t)n + column] != sum;
    }
    return wrong;
}

/* The sum of all entries of A * B, from the column sums of A and the row sums of B. */
static double product_sum(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (size_t k = 0; k < (size_t)n; k++) {
        double column = 0.0, row = 0.0;
        for (size_t i = 0; i < (size_t)n; i++) {
            column += a[i * (size_t)n + k];
            row += b[k * (size_t)n + i];
        }
        sum += column * row;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 768;
    int block = argc > 2 ? atoi(argv[2]) : 64;
    int devices = smaller(omp_get_num_devices(), n);
    if (n < 1 || block < 1 || devices < 1) {
        fprintf(stderr, omp_get_num_devices() ? "usage: matmul [N [BLOCK]]\n"
                                              : "matmul: there is no device\n");
        return 1;
    }
    size_t entries = (size_t)n * (size_t)n;
    double *a = malloc(entries * sizeof *a), *b = malloc(entries * sizeof *b);
    double *c = calloc(entries, sizeof *c);
    if (!a || !b || !c) {
        fprintf(stderr, "matmul: no memory for three matrices of order %d\n", n);
        return 1;
    }
    for (size_t i = 0; i < entries; i++) {
        a[i] = (double)(i * 7 % 11) - 4.0;
        b[i] = (double)(i * 5 % 13) - 5.0;
    }

    double start = omp_get_wtime();
    /* One host thread per device: it waits for its panel and does nothing else. */
#pragma omp parallel for num_threads(devices) schedule(static, 1)
    for (int d = 0; d < devices; d++) {
        int first = (int)((long)n * d / devices);
        int rows = (int)((long)n * (d + 1) / devices) - first;
        size_t offset = (size_t)first * (size_t)n;
        panel_multiply(d, a + offset, b, c + offset, n, rows, block);
    }
    double seconds = omp_get_wtime() - start;

    double sum = 0.0;
    for (size_t i = 0; i < entries; i++)
        sum += c[i];
    double expected = product_sum(a, b, n);
    int wrong = count_wrong(a, b, c, n);
    int failed = wrong != 0 || sum != expected;
    free(a);
    free(b);
    free(c);
    printf("matmul: order %d, blocks of %d, on %d devices in %.3f s, %.3g GFLOP/s\n", n, block,
           devices, seconds, 2e-9 * (double)n * (double)n * (double)n / seconds);
    printf("matmul: sum of all entries %.0f, expected %.0f; %d of %d sampled entries wrong: %s\n",
           sum, expected, wrong, SAMPLES, failed ? "FAILED" : "ok");
    return failed;
}
