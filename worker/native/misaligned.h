/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * misaligned.h: vector instructions that need an aligned address and got another one. The processor
 * raises a general protection fault then and does not say at which address; the instruction does.
 * Only decodes: knows nothing of signals. Async-signal-safe.
 */
#ifndef OMPRMA_WORKER_MISALIGNED_H
#define OMPRMA_WORKER_MISALIGNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct misaligned {
    uint64_t address;
    unsigned bytes; /* that are accessed there, and that the address must be a multiple of */
};

/* Whether the instruction that `code` begins with, of which `length` bytes are known, is one of
 * those and had such an address. `registers`: 16, as DWARF numbers them, and the pc. */
bool misaligned_find(const unsigned char *code, size_t length, const uint64_t *registers,
                     struct misaligned *found);

#endif
