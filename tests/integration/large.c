/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* large.c: one transfer of more than 4 GiB each way. Pages that nobody wrote cost little: only the
 * device's block and what comes back are real. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "check.h"

#define GIB (UINT64_C(1) << 30)
#define BYTES (4 * GIB + (GIB >> 2) + 12345)

/* Where marks are set: around every power of two up to the end, and at the ends. */
static uint64_t mark_at(int number)
{
    uint64_t power = UINT64_C(1) << (number / 3 + 12), at = power + (uint64_t)(number % 3) - 1;

    return at < BYTES ? at : BYTES - 1 - (uint64_t)number;
}

enum { MARKS = 75 };

int main(void)
{
    unsigned char *host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    omprma_queue_t *queue;
    omprma_addr_t there, add;

    check(host != MAP_FAILED);
    madvise(host, BYTES, MADV_HUGEPAGE); /* a matter of speed */
    check_ok(omprma_init());
    queue = queue_on(0);
    add = symbol_at(0, "add", 0);
    there = memory_on(0, BYTES);
    for (int i = 0; i < MARKS; i++)
        host[mark_at(i)] = (unsigned char)(i + 1);
    host[0] = 99;
    check_ok(omprma_submit(queue, there, host, BYTES));
    check_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < MARKS; i++) { /* what lies there now, one by one */
        unsigned char got = 0;

        check_ok(omprma_retrieve(queue, &got, there + mark_at(i), 1));
        check_ok(omprma_queue_synchronize(queue));
        check(got == host[mark_at(i)]);
    }
    launch(queue, add, there + 4 * GIB - 10, 20, 50);
    check(madvise(host, BYTES, MADV_DONTNEED) == 0);
    check_ok(omprma_retrieve(queue, host, there, BYTES));
    check_ok(omprma_queue_synchronize(queue));
    check(host[0] == 99);
    for (int i = 0; i < MARKS; i++) {
        bool added = mark_at(i) >= 4 * GIB - 10 && mark_at(i) < 4 * GIB + 10;
        unsigned char last = 0; /* several marks may lie at one place: the last one counts */

        for (int k = 0; k < MARKS; k++)
            if (mark_at(k) == mark_at(i))
                last = (unsigned char)(k + 1);
        check(host[mark_at(i)] == (unsigned char)(last + (added ? 50 : 0)));
    }
    check(host[4 * GIB + 5] == 50 && host[4 * GIB + 20] == 0 && host[GIB + 77] == 0);
    check_ok(omprma_free(0, there));
    check_ok(omprma_queue_destroy(queue));
    omprma_finalize();
    return 0;
}
