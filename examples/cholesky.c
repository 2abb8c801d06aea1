/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cholesky.c: tiled Cholesky factorisation, A = L * L^T, as a graph of tasks over all devices.
 * Tile rows are dealt out to the devices in turn and stay there. Each tile operation is a `target
 * nowait` whose depend clauses name the tiles it reads and writes; a finished tile is copied to the
 * host and from there to every other device, as tasks of the same graph. Nothing waits until the
 * whole graph is done. The host factorises the same matrix, without tiles, for comparison.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu cholesky.c -o cholesky -lm
 * Run:   omprma-run -n 4 ./cholesky [N [TILE]], where TILE divides N
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct matrix {
    int tiles; /* per row */
    int order; /* of one tile */
    int devices;
    double *data; /* tile after tile, row-major; below and on the diagonal only */
    char *copies; /* stands for the copy of a tile on a device (or the host) in depend clauses */
} matrix_t;

static double *tile(const matrix_t *m, int i, int j)
{
    return m->data + ((size_t)i * (size_t)m->tiles + (size_t)j) * (size_t)(m->order * m->order);
}

/* The copy of tile (i, j) on a device; device == m->devices means the host. */
static char *copy(const matrix_t *m, int device, int i, int j)
{
    return m->copies + ((size_t)device * (size_t)m->tiles + (size_t)i) * (size_t)m->tiles + j;
}

#pragma omp declare target
static double dot(const double *x, const double *y, int n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* a = its own lower factor. */
static void factor(double *a, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            a[i * n + j] = (a[i * n + j] - dot(a + i * n, a + j * n, j)) / a[j * n + j];
        a[i * n + i] = sqrt(a[i * n + i] - dot(a + i * n, a + i * n, i));
    }
}

/* a = a * l^-T, with l lower triangular. */
static void solve(double *a, const double *l, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = (a[i * n + j] - dot(a + i * n, l + j * n, j)) / l[j * n + j];
}

/* c = c - a * b^T. */
static void update(double *c, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] -= dot(a + i * n, b + j * n, n);
}
#pragma omp end declare target

/* The finished tile goes to the host, and on to the devices whose rows still need it. */
static void publish(const matrix_t *m, int i, int j)
{
    double *t = tile(m, i, j);
    int size = m->order * m->order, owner = i % m->devices;
    char *own = copy(m, owner, i, j), *host = copy(m, m->devices, i, j);
#pragma omp target update from(t[:size]) device(owner) nowait depend(in : *own) depend(out : *host)
    for (int d = 0; d < m->devices && i + 1 < m->tiles; d++) {
        if (d == owner)
            continue;
        char *other = copy(m, d, i, j);
        /* clang-format off */
#pragma omp target enter data map(to : t[:size]) device(d) nowait \
    depend(in : *host) depend(out : *other)
        /* clang-format on */
    }
}

static void factorise(const matrix_t *m)
{
    int n = m->order, size = n * n;
    for (int k = 0; k < m->tiles; k++) {
        int top = k % m->devices;
        double *kk = tile(m, k, k);
        char *kk_own = copy(m, top, k, k);
#pragma omp target device(top) map(tofrom : kk[:size]) nowait depend(inout : *kk_own)
        factor(kk, n);
        publish(m, k, k);
        for (int i = k + 1; i < m->tiles; i++) {
            int owner = i % m->devices;
            double *ik = tile(m, i, k);
            char *ik_own = copy(m, owner, i, k), *kk_here = copy(m, owner, k, k);
            /* clang-format off */
#pragma omp target device(owner) map(tofrom : ik[:size]) map(to : kk[:size]) nowait \
    depend(in : *kk_here) depend(inout : *ik_own)
            /* clang-format on */
            solve(ik, kk, n);
            publish(m, i, k);
            for (int j = k + 1; j <= i; j++) {
                double *ij = tile(m, i, j), *jk = tile(m, j, k);
                char *ij_own = copy(m, owner, i, j), *jk_here = copy(m, owner, j, k);
                /* clang-format off */
#pragma omp target device(owner) map(tofrom : ij[:size]) map(to : ik[:size], jk[:size]) nowait \
    depend(in : *ik_own, *jk_here) depend(inout : *ij_own)
                /* clang-format on */
                update(ij, ik, jk, n);
            }
        }
    }
#pragma omp taskwait
}

/* Every tile to the owner of its row; maps inside factorise() then find them there. */
static void distribute(const matrix_t *m)
{
    int size = m->order * m->order;
    for (int i = 0; i < m->tiles; i++)
        for (int j = 0; j <= i; j++) {
            double *t = tile(m, i, j);
            char *own = copy(m, i % m->devices, i, j);
#pragma omp target enter data map(to : t[:size]) device(i % m->devices) nowait depend(out : *own)
        }
}

static void release(const matrix_t *m)
{
    int size = m->order * m->order;
    for (int d = 0; d < m->devices; d++)
        for (int i = 0; i < m->tiles; i++)
            for (int j = 0; j <= i; j++) {
                double *t = tile(m, i, j);
#pragma omp target exit data map(delete : t[:size]) device(d)
            }
}

/* Symmetric; the heavy diagonal makes it positive definite. */
static double entry(int i, int j, int n)
{
    return i == j ? n : 1.0 / (1.0 + abs(i - j)) + ((i * j) % 7) / 7.0;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    int order = argc > 2 ? atoi(argv[2]) : 128;
    int devices = omp_get_num_devices();
    if (n < 1 || order < 1 || n % order != 0 || devices < 1) {
        fprintf(stderr, devices ? "usage: cholesky [N [TILE]], TILE divides N\n"
                                : "cholesky: there is no device\n");
        return 1;
    }
    matrix_t m = {.tiles = n / order, .order = order, .devices = devices};
    size_t entries = (size_t)n * (size_t)n;
    m.data = malloc(entries * sizeof *m.data);
    m.copies = malloc((size_t)(devices + 1) * (size_t)m.tiles * (size_t)m.tiles);
    double *expected = malloc(entries * sizeof *expected);
    if (!m.data || !m.copies || !expected) {
        fprintf(stderr, "cholesky: no memory for order %d\n", n);
        exit(1);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            tile(&m, i / order, j / order)[i % order * order + j % order] = entry(i, j, n);
            expected[(size_t)i * (size_t)n + (size_t)j] = entry(i, j, n);
        }

    double start = omp_get_wtime();
    distribute(&m);
    factorise(&m);
    double seconds = omp_get_wtime() - start;
    release(&m);

    factor(expected, n);
    double worst = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            worst = fmax(worst, fabs(tile(&m, i / order, j / order)[i % order * order + j % order] -
                                     expected[(size_t)i * (size_t)n + (size_t)j]));
    int failed = !(worst < 1e-9 * n);
    printf("cholesky: order %d, tiles of %d, on %d devices in %.3f s, %.3g GFLOP/s\n", n, order,
           devices, seconds, 1e-9 / 3.0 * (double)n * (double)n * (double)n / seconds);
    printf("cholesky: largest difference from the host %.3g: %s\n", worst,
           failed ? "FAILED" : "ok");
    free(m.data);
    free(m.copies);
    free(expected);
    return failed;
}
