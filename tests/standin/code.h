/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * code.h: host functions behind the names of kernels of GPUs, for the stand-ins for their drivers.
 */
#ifndef OMPRMA_TESTS_STANDIN_CODE_H
#define OMPRMA_TESTS_STANDIN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

/* A copy of all code in these files, with its own variables: shared objects, or programs with
 * x86-64 offload images in them; with colons between. NULL: there is none. */
struct code *code_open(const char *files);
void code_close(struct code *code);

/* A function or variable; *bytes: of it, if known. NULL: it has none of that name. */
void *code_find(const struct code *code, const char *name, size_t *bytes);

/* Kernels that every stand-in has, for tests: NULL if it is none of these. */
void *code_builtin(const char *name);

/* What went wrong in a kernel, beside what a kernel says itself, which is positive. */
enum { CODE_SEGFAULT = -1, CODE_ABORT = -2 };

/* How a kernel was launched: what standin_geometry gives. */
struct code_geometry {
    unsigned count; /* of these numbers */
    unsigned numbers[8];
};

/* Calls a kernel with words, or, where the environment has STANDIN_POINTERS, with an array of
 * pointers to them, as clang from 23 on makes kernels for x86-64; 0, or what went wrong in it. One
 * handler of SIGSEGV of the process's is looked after; with `quick`, only the first time: then no
 * system call is made. */
int code_call(void *function, const uint64_t *words, uint32_t count,
              const struct code_geometry *geometry, bool quick);

/* The address at which this thread's last kernel that gave CODE_SEGFAULT faulted. */
uint64_t code_fault_address(void);

#endif
