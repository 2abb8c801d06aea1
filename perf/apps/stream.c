/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.c: what a device's memory and the way to it can carry. Five loops (copy, scale, add,
 * triad, dot) run once over data that stays on the device, which measures launches and the device's
 * memory, and once over data that is mapped for every single loop, which measures the transfers.
 * Checks the values at the end.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu stream.c -o stream -lm
 * Run:   omprma-run -n 1 ./stream [MIB_PER_ARRAY [REPEATS [DEVICE]]]
 *
 * Lines that start with RESULT are for scripts: RESULT stream CASE VALUE UNIT. One GB is 1e9 bytes,
 * counted as the loop's own reads and writes (resident) or as the bytes moved (mapped); the value
 * is the median of the repeats.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY, SCALE, ADD, TRIAD, DOT, LOOPS, MAX_REPEATS = 1000 };

static const struct loop {
    const char *name;
    int touched; /* arrays that the loop reads or writes */
} loops[LOOPS] = {{"copy", 2}, {"scale", 2}, {"add", 3}, {"triad", 3}, {"dot", 2}};

static const double FACTOR = 0.4;

typedef struct arrays {
    double *a, *b, *c;
    size_t n;
    int device;
    double sum; /* of the last dot */
} arrays_t;

/*
 * The maps find resident data on the device and then move nothing; other data they move both ways.
 * `to` and `from` name exactly what each loop reads and writes.
 */
static void run_copy(const arrays_t *v)
{
    const double *a = v->a;
    double *c = v->c;
    size_t n = v->n;
    int d = v->device;
#pragma omp target teams distribute parallel for device(d) map(to : a[:n]) map(from : c[:n])
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
}

static void run_scale(const arrays_t *v)
{
    const double *c = v->c;
    double *b = v->b, factor = FACTOR;
    size_t n = v->n;
    int d = v->device;
#pragma omp target teams distribute parallel for device(d) map(to : c[:n]) map(from : b[:n])
    for (size_t i = 0; i < n; i++)
        b[i] = factor * c[i];
}

static void run_add(const arrays_t *v)
{
    const double *a = v->a, *b = v->b;
    double *c = v->c;
    size_t n = v->n;
    int d = v->device;
#pragma omp target teams distribute parallel for device(d) map(to : a[:n], b[:n]) map(from : c[:n])
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

static void run_triad(const arrays_t *v)
{
    const double *b = v->b, *c = v->c;
    double *a = v->a, factor = FACTOR;
    size_t n = v->n;
    int d = v->device;
#pragma omp target teams distribute parallel for device(d) map(to : b[:n], c[:n]) map(from : a[:n])
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + factor * c[i];
}

static double run_dot(const arrays_t *v)
{
    const double *a = v->a, *b = v->b;
    double sum = 0.0;
    size_t n = v->n;
    int d = v->device;
#pragma omp target teams distribute parallel for device(d) map(to : a[:n], b[:n]) reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double time_loop(arrays_t *v, int loop)
{
    double start = omp_get_wtime();
    switch (loop) {
    case COPY:
        run_copy(v);
        break;
    case SCALE:
        run_scale(v);
        break;
    case ADD:
        run_add(v);
        break;
    case TRIAD:
        run_triad(v);
        break;
    default:
        v->sum = run_dot(v);
        break;
    }
    return omp_get_wtime() - start;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Runs all loops `repeats` times and prints one line per loop; the first pass is not counted. */
static void measure(arrays_t *v, int repeats, const char *name)
{
    static double seconds[LOOPS][MAX_REPEATS + 1];
    for (int r = 0; r <= repeats; r++)
        for (int l = 0; l < LOOPS; l++)
            seconds[l][r] = time_loop(v, l);
    for (int l = 0; l < LOOPS; l++) {
        qsort(seconds[l] + 1, (size_t)repeats, sizeof(double), compare);
        double median = seconds[l][1 + repeats / 2];
        double bytes = (double)loops[l].touched * (double)v->n * sizeof(double);
        printf("RESULT stream %s-%s %.4g GB/s\n", name, loops[l].name, 1e-9 * bytes / median);
    }
}

/* The same arithmetic on one element tells what all of them must be. */
static int verify(const arrays_t *v, int passes)
{
    double a = 1.0, b = 2.0, c = 0.0;
    for (int p = 0; p < passes; p++) {
        c = a;
        b = FACTOR * c;
        c = a + b;
        a = b + FACTOR * c;
    }
    double worst = fabs(v->sum / ((double)v->n * a * b) - 1.0);
    for (size_t i = 0; i < v->n; i++) {
        worst = fmax(worst, fabs(v->a[i] / a - 1.0));
        worst = fmax(worst, fabs(v->b[i] / b - 1.0));
        worst = fmax(worst, fabs(v->c[i] / c - 1.0));
    }
    int failed = !(worst < 1e-8);
    printf("stream: largest relative error %.3g: %s\n", worst, failed ? "FAILED" : "ok");
    return failed;
}

int main(int argc, char **argv)
{
    int mib = argc > 1 ? atoi(argv[1]) : 32, repeats = argc > 2 ? atoi(argv[2]) : 11;
    arrays_t v = {.device = argc > 3 ? atoi(argv[3]) : 0};
    if (mib < 1 || repeats < 1 || repeats > MAX_REPEATS || v.device < 0 ||
        v.device >= omp_get_num_devices()) {
        fprintf(stderr,
                "usage: stream [MIB_PER_ARRAY [REPEATS [DEVICE]]], up to %d repeats; "
                "devices: %d\n",
                MAX_REPEATS, omp_get_num_devices());
        return 1;
    }
    v.n = (size_t)mib << 17;
    v.a = malloc(v.n * sizeof(double));
    v.b = malloc(v.n * sizeof(double));
    v.c = malloc(v.n * sizeof(double));
    if (!v.a || !v.b || !v.c) {
        fprintf(stderr, "stream: no memory for three arrays of %d MiB\n", mib);
        exit(1);
    }
    for (size_t i = 0; i < v.n; i++) {
        v.a[i] = 1.0;
        v.b[i] = 2.0;
        v.c[i] = 0.0;
    }

    printf("stream: three arrays of %d MiB on device %d, %d repeats\n", mib, v.device, repeats);
    double *a = v.a, *b = v.b, *c = v.c;
    size_t n = v.n;
#pragma omp target data device(v.device) map(tofrom : a[:n], b[:n], c[:n])
    measure(&v, repeats, "resident");
    measure(&v, repeats, "mapped");
    int failed = verify(&v, 2 * (repeats + 1));
    free(v.a);
    free(v.b);
    free(v.c);
    return failed;
}
