/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * montecarlo.c: the shape of a neutron transport code's hottest loop. Each device holds a large
 * read-only table (the energy grid of all nuclides merged into one, with an index into every
 * nuclide's own grid) and looks up cross sections for many random particles; a few numbers come
 * back. Strong scaling: the same number of lookups on 1, 2, ... devices. Weak scaling: the same
 * number per device. A lookup depends on its number alone, so every split must count the same, and
 * the host repeats a part to compare.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu montecarlo.c -o montecarlo -lm
 * Run:   omprma-run -n 4 ./montecarlo [LOOKUPS [NUCLIDES [GRIDPOINTS [DEVICES]]]]
 *
 * Lines that start with RESULT are for scripts: RESULT montecarlo CASE VALUE UNIT.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHANNELS = 5, MATERIALS = 8, REPEATS = 3, HOST_SHARE = 16 };

#pragma omp declare target
typedef struct point {
    double energy;
    double section[CHANNELS];
} point_t;

/* The table's arrays stand side by side, so that each can be mapped by itself. */
typedef struct table {
    int nuclides;
    int gridpoints;         /* per nuclide */
    int64_t unionpoints;    /* nuclides * gridpoints */
    const point_t *points;  /* [nuclides][gridpoints], energies ascending, first 0, last 1 */
    const double *energies; /* [unionpoints], ascending */
    const int32_t *index;   /* [unionpoints][nuclides]: last own point at or below the energy */
} table_t;

/* How often each channel had the largest cross section. */
typedef struct counts {
    int64_t n[CHANNELS];
} counts_t;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static double uniform(uint64_t x)
{
    return (double)(mix(x) >> 11) * 0x1p-53;
}

/* Adds up the channels of all nuclides of the particle's material; returns the largest channel. */
static int lookup(const table_t *t, int64_t number)
{
    double energy = uniform((uint64_t)number * 2 + 1);
    int material = (int)(mix((uint64_t)number * 2 + 2) % MATERIALS);
    int64_t low = 0, high = t->unionpoints - 1;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (t->energies[middle] > energy)
            high = middle;
        else
            low = middle;
    }
    const int32_t *index = t->index + low * t->nuclides;
    double sum[CHANNELS] = {0.0};
    for (int k = material % t->nuclides; k < t->nuclides; k += 1 + material) {
        int at = index[k] < t->gridpoints - 1 ? index[k] : t->gridpoints - 2;
        const point_t *p = t->points + (int64_t)k * t->gridpoints + at;
        double f = (energy - p[0].energy) / (p[1].energy - p[0].energy);
        for (int c = 0; c < CHANNELS; c++)
            sum[c] += p[0].section[c] + f * (p[1].section[c] - p[0].section[c]);
    }
    int largest = 0;
    for (int c = 1; c < CHANNELS; c++)
        if (sum[c] > sum[largest])
            largest = c;
    return largest;
}
#pragma omp end declare target

static counts_t run_on_device(int device, const table_t *t, int64_t first, int64_t end)
{
    const point_t *points = t->points;
    const double *energies = t->energies;
    const int32_t *index = t->index;
    int nuclides = t->nuclides, gridpoints = t->gridpoints;
    int64_t n = t->unionpoints;
    int64_t a = 0, b = 0, c = 0, d = 0, e = 0;
    /* clang-format off */
#pragma omp target parallel for device(device) reduction(+ : a, b, c, d, e) \
    map(to : points[:n], energies[:n], index[:n * nuclides])
    /* clang-format on */
    for (int64_t i = first; i < end; i++) {
        table_t here = {nuclides, gridpoints, n, points, energies, index};
        int channel = lookup(&here, i);
        a += channel == 0;
        b += channel == 1;
        c += channel == 2;
        d += channel == 3;
        e += channel == 4;
    }
    return (counts_t){{a, b, c, d, e}};
}

/* All lookups up to `lookups` on the first `devices` devices, one host thread for each. */
static double run(const table_t *t, int devices, int64_t lookups, counts_t *total)
{
    counts_t each[devices];
    double start = omp_get_wtime();
#pragma omp parallel for num_threads(devices) schedule(static, 1)
    for (int d = 0; d < devices; d++)
        each[d] = run_on_device(d, t, lookups * d / devices, lookups * (d + 1) / devices);
    double seconds = omp_get_wtime() - start;
    *total = (counts_t){{0}};
    for (int d = 0; d < devices; d++)
        for (int c = 0; c < CHANNELS; c++)
            total->n[c] += each[d].n[c];
    return seconds;
}

static int counts_equal(const counts_t *x, const counts_t *y)
{
    for (int c = 0; c < CHANNELS; c++)
        if (x->n[c] != y->n[c])
            return 0;
    return 1;
}

/* Best of a few runs for 1 to `devices` devices; returns how many of them counted wrongly. */
static int scale(const table_t *t, const char *name, int devices, int64_t lookups, int weak)
{
    int wrong = 0;
    for (int d = 1; d <= devices; d++) {
        int64_t amount = weak ? lookups * d : lookups;
        double best = INFINITY;
        counts_t expected = {{0}}, counts;
        for (int r = 0; r < REPEATS; r++) {
            best = fmin(best, run(t, d, amount, &counts));
            int64_t sum = 0;
            for (int c = 0; c < CHANNELS; c++)
                sum += counts.n[c];
            if (r == 0)
                expected = counts;
            wrong += sum != amount || !counts_equal(&counts, &expected);
        }
        printf("RESULT montecarlo %s-%d %.4g lookups/s\n", name, d, (double)amount / best);
    }
    return wrong;
}

