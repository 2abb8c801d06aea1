/*
 * check.h: for the OpenMP programs of this folder. A program prints the same text whether its
 * regions run on stock LLVM's local device or on workers, and returns 0 only if all was right.
 * With OMPRMA_TEST_REMOTE=1 it also insists that regions run in other processes.
 */
#ifndef OMPRMA_TESTS_OPENMP_CHECK_H
#define OMPRMA_TESTS_OPENMP_CHECK_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

/* Says what was wrong; the first ten times. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition) && ++failures <= 10)                                                      \
            fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                 \
    } while (0)

#define CHECK_EQUAL(left, right)                                                                   \
    do {                                                                                           \
        long long check_l_ = (long long)(left), check_r_ = (long long)(right);                     \
        if (check_l_ != check_r_ && ++failures <= 10)                                              \
            fprintf(stderr, "%s:%d: wrong: %s is %lld, %s is %lld\n", __FILE__, __LINE__, #left,   \
                    check_l_, #right, check_r_);                                                   \
    } while (0)

static inline int test_is_remote(void)
{
    const char *remote = getenv("OMPRMA_TEST_REMOTE");
    return remote && *remote == '1';
}

/* A number below `limit`, up to 2^23: of a row that its seed alone determines. */
static inline int check_draw(unsigned *seed, int limit)
{
    *seed = *seed * 1103515245u + 12345u;
    return (int)(*seed >> 8 & 0x7fffff) % limit;
}

/* When a program of random steps begins no more of them, by omp_get_wtime(): its third argument
 * says after how many seconds, without it never. */
static inline double check_end(int argc, char **argv)
{
    return argc > 3 ? omp_get_wtime() + atof(argv[3]) : 1e30;
}

/* The process that runs regions of a device. */
static inline int device_pid(int device)
{
    int pid = 0;
#pragma omp target map(from : pid) device(device)
    pid = getpid();
    return pid;
}

/* Devices of each process. */
static inline int test_devices_each(void)
{
    const char *each = getenv("OMPRMA_TEST_EACH");
    return each ? atoi(each) : 1;
}

/* Proves that every device is in the process where it should be, and that is not this one. Returns
 * how many there are. */
static inline int check_devices(void)
{
    int count = omp_get_num_devices(), each = test_devices_each();
    int pids[64];
    CHECK(count > 0);
    for (int i = 0; i < count && i < 64; i++) {
        pids[i] = device_pid(i);
        CHECK(pids[i] > 0);
        if (!test_is_remote())
            continue;
        CHECK(pids[i] != getpid());
        for (int j = 0; j < i; j++)
            CHECK((pids[i] == pids[j]) == (i / each == j / each));
    }
    return count;
}

static inline int finish(const char *name)
{
    printf("%s: %s\n", name, failures ? "wrong" : "right");
    return failures ? 1 : 0;
}

#endif
