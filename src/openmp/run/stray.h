/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stray.h: which pointer of the program led a kernel to an address of the host: one that a region
 * was given although what it points to is not mapped, or one that lies in what is mapped.
 *
 * Thread: the work's, without the lock of any device. Blocks: for that of its device, and while
 * debug information is read.
 */
#ifndef OMPRMA_OPENMP_RUN_STRAY_H
#define OMPRMA_OPENMP_RUN_STRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct location;
struct pinned;

/* Pointers that a region gets as they are; of many the first ones. */
enum { STRAYS_MOST = 8 };
struct strays {
    int count;
    struct {
        uintptr_t value;
        const char *name;
    } list[STRAYS_MOST];
};

/* Notes one. `name`: of its map, as compilers write it. */
static inline void stray_note(struct strays *strays, uintptr_t value, const char *name)
{
    if (strays->count < STRAYS_MOST) {
        strays->list[strays->count].value = value;
        strays->list[strays->count++].name = name;
    }
}

/* A region that has crashed, and the ranges of its device's table that it has used. */
struct crash {
    const struct location *where;
    struct device *device;
    const struct strays *strays;
    const struct pinned *pinned;
};

/* Words that follow what was `said` of the crash, "... that is a host pointer": what points there,
 * and which map clause is missing. False: nothing of that is known. */
bool stray_words(const struct crash *crash, uintptr_t address, const char *said, char *words,
                 size_t room);

/* Does a FILE of the program lie around this address, which nothing else names? Reads memory that
 * may not be there. Blocks: no. */
bool stray_is_file(uintptr_t address);

#endif
