/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* chains.c: chains COUNT: submit, launch, retrieve, with random sizes and checksums, COUNT times,
 * some chains deep without waiting. */
#include "check.h"

enum { DEEP = 16, MOST = 70000 };

struct chain {
    unsigned char out[MOST], back[MOST];
    uint64_t bytes, sum, wanted;
    omprma_addr_t there;
};

static uint64_t state = 20240229;

static uint64_t size(void)
{
    static const uint64_t limits[] = {8, 512, 4096, 8192, 16384, 65536};
    uint64_t word = random_word(&state) >> 20;

    if (word % 8 == 0) /* around a limit */
        return limits[word / 8 % 6] - 1 + word / 64 % 3;
    return word % 8 < 7 ? word / 8 % 600 : word / 8 % MOST;
}

static void begin(omprma_queue_t *queue, struct chain *chain, omprma_addr_t sum, omprma_addr_t add)
{
    uint64_t word = random_word(&state);

    chain->bytes = size();
    for (uint64_t i = 0; i < chain->bytes; i += 61) /* enough of it is new each time */
        chain->out[i] = (unsigned char)(word >> i % 56);
    chain->wanted = sum_of(chain->out, chain->bytes);
    chain->back[chain->bytes ? chain->bytes - 1 : 0] = (unsigned char)~chain->out[0];
    check_ok(omprma_submit(queue, chain->there + 8, chain->out, chain->bytes));
    launch(queue, sum, chain->there + 8, chain->bytes, chain->there);
    if (word & 1)
        launch(queue, add, chain->there + 8, chain->bytes, 0);
    check_ok(omprma_retrieve(queue, &chain->sum, chain->there, 8));
    check_ok(omprma_retrieve(queue, chain->back, chain->there + 8, chain->bytes));
}

int main(int count, char **words)
{
    static struct chain chains[DEEP];
    int wanted = count > 1 ? atoi(words[1]) : 1000, deep = 0;
    omprma_queue_t *queue;
    omprma_addr_t sum, add;

    check_ok(omprma_init());
    queue = queue_on(0);
    sum = symbol_at(0, "sum", 0);
    add = symbol_at(0, "add", 0);
    for (int i = 0; i < DEEP; i++) {
        chains[i].there = memory_on(0, MOST + 8);
        fill(chains[i].out, MOST, (uint64_t)i);
    }
    for (int i = 0; i < wanted; i++) {
        begin(queue, &chains[deep++], sum, add);
        if (deep < DEEP && i % 7 && i + 1 < wanted && i / 1000 % 2)
            continue;
        check_ok(omprma_queue_synchronize(queue));
        while (deep--) {
            check(chains[deep].sum == chains[deep].wanted);
            check(memcmp(chains[deep].out, chains[deep].back, chains[deep].bytes) == 0);
        }
        deep = 0;
    }
    check_ok(omprma_queue_destroy(queue));
    omprma_finalize();
    return 0;
}
