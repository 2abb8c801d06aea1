/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * nowait.c: many small regions in flight. Each maps one number and adds to it; K of them are issued
 * as `target nowait` over all devices in turn, then all are waited for. `alone`: every region has a
 * number of its own. `chain`: CHAINS chains, held together by depend. `waited`: the same region
 * without nowait, to compare with. Also says how much memory the processes have used by then.
 * Checks every number.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu nowait.c -o nowait
 * Run:   omprma-run -n 2 ./nowait [LARGEST_K [REPEATS [DEVICES]]]
 *
 * Lines that start with RESULT are for scripts: RESULT nowait CASE VALUE UNIT. Times are per
 * region, the median of the repeats; memory is the most that was resident at once (VmHWM), that of
 * the workers is the largest worker's. On the local plugin the devices are the program itself.
 */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHAINS = 16, LARGEST = 100000, MOST_REPEATS = 101 };

static long numbers[LARGEST], wanted[LARGEST];

static void run_alone(int count, int devices)
{
    for (int i = 0; i < count; i++) {
        long *x = &numbers[i];
#pragma omp target nowait map(tofrom : x [0:1]) device(i % devices) firstprivate(i)
        x[0] += i;
        wanted[i] += i;
    }
#pragma omp taskwait
}

static void run_chain(int count, int devices)
{
    for (int i = 0; i < count; i++) {
        long *x = &numbers[i % CHAINS];
        /* clang-format off */
#pragma omp target nowait map(tofrom : x[0:1]) device(i % devices) depend(inout : x[0]) firstprivate(i)
        /* clang-format on */
        x[0] = x[0] * 3 + i;
        wanted[i % CHAINS] = wanted[i % CHAINS] * 3 + i;
    }
#pragma omp taskwait
}

static void run_waited(int count, int devices)
{
    for (int i = 0; i < count; i++) {
        long *x = &numbers[i];
#pragma omp target map(tofrom : x [0:1]) device(i % devices) firstprivate(i)
        x[0] += i;
        wanted[i] += i;
    }
}

#pragma omp declare target
/* The most memory, in KiB, that this process has had resident at once. */
static long peak_kib(void)
{
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY);
    ssize_t bytes = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *line = strstr(text, "VmHWM:");
    return line ? strtol(line + strlen("VmHWM:"), NULL, 10) : 0;
}
#pragma omp end declare target

static void print_memory(int count, int devices)
{
    long largest = 0;
    for (int d = 0; d < devices; d++) {
        long kib = 0;
#pragma omp target map(from : kib) device(d)
        kib = peak_kib();
        largest = kib > largest ? kib : largest;
    }
    printf("RESULT nowait memory-%d %.1f MiB\n", count, (double)peak_kib() / 1024);
    printf("RESULT nowait worker-memory-%d %.1f MiB\n", count, (double)largest / 1024);
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

typedef void run_t(int count, int devices);

static void measure(const char *name, run_t *run, int count, int devices, int repeats)
{
    double us[MOST_REPEATS];
    for (int r = 0; r < repeats; r++) {
        double start = omp_get_wtime();
        run(count, devices);
        us[r] = (omp_get_wtime() - start) * 1e6 / count;
    }
    qsort(us, (size_t)repeats, sizeof us[0], compare);
    printf("RESULT nowait %s-%d %.4g us\n", name, count, us[repeats / 2]);
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 10000, repeats = argc > 2 ? atoi(argv[2]) : 3;
    int devices = argc > 3 ? atoi(argv[3]) : omp_get_num_devices();
    if (largest < 10 || largest > LARGEST || repeats < 1 || repeats > MOST_REPEATS || devices < 1 ||
        devices > omp_get_num_devices()) {
        fprintf(stderr,
                "usage: nowait [LARGEST_K [REPEATS [DEVICES]]], K from 10 to %d, up to %d repeats; "
                "devices: %d\n",
                LARGEST, MOST_REPEATS, omp_get_num_devices());
        return 1;
    }
    printf("nowait: up to %d regions in flight on %d devices, %d repeats\n", largest, devices,
           repeats);
    run_waited(devices, devices); /* the image is on every device after that */
    run_alone(devices, devices);
    for (int count = 10; count <= largest; count *= 10) {
        measure("waited", run_waited, count, devices, repeats);
        measure("alone", run_alone, count, devices, repeats);
        measure("chain", run_chain, count, devices, repeats);
        print_memory(count, devices);
    }
    int wrong = memcmp(numbers, wanted, sizeof numbers) != 0;
    printf("nowait: %s\n", wrong ? "FAILED" : "ok");
    return wrong;
}