/* The host does the first lookups itself; the devices must count the same, however many share. */
static int verify(const table_t *t, int devices, int64_t lookups)
{
    counts_t expected = {{0}}, counts;
    for (int64_t i = 0; i < lookups; i++)
        expected.n[lookup(t, i)]++;
    int wrong = 0;
    for (int d = 1; d <= devices; d++) {
        run(t, d, lookups, &counts);
        wrong += !counts_equal(&counts, &expected);
    }
    return wrong;
}

typedef struct origin {
    double energy;
    int32_t nuclide, point;
} origin_t;

static int compare(const void *x, const void *y)
{
    double a = ((const origin_t *)x)->energy, b = ((const origin_t *)y)->energy;
    return (a > b) - (a < b);
}

/* Fills a table: sorts all nuclides' energies together and notes each nuclide's place. */
static void table_fill(const table_t *t, point_t *points, double *energies, int32_t *index,
                       origin_t *order, int32_t *place)
{
    for (int k = 0; k < t->nuclides; k++)
        for (int g = 0; g < t->gridpoints; g++) {
            int64_t at = (int64_t)k * t->gridpoints + g;
            /* Evenly spaced with a jitter below the spacing: ascending without a sort. */
            double jitter = g > 0 && g < t->gridpoints - 1 ? 0.9 * uniform(~(uint64_t)at) : 0.0;
            points[at].energy = (g + jitter) / (t->gridpoints - 1);
            for (int c = 0; c < CHANNELS; c++)
                points[at].section[c] = uniform((uint64_t)(at * CHANNELS + c) << 20);
            order[at] = (origin_t){points[at].energy, k, g};
        }
    qsort(order, (size_t)t->unionpoints, sizeof *order, compare);
    for (int k = 0; k < t->nuclides; k++)
        place[k] = 0;
    for (int64_t u = 0; u < t->unionpoints; u++) {
        energies[u] = order[u].energy;
        place[order[u].nuclide] = order[u].point;
        for (int k = 0; k < t->nuclides; k++)
            index[u * t->nuclides + k] = place[k];
    }
}

int main(int argc, char **argv)
{
    int64_t lookups = argc > 1 ? strtoll(argv[1], NULL, 10) : 500000;
    table_t t = {.nuclides = argc > 2 ? atoi(argv[2]) : 64,
                 .gridpoints = argc > 3 ? atoi(argv[3]) : 2048};
    int devices = argc > 4 ? atoi(argv[4]) : omp_get_num_devices();
    if (lookups < 1 || t.nuclides < 1 || t.gridpoints < 2 || devices < 1 ||
        devices > omp_get_num_devices()) {
        fprintf(stderr,
                "usage: montecarlo [LOOKUPS [NUCLIDES [GRIDPOINTS [DEVICES]]]], "
                "there are %d devices\n",
                omp_get_num_devices());
        return 1;
    }
    t.unionpoints = (int64_t)t.nuclides * t.gridpoints;
    size_t n = (size_t)t.unionpoints, entries = n * (size_t)t.nuclides;
    point_t *points = malloc(n * sizeof *points);
    double *energies = malloc(n * sizeof *energies);
    int32_t *index = malloc(entries * sizeof *index);
    origin_t *order = malloc(n * sizeof *order);
    int32_t *place = malloc((size_t)t.nuclides * sizeof *place);
    if (!points || !energies || !index || !order || !place) {
        fprintf(stderr, "montecarlo: no memory for %d nuclides, %d points each\n", t.nuclides,
                t.gridpoints);
        exit(1);
    }
    table_fill(&t, points, energies, index, order, place);
    free(order);
    free(place);
    t.points = points;
    t.energies = energies;
    t.index = index;
    double mib =
        (double)(n * (sizeof *points + sizeof *energies) + entries * sizeof *index) / 0x1p20;
    printf("montecarlo: %lld lookups in a table of %.0f MiB, %d devices\n", (long long)lookups, mib,
           devices);

    double start = omp_get_wtime();
    for (int d = 0; d < devices; d++) {
#pragma omp target enter data device(d) map(to : points[:n], energies[:n], index[:entries])
    }
    double seconds = omp_get_wtime() - start;
    printf("RESULT montecarlo table-to-all-devices %.4g GB/s\n",
           1e-9 * 0x1p20 * mib * devices / seconds);
    int wrong = verify(&t, devices, lookups / HOST_SHARE + 1);
    wrong += scale(&t, "strong", devices, lookups, 0);
    wrong += scale(&t, "weak", devices, lookups, 1);
    for (int d = 0; d < devices; d++) {
#pragma omp target exit data device(d) map(delete : points[:n], energies[:n], index[:entries])
    }
    printf("montecarlo: %d of %d runs counted wrongly: %s\n", wrong, devices * (1 + 2 * REPEATS),
           wrong ? "FAILED" : "ok");
    free(points);
    free(energies);
    free(index);
    return wrong != 0;
}
