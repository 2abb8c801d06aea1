/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * openmp.c: whether target regions on device 0 give what they must; for clang and gcc.
 *
 * - openmp: prints a line for each case: RESULT CASE right, or wrong; and, last, RESULT region US,
 * the median time of a warm region that maps one number there and back
 * - openmp fault: a region that writes where there is no memory; must end with a line and a status
 *   that is not 0
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1000000, SIDE = 200, REGIONS = 201 };

static float x[COUNT], y[COUNT];
static float a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

static void say(const char *name, int is_right)
{
    printf("RESULT %s %s\n", name, is_right ? "right" : "wrong");
    fflush(stdout);
}

static void saxpy(void)
{
    int is_right = 1;

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 77);
    }
#pragma omp target teams distribute parallel for map(to : x) map(tofrom : y)
    for (int i = 0; i < COUNT; i++)
        y[i] += 3 * x[i];
    for (int i = 0; i < COUNT; i++)
        is_right &= y[i] == (float)(i % 77 + 3 * (i % 1000));
    say("saxpy", is_right);
}

static void matrix(void)
{
    int is_right = 1;

    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i / SIDE][i % SIDE] = (float)(i % 13);
        b[i / SIDE][i % SIDE] = (float)(i % 7);
    }
#pragma omp target teams distribute parallel for collapse(2) map(to : a, b) map(from : c)
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            float sum = 0;

            for (int k = 0; k < SIDE; k++)
                sum += a[row][k] * b[k][column];
            c[row][column] = sum;
        }
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            float sum = 0;

            for (int k = 0; k < SIDE; k++)
                sum += a[row][k] * b[k][column];
            is_right &= c[row][column] == sum;
        }
    say("matrix", is_right);
}

static void reductions(void)
{
    double sum = 0;
    int most = 0;

#pragma omp target teams distribute parallel for map(to : x) map(tofrom : sum, most)               \
    reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < COUNT; i++) {
        sum += x[i];
        most = i > most ? i : most;
    }
    say("reductions", sum == 499500.0 * (COUNT / 1000) && most == COUNT - 1);
}

/* Data that stays, parts of it that are renewed, a private number. */
static void maps(void)
{
    int number = 7, is_right = 1;

    memset(x, 0, sizeof(x));
#pragma omp target data map(to : x) map(alloc : y)
    {
        x[10] = 100;
#pragma omp target update to(x [8:4])
#pragma omp target teams distribute parallel for firstprivate(number)
        for (int i = 0; i < COUNT; i++)
            y[i] = x[i] + (float)number;
        y[0] = y[10] = y[12] = 0;
#pragma omp target update from(y [0:12])
    }
    is_right &= y[0] == 7 && y[10] == 107 && y[12] == 0;
    say("maps", is_right);
}

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *one, const void *other)
{
    double left = *(const double *)one, right = *(const double *)other;

    return (left > right) - (left < right);
}

static void regions(void)
{
    static double us[REGIONS];
    long number = 0;

    for (int i = -20; i < REGIONS; i++) {
        double begin = now_us();
#pragma omp target map(tofrom : number)
        number++;
        if (i >= 0)
            us[i] = now_us() - begin;
    }
    qsort(us, REGIONS, sizeof(us[0]), compare);
    say("regions", number == REGIONS + 20);
    printf("RESULT region %.3f\n", us[REGIONS / 2]);
}

static void fault(void)
{
    uint64_t address = 0x1000;

#pragma omp target
    *(volatile int *)(uintptr_t)address = 1;
    puts("a region that writes where there is no memory has ended as others do");
}

int main(int count, char **words)
{
    if (omp_get_num_devices() < 1) {
        fputs("openmp: no device\n", stderr);
        return 77;
    }
    if (count > 1 && strcmp(words[1], "fault") == 0) {
        fault();
        return 0;
    }
    saxpy();
    matrix();
    reductions();
    maps();
    regions();
    return 0;
}
