/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.h: what a worker hands to omprma-fault, the program that finds out where in the source
 * device code was when it crashed, and what that answers. A program of its own, because a process
 * in which something has crashed is no place to read debug information in: locks may be held for
 * ever, and the heap may be broken; and because workers stay small.
 *
 * Question, on stdin, a file: a struct fault_question, then the stack's bytes. Answer, on stdout,
 * in lines: the kernel's name for people; the place ("app.c:42", empty where it is not known); then
 * a line per frame of the device code, the innermost first.
 */
#ifndef OMPRMA_BASE_FAULT_H
#define OMPRMA_BASE_FAULT_H

#include <stdint.h>

enum { FAULT_REGISTERS = 17, FAULT_IMAGES = 64, FAULT_NAME_BYTES = 16384 };

struct fault_question {
    uint64_t
        registers[FAULT_REGISTERS]; /* as DWARF numbers them on x86-64; the last one is the pc */
    uint64_t stack_bytes;           /* from the stack pointer on */
    int32_t pid;                    /* of the worker, which stays as it is meanwhile */
    int32_t image_count;
    struct {
        uint64_t base; /* where it is loaded */
        int32_t fd;    /* the worker's, of its file */
        int32_t reserved;
    } images[FAULT_IMAGES];
    char kernel[FAULT_NAME_BYTES]; /* its symbol */
};

#endif
