/*
 * regions.c: target regions that move data in all ways, on all devices; for clang and gcc. Says
 * "right" when all results are.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 300000 };
#ifdef __clang__
enum { NEXT = 1 };
#else
enum { NEXT = 0 }; /* gcc 12's runtime copies between two GPUs neither here nor elsewhere */
#endif

static int failed;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("regions.c:%d: not so: %s\n", __LINE__, #what);                                 \
            failed = 1;                                                                            \
        }                                                                                          \
    } while (0)

#pragma omp declare target
int counter = 5;
#pragma omp end declare target

static double x[MANY], y[MANY];

static void maps(int device)
{
    int few[4] = {1, 2, 3, 4}, number = 7;

    for (int i = 0; i < MANY; i++)
        x[i] = i;
#pragma omp target teams distribute parallel for device(device) map(to : x) map(from : y)
    for (int i = 0; i < MANY; i++)
        y[i] = 2 * x[i];
    for (int i = 0; i < MANY; i++)
        CHECK(y[i] == 2.0 * i);
#pragma omp target device(device) map(tofrom : few) firstprivate(number)
    for (int i = 0; i < 4; i++)
        few[i] += number;
    CHECK(few[0] == 8 && few[3] == 11 && number == 7);
}

static void reductions(int device)
{
    double sum = 0;
    int most = 0;

#pragma omp target teams distribute parallel for device(device) map(to : x)                        \
    map(tofrom : sum, most) reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < 1000; i++) {
        sum += x[i];
        most = i > most ? i : most;
    }
    CHECK(sum == 499500);
    CHECK(most == 999);
}

static void environment(int device)
{
    for (int i = 0; i < MANY; i++)
        x[i] = 1;
#pragma omp target data device(device) map(to : x) map(alloc : y)
    {
#pragma omp target device(device)
        for (int i = 0; i < MANY; i++)
            y[i] = x[i] + 1;
        x[10] = 100;
#pragma omp target update device(device) to(x [10:1])
#pragma omp target device(device)
        y[11] = x[10];
        y[0] = 0;
#pragma omp target update device(device) from(y [0:12])
    }
    CHECK(y[0] == 2 && y[10] == 2 && y[11] == 100);
}

/* A chain through memory that stays on the device, made of tasks. */
static void tasks(int device)
{
    int data[1000];

    for (int i = 0; i < 1000; i++)
        data[i] = i;
#pragma omp target enter data device(device) map(to : data) nowait depend(out : data)
    for (int step = 0; step < 10; step++) {
#pragma omp target device(device) nowait depend(inout : data) map(alloc : data)
        for (int i = 0; i < 1000; i++)
            data[i] += 1;
    }
#pragma omp target exit data device(device) map(from : data) nowait depend(inout : data)
#pragma omp taskwait
    CHECK(data[0] == 10 && data[999] == 1009);
}

static void globals(int device)
{
    counter = 40 + device;
#pragma omp target update device(device) to(counter)
#pragma omp target device(device)
    counter += 2;
    counter = 0;
#pragma omp target update device(device) from(counter)
    CHECK(counter == 42 + device);
}

static void between(int from, int to)
{
    size_t bytes = sizeof(x);
    int host = omp_get_initial_device();
    void *here = omp_target_alloc(bytes, from), *there = omp_target_alloc(bytes, to);

    for (int i = 0; i < MANY; i++)
        x[i] = i + 0.5, y[i] = 0;
    CHECK(here && there);
    CHECK(omp_target_memcpy(here, x, bytes, 0, 0, from, host) == 0);
    CHECK(omp_target_memcpy(there, here, bytes, 0, 0, to, from) == 0);
    CHECK(omp_target_memcpy(y, there, bytes, 0, 0, host, to) == 0);
    CHECK(y[0] == 0.5 && y[MANY - 1] == MANY - 0.5);
    omp_target_free(here, from);
    omp_target_free(there, to);
}

int main(int count, char **words)
{
    int devices = omp_get_num_devices(), wanted = count > 1 ? atoi(words[1]) : 1;

    CHECK(devices == wanted);
    for (int device = 0; device < devices; device++) {
        maps(device);
        reductions(device);
        environment(device);
        tasks(device);
        globals(device);
        between(device, (device + NEXT) % devices);
    }
    puts(failed ? "wrong" : "right");
    return failed;
}
