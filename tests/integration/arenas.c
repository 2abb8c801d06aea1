/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arenas.c: large blocks come and go, so that the worker attaches and detaches arenas all the time,
 * also below and between others; what lies in the blocks that stay is as it was.
 *   arenas ROUNDS */
#include "check.h"

enum { STAYING = 3, EDGE = 64 << 10, MIB = 1 << 20 };

struct block {
    omprma_addr_t at;
    size_t bytes;
    uint64_t seed;
};

static unsigned char here[EDGE], back[EDGE];

static void compare(omprma_queue_t *queue, const struct block *block, size_t offset)
{
    fill(here, EDGE, block->seed + offset);
    check_ok(omprma_retrieve(queue, back, block->at + offset, EDGE));
    check_ok(omprma_queue_synchronize(queue));
    check(memcmp(here, back, EDGE) == 0);
}

static void write_edge(omprma_queue_t *queue, const struct block *block, size_t offset)
{
    fill(here, EDGE, block->seed + offset);
    check_ok(omprma_submit(queue, block->at + offset, here, EDGE));
    check_ok(omprma_queue_synchronize(queue));
}

/* Its first and last bytes are written; the rest is only in the way. */
static struct block make(omprma_queue_t *queue, size_t bytes, uint64_t seed)
{
    struct block block = {memory_on(0, bytes), bytes, seed};

    write_edge(queue, &block, 0);
    write_edge(queue, &block, bytes - EDGE);
    return block;
}

static void end(omprma_queue_t *queue, const struct block *block)
{
    compare(queue, block, 0);
    compare(queue, block, block->bytes - EDGE);
    check_ok(omprma_free(0, block->at));
}

int main(int count, char **words)
{
    int rounds = count > 1 ? atoi(words[1]) : 100;
    struct block staying[STAYING];
    omprma_queue_t *queue;

    check_ok(omprma_init());
    queue = queue_on(0);
    for (int i = 0; i < STAYING; i++)
        staying[i] = make(queue, (size_t)(i + 1) * MIB, (uint64_t)i);
    for (int i = 0; i < rounds; i++) {
        struct block small = make(queue, (size_t)(20 + i % 7) * MIB, (uint64_t)(1000 + 2 * i));
        struct block large = make(queue, (size_t)(60 + i % 5) * MIB, (uint64_t)(1001 + 2 * i));

        if (i % 2) {
            end(queue, &small);
            end(queue, &large);
        } else {
            end(queue, &large);
            end(queue, &small);
        }
        for (int k = 0; k < STAYING; k++)
            compare(queue, &staying[k], 0);
    }
    for (int i = 0; i < STAYING; i++)
        end(queue, &staying[i]);
    check_ok(omprma_queue_destroy(queue));
    omprma_finalize();
    return 0;
}
