/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h: assertions on our own invariants. They print both values and stop the process; user
 * mistakes are never checked here, they return an error. Compiled out with NDEBUG.
 */
#ifndef OMPRMA_BASE_CHECK_H
#define OMPRMA_BASE_CHECK_H

#include <stdint.h>

void check_failed(const char *file, int line, const char *expression, int64_t left, int64_t right)
    __attribute__((noreturn));

#ifdef NDEBUG
#define CHECK(left, op, right) ((void)sizeof((left)op(right)))
#else
#define CHECK(left, op, right)                                                                     \
    do {                                                                                           \
        int64_t check_l_ = (int64_t)(left), check_r_ = (int64_t)(right);                           \
        if (!(check_l_ op check_r_))                                                               \
            check_failed(__FILE__, __LINE__, #left " " #op " " #right, check_l_, check_r_);        \
    } while (0)
#endif

#endif
