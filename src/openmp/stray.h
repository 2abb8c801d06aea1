/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stray.h: which pointer of the program led a kernel to an address of the host: one that a region
 * was given although what it points to is not mapped, or one that lies in what is mapped.
 *
 * Thread: the work's, without the lock of any device. Blocks: for that of its device, and while
 * debug information is read.
 */
#ifndef OMPRMA_OPENMP_STRAY_H
#define OMPRMA_OPENMP_STRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work;

/* Notes a pointer that a region gets as it is. `name`: of its map, as compilers write it. */
void stray_note(struct work *work, uintptr_t value, const char *name);

/* Words that follow what was `said` of the crash, "... that is a host pointer": what points there,
 * and which map clause is missing. False: nothing of that is known. */
bool stray_words(struct work *work, uintptr_t address, const char *said, char *words, size_t room);

#endif
