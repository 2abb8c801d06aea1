/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kills.c: what kills.sh kills. Regions with small and large data on all devices, and copies
 * between them, for about as many seconds as it is told; then "right", or "wrong" and what. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SMALL = 100, LARGE = 200000, DEVICES_MOST = 16 };

static double small[DEVICES_MOST][SMALL], large[DEVICES_MOST][LARGE];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int check(const char *what, int device, double got, double wanted)
{
    if (got != wanted)
        printf("wrong: %s of device %d is %.0f instead of %.0f\n", what, device, got, wanted);
    return got != wanted;
}

/* One round adds 1 to each element, here by regions, and on each device's copy of the ring. */
static int round_of(int devices, int round, double *ring[])
{
    int wrong = 0;
    for (int device = 0; device < devices; device++) {
        double *part = small[device], *block = large[device];
#pragma omp target teams distribute parallel for nowait device(device) map(tofrom : part[:SMALL])
        for (int i = 0; i < SMALL; i++)
            part[i] += 1;
#pragma omp target device(device) map(tofrom : block[:LARGE])
        for (int i = 0; i < LARGE; i++)
            block[i] += 1;
    }
#pragma omp taskwait
    for (int device = 0; device < devices; device++) {
        int next = (device + 1) % devices;
        double *own = ring[device];
#pragma omp target device(device) is_device_ptr(own)
        own[0] = own[LARGE - 1] = round * devices + device;
        if (omp_target_memcpy(ring[next] + LARGE, own, LARGE * sizeof(double), 0, 0, next, device))
            return 1; /* omprma has said why */
    }
    for (int device = 0; device < devices; device++) {
        double ends[2];
        double *own = ring[device];
#pragma omp target device(device) is_device_ptr(own) map(from : ends)
        ends[0] = own[LARGE], ends[1] = own[2 * LARGE - 1];
        int from = round * devices + (device + devices - 1) % devices;
        wrong += check("the first of the ring", device, ends[0], from);
        wrong += check("the last of the ring", device, ends[1], from);
        wrong += check("a small array", device, small[device][round % SMALL], round + 1);
        wrong += check("a large array", device, large[device][LARGE - 1], round + 1);
    }
    return wrong;
}

int main(int count, char **words)
{
    double end = now() + (count > 1 ? atof(words[1]) : 1);
    int devices = omp_get_num_devices();
    double *ring[DEVICES_MOST];
    if (devices > DEVICES_MOST)
        devices = DEVICES_MOST;
    for (int device = 0; device < devices; device++)
        ring[device] = omp_target_alloc(2 * LARGE * sizeof(double), device);
    for (int round = 0; now() < end; round++) {
        if (round == 1)
            puts("ready"), fflush(stdout);
        if (round_of(devices, round, ring))
            return 3;
    }
    for (int device = 0; device < devices; device++)
        omp_target_free(ring[device], device);
    puts("right");
    return 0;
}
