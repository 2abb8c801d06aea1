/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * findings.h: what OMPRMA_CHECK=full has found: each thing one line on stderr, and once; how many;
 * and that the program does not end with status 0 when there was any. Knows nothing of devices.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HOST_CHECK_FINDINGS_H
#define OMPRMA_HOST_CHECK_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

enum finding {
    FINDING_BEFORE,    /* written in front of a block, */
    FINDING_BEHIND,    /* behind one, */
    FINDING_LATE,      /* to one that was freed */
    FINDING_FREED,     /* an argument points to freed memory, */
    FINDING_ELSEWHERE, /* to memory of another device */
    FINDING_LEAK,
    FINDING_TOLD /* by a face */
};

/* From now on the process's exit status is noted. */
void findings_open(void);

/* A finding, unless there was one of this kind about `what` and `which` before. */
void findings_add(enum finding kind, uint64_t what, uint64_t which, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* So far in this process. */
uint64_t findings_count(void);

/* omprma has ended. If there were findings: says how many, and the process will end with a status
 * that is not 0; at once, if it is ending already. */
void findings_end(void);

#endif
