/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* every_call.c: what every_call.sh runs on two workers: maps, regions, updates and exchanges, of
 * small data and of large. Says "right" when it ends, "wrong" when a value is. */
#include <omp.h>
#include <stdio.h>

enum { SMALL = 100, LARGE = 100000, ROUNDS = 2, DEVICES = 2 };

static double small[DEVICES][SMALL], large[DEVICES][LARGE];

static int wrong(const char *what, double got, double wanted)
{
    if (got != wanted)
        printf("wrong: %s is %g instead of %g\n", what, got, wanted);
    return got != wanted;
}

static void add(int device, double value)
{
    double *few = small[device], *many = large[device];
#pragma omp target device(device) map(tofrom : few[:SMALL], many[:LARGE]) nowait
    {
        for (int i = 0; i < SMALL; i++)
            few[i] += value;
        for (int i = 0; i < LARGE; i++)
            many[i] += value;
    }
}

/* Both devices keep their data, compute, give it to the host and get it anew. */
static int update(void)
{
    int bad = 0;
    for (int device = 0; device < DEVICES; device++) {
        double *few = small[device], *many = large[device];
#pragma omp target enter data device(device) map(to : few[:SMALL], many[:LARGE])
    }
    for (int device = 0; device < DEVICES; device++)
        add(device, 1);
#pragma omp taskwait
    for (int device = 0; device < DEVICES; device++) {
        double *few = small[device], *many = large[device];
#pragma omp target update device(device) from(few[:SMALL], many[:LARGE])
        bad += wrong("the last that was updated", many[LARGE - 1], 1);
        bad += wrong("the last of few that was updated", few[SMALL - 1], 1);
        many[LARGE - 1] = few[SMALL - 1] = 10;
#pragma omp target update device(device) to(few[:SMALL], many[:LARGE])
        add(device, 1);
    }
#pragma omp taskwait
    for (int device = 0; device < DEVICES; device++) {
        double *few = small[device], *many = large[device];
#pragma omp target exit data device(device) map(from : few[:SMALL], many[:LARGE])
        bad += wrong("the first", many[0], 2);
        bad += wrong("the last", many[LARGE - 1], 11);
        bad += wrong("the last of few", few[SMALL - 1], 11);
        for (int i = 0; i < SMALL; i++)
            few[i] = 0;
        for (int i = 0; i < LARGE; i++)
            many[i] = 0;
    }
    return bad;
}

static int exchange(size_t count)
{
    static double from[LARGE], back[LARGE];
    int host = omp_get_initial_device(), failed = 0, bad = 0;
    double *at[DEVICES];
    for (size_t i = 0; i < count; i++)
        from[i] = (double)i;
    for (int device = 0; device < DEVICES; device++)
        at[device] = omp_target_alloc(count * sizeof(double), device);
    if (!at[0] || !at[1])
        return 1;
    failed |= omp_target_memcpy(at[0], from, count * sizeof(double), 0, 0, 0, host);
    failed |= omp_target_memcpy(at[1], at[0], count * sizeof(double), 0, 0, 1, 0);
    failed |= omp_target_memcpy(back, at[1], count * sizeof(double), 0, 0, host, 1);
    for (size_t i = 0; i < count && !failed && !bad; i++)
        bad = wrong("what was exchanged", back[i], (double)i);
    for (int device = 0; device < DEVICES; device++)
        omp_target_free(at[device], device);
    return bad || failed;
}

int main(void)
{
    int bad = 0;
    if (omp_get_num_devices() != DEVICES)
        return 4;
    for (int round = 0; round < ROUNDS && !bad; round++)
        bad = update() || exchange(SMALL) || exchange(LARGE);
    if (!bad)
        printf("right\n");
    return bad;
}
