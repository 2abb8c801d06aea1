/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * jacobi.c: heat spreads over a spotted plate with a hot upper edge. The rows are shared out among
 * all devices; each keeps its slab for the whole run, and only the rows at the seams travel,
 * straight from device to device (omp_target_memcpy). In every step the edge rows go first, so that
 * they are under way while the inner rows are computed. The host computes the same for comparison.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu jacobi.c -o jacobi -lm
 * Run:   omprma-run -n 4 ./jacobi [ROWS COLUMNS [STEPS [DEVICES]]]
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slab {
    int device;
    int first_row; /* of the whole plate that is this slab's row 1 */
    int rows;      /* its own; rows 0 and rows + 1 are copies of the neighbours' edges */
    int columns;
    double *now, *next; /* device memory, (rows + 2) * columns each */
} slab_t;

/* One step for the rows first, first + stride, ... up to last. */
static void slab_sweep(const slab_t *s, int first, int last, int stride)
{
    const double *now = s->now;
    double *next = s->next;
    int columns = s->columns;
#pragma omp target parallel for device(s->device) is_device_ptr(now, next)
    for (int r = first; r <= last; r += stride) {
        const double *mid = now + (size_t)r * (size_t)columns;
        double *out = next + (size_t)r * (size_t)columns;
        for (int c = 1; c < columns - 1; c++)
            out[c] = 0.25 * (mid[c - columns] + mid[c + columns] + mid[c - 1] + mid[c + 1]);
    }
}

/* Sum of the squares of the last step's changes. */
static double slab_change(const slab_t *s)
{
    const double *now = s->now, *next = s->next;
    size_t first = (size_t)s->columns, end = (size_t)(s->rows + 1) * (size_t)s->columns;
    double sum = 0.0;
#pragma omp target parallel for device(s->device) is_device_ptr(now, next) reduction(+ : sum)
    for (size_t i = first; i < end; i++)
        sum += (now[i] - next[i]) * (now[i] - next[i]);
    return sum;
}

/* Gives the new edge row of `from` to its neighbour: up or down by the order of the slabs. */
static void slab_send_edge(const slab_t *from, const slab_t *to)
{
    size_t row = (size_t)from->columns * sizeof(double);
    int down = from->first_row < to->first_row;
    size_t source = down ? (size_t)from->rows * row : row;
    size_t target = down ? 0 : (size_t)(to->rows + 1) * row;
    if (omp_target_memcpy(to->next, from->next, row, target, source, to->device, from->device)) {
        fprintf(stderr, "jacobi: device %d cannot copy to device %d\n", from->device, to->device);
        exit(1);
    }
}

static void step(slab_t *slabs, int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
        slab_sweep(&slabs[i], 1, slabs[i].rows, slabs[i].rows > 1 ? slabs[i].rows - 1 : 1);
    }
#pragma omp taskwait
    for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
        {
            if (i > 0)
                slab_send_edge(&slabs[i], &slabs[i - 1]);
            if (i < count - 1)
                slab_send_edge(&slabs[i], &slabs[i + 1]);
        }
#pragma omp task firstprivate(i)
        slab_sweep(&slabs[i], 2, slabs[i].rows - 1, 1);
    }
#pragma omp taskwait
    for (int i = 0; i < count; i++) {
        double *now = slabs[i].now;
        slabs[i].now = slabs[i].next;
        slabs[i].next = now;
    }
}

/* Cuts the plate's inner rows into slabs and puts them, with their seams, on the devices. */
static void slabs_create(slab_t *slabs, int count, double *plate, int rows, int columns)
{
    int host = omp_get_initial_device();
    for (int i = 0; i < count; i++) {
        slab_t *s = &slabs[i];
        s->device = i;
        s->first_row = 1 + (int)((long)(rows - 2) * i / count);
        s->rows = 1 + (int)((long)(rows - 2) * (i + 1) / count) - s->first_row;
        s->columns = columns;
        size_t bytes = (size_t)(s->rows + 2) * (size_t)columns * sizeof(double);
        size_t offset = (size_t)(s->first_row - 1) * (size_t)columns * sizeof(double);
        s->now = omp_target_alloc(bytes, i);
        s->next = omp_target_alloc(bytes, i);
        if (!s->now || !s->next || omp_target_memcpy(s->now, plate, bytes, 0, offset, i, host) ||
            omp_target_memcpy(s->next, plate, bytes, 0, offset, i, host)) {
            fprintf(stderr, "jacobi: device %d cannot hold %zu bytes twice\n", i, bytes);
            exit(1);
        }
    }
}

