/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* adapts.c: after a start that chose the contrary of what it measured (OMPRMA_TEST_WRONG_CHOICE):
 * transfers and regions of many sizes, each checked, while paths are tried and changed, and
 * exchanges. Which path data takes in the end depends on the machine; that it is right does not. */
#include "check.h"

enum { MOST = 1 << 20, UPDATES = 256, REGIONS = 16, EXCHANGES = 64 };

static unsigned char *out, *back;

static void check_updates(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    for (int i = 0; i < UPDATES; i++) {
        out[i % bytes] = (unsigned char)(i + 1);
        check_ok(omprma_submit(queue, there, out, bytes));
        check_ok(omprma_queue_synchronize(queue));
        memset(back, 0, bytes);
        check_ok(omprma_retrieve(queue, back, there, bytes));
        check_ok(omprma_queue_synchronize(queue));
        check(memcmp(out, back, bytes) == 0);
    }
}

static void check_regions(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    omprma_addr_t add = symbol_at(0, "add", 0);

    for (int i = 0; i < REGIONS; i++) {
        check_ok(omprma_submit(queue, there, out, bytes));
        launch(queue, add, there, bytes, (uint64_t)i);
        check_ok(omprma_retrieve(queue, back, there, bytes));
        check_ok(omprma_queue_synchronize(queue));
        for (uint64_t k = 0; k < bytes; k++)
            check(back[k] == (unsigned char)(out[k] + i));
    }
}

static void check_exchanges(omprma_queue_t *queue, omprma_addr_t from, uint64_t bytes)
{
    omprma_addr_t to = memory_on(1, bytes);
    omprma_queue_t *other = queue_on(1);

    for (int i = 0; i < EXCHANGES; i++) {
        out[bytes - 1] = (unsigned char)i;
        check_ok(omprma_submit(queue, from, out, bytes));
        check_ok(omprma_exchange(queue, from, 1, to, bytes));
        check_ok(omprma_queue_synchronize(queue));
        check_ok(omprma_retrieve(other, back, to, bytes));
        check_ok(omprma_queue_synchronize(other));
        check(memcmp(out, back, bytes) == 0);
    }
    omprma_queue_destroy(other);
    check_ok(omprma_free(1, to));
}

int main(void)
{
    static const uint64_t sizes[] = {3000, 4096, 8192, 8193, 65536, 300000, MOST};
    omprma_queue_t *queue;
    omprma_addr_t there;

    check_ok(omprma_init());
    queue = queue_on(0);
    there = memory_on(0, MOST);
    out = malloc(MOST);
    back = malloc(MOST);
    check(out && back);
    fill(out, MOST, 1);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check_updates(queue, there, sizes[i]);
        check_regions(queue, there, sizes[i]);
        if (omprma_device_count() > 1 && sizes[i] >= 65536)
            check_exchanges(queue, there, sizes[i]);
    }
    omprma_queue_destroy(queue);
    check_ok(omprma_free(0, there));
    free(out);
    free(back);
    omprma_finalize();
    puts("all right");
    return 0;
}
