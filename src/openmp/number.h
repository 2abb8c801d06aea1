/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * number.h: what the number of a device means to a program: a device, the host, or nothing. The
 * host is the number behind the last device, and -1 (omp_initial_device). In constructs -1 means
 * the default device, because compilers pass it where there is no device clause; as the default
 * device it is the host. Knows no device.
 *
 * Thread: any function from any thread. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_NUMBER_H
#define OMPRMA_OPENMP_NUMBER_H

#include <stdint.h>

#include "openmp/abi.h"

/* The host, whatever else a number means. */
#define NUMBER_HOST INT64_MIN

/* A construct's, of a function's argument: there -1 is the host. */
static inline int64_t number_of_argument(int number)
{
    return number == -1 ? NUMBER_HOST : number;
}

/* 0 <= it < count: a device; else NUMBER_HOST, or a number that means nothing. `count`: of devices.
 * Where ranks share the workers of a run and OMP_DEFAULT_DEVICE numbers these, as scripts that take
 * the local rank have it, it is counted within the rank's share. */
int64_t number_means(int64_t number, int count);

/* Says that there is no device of that number, and of a share what it is. */
void number_report(const struct location *where, int64_t number, int count);

/* The program knows the host's number: it has asked for it. */
void number_of_host_asked(void);

#endif