static void slabs_collect(slab_t *slabs, int count, double *plate)
{
    for (int i = 0; i < count; i++) {
        slab_t *s = &slabs[i];
        size_t row = (size_t)s->columns * sizeof(double);
        if (omp_target_memcpy(plate, s->now, (size_t)s->rows * row, (size_t)s->first_row * row, row,
                              omp_get_initial_device(), s->device))
            exit(1);
        omp_target_free(s->now, s->device);
        omp_target_free(s->next, s->device);
    }
}

static void host_steps(double **plate, double **spare, int rows, int columns, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int r = 1; r < rows - 1; r++) {
            const double *mid = *plate + (size_t)r * (size_t)columns;
            double *out = *spare + (size_t)r * (size_t)columns;
            for (int c = 1; c < columns - 1; c++)
                out[c] = 0.25 * (mid[c - columns] + mid[c + columns] + mid[c - 1] + mid[c + 1]);
        }
        double *swap = *plate;
        *plate = *spare;
        *spare = swap;
    }
}

int main(int argc, char **argv)
{
    int rows = argc > 2 ? atoi(argv[1]) : 1024, columns = argc > 2 ? atoi(argv[2]) : 1024;
    int steps = argc > 3 ? atoi(argv[3]) : 200;
    int count = argc > 4 ? atoi(argv[4]) : omp_get_num_devices();
    if (rows < 3 || columns < 3 || steps < 1 || count < 1 || count > omp_get_num_devices()) {
        fprintf(stderr, "usage: jacobi [ROWS COLUMNS [STEPS [DEVICES]]], there are %d devices\n",
                omp_get_num_devices());
        return 1;
    }
    if (count > rows - 2)
        count = rows - 2;
    size_t points = (size_t)rows * (size_t)columns;
    double *plate = calloc(points, sizeof *plate);
    double *expected = malloc(points * sizeof *expected), *spare = malloc(points * sizeof *spare);
    slab_t *slabs = calloc((size_t)count, sizeof *slabs);
    if (!plate || !expected || !spare || !slabs) {
        fprintf(stderr, "jacobi: no memory for %dx%d points\n", rows, columns);
        exit(1);
    }
    for (size_t i = 0; i < points; i++) /* warmth everywhere, so that a lost seam shows */
        plate[i] = i < (size_t)columns ? 100.0 : (double)(i * 7919 % 101);
    memcpy(expected, plate, points * sizeof *plate);
    memcpy(spare, plate, points * sizeof *plate);

    slabs_create(slabs, count, plate, rows, columns);
    double start = omp_get_wtime();
    /* Two threads per device: one waits for the inner rows, the other moves the seams. Where cores
     * are few, threads that look for work would only take them from the others. */
    int threads = 2 * count <= omp_get_num_procs() ? 2 * count : count;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int t = 0; t < steps; t++)
        step(slabs, count);
    double seconds = omp_get_wtime() - start;
    double change = 0.0;
    for (int i = 0; i < count; i++)
        change += slab_change(&slabs[i]);
    slabs_collect(slabs, count, plate);

    host_steps(&expected, &spare, rows, columns, steps);
    double worst = 0.0;
    for (size_t i = 0; i < points; i++)
        worst = fmax(worst, fabs(plate[i] - expected[i]));
    int failed = !(worst < 1e-9);
    printf("jacobi: %dx%d, %d steps on %d devices in %.4f s, residual %.4g\n", rows, columns, steps,
           count, seconds, sqrt(change / (double)points));
    printf("jacobi: largest difference from the host %.3g: %s\n", worst, failed ? "FAILED" : "ok");
    free(plate);
    free(expected);
    free(spare);
    free(slabs);
    return failed;
}
