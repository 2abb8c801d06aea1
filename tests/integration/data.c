/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* data.c: data of all sizes there and back, in blocks and outside of them, with kernels in between;
 * addresses that are wrong; memory that grows, ends, and comes back. */
#include "check.h"

enum { BYTES = 40 << 20 };

static unsigned char *out, *back;

static void check_there_and_back(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    static omprma_addr_t add;

    if (!add)
        add = symbol_at(0, "add", 0);
    memset(back, 0, bytes);
    check_ok(omprma_submit(queue, there, out, bytes));
    launch(queue, add, there, bytes, 1);
    check_ok(omprma_retrieve(queue, back, there, bytes));
    check_ok(omprma_queue_synchronize(queue));
    for (uint64_t i = 0; i < bytes; i++)
        check(back[i] == (unsigned char)(out[i] + 1));
}

static void check_sizes(omprma_queue_t *queue)
{
    static const uint64_t sizes[] = {1,     8,     64,     512,     1024,    4096,     8192,
                                     16384, 65536, 262144, 1 << 20, 8 << 20, 16 << 20, 24 << 20};
    omprma_addr_t there = memory_on(0, BYTES);

    check_ok(omprma_submit(queue, there, NULL, 0));
    check_ok(omprma_retrieve(queue, NULL, there, 0));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (uint64_t bytes = sizes[i] - 1; bytes <= sizes[i] + 1; bytes++)
            check_there_and_back(queue, there + 4096 + i, bytes);
    check_there_and_back(queue, there, BYTES); /* to the last byte */
    check_ok(omprma_free(0, there));
}

/* A global of the image, and memory that a kernel took from the device's own malloc. */
static void check_outside(omprma_queue_t *queue)
{
    enum { GLOBAL = 300000 };
    omprma_addr_t global = symbol_at(0, "global", GLOBAL), at = memory_on(0, 8), taken = 0;

    for (uint64_t bytes = 1; bytes <= GLOBAL; bytes = bytes * 5 + 3)
        check_there_and_back(queue, global + GLOBAL - bytes, bytes);
    launch(queue, symbol_at(0, "take", 0), 3 << 20, at, 0);
    check_ok(omprma_retrieve(queue, &taken, at, sizeof(taken)));
    check_ok(omprma_queue_synchronize(queue));
    for (uint64_t bytes = 1; bytes <= 3 << 20; bytes = bytes * 7 + 1)
        check_there_and_back(queue, taken, bytes);
    launch(queue, symbol_at(0, "give", 0), taken, 0, 0);
    check_ok(omprma_exchange(queue, global, 0, global + 1, GLOBAL - 1));
    check_ok(omprma_queue_synchronize(queue));
    check_ok(omprma_free(0, at));
}

static void check_bad_addresses(omprma_queue_t *queue)
{
    static const omprma_addr_t bad[] = {0x10000, UINT64_C(0x7000dead0000),
                                        UINT64_C(0xdead000000000000)};
    static const uint64_t sizes[] = {8, 9000, 1 << 20};
    omprma_addr_t block = memory_on(0, 5000);

    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            omprma_status_t status = omprma_submit(queue, bad[i], out, sizes[k]);

            check(status == OMPRMA_OK || status == OMPRMA_ERR_ADDRESS);
            if (status == OMPRMA_OK)
                check(omprma_queue_synchronize(queue) == OMPRMA_ERR_ADDRESS);
            status = omprma_retrieve(queue, back, bad[i], sizes[k]);
            if (status == OMPRMA_OK)
                check(omprma_queue_synchronize(queue) == OMPRMA_ERR_ADDRESS);
            check_there_and_back(queue, block, 5000);
        }
    }
    check(omprma_submit(queue, block, out, 5001) == OMPRMA_ERR_ADDRESS);
    check(omprma_submit(queue, block + 4999, out, 2) == OMPRMA_ERR_ADDRESS);
    check_ok(omprma_free(0, block));
    check(omprma_retrieve(queue, back, block, 1) == OMPRMA_ERR_ADDRESS);
    check(omprma_free(0, block) == OMPRMA_ERR_ADDRESS);
}

/* OMPRMA_MEMORY bounds the device. All of it can be had and used, and comes back. */
static void check_memory(omprma_queue_t *queue)
{
    enum { BLOCK = 7000000, BLOCKS = 100 };
    omprma_addr_t block[BLOCKS];
    omprma_device_info_t before, info;
    int count = 0;

    check_ok(omprma_device_info(0, &before));
    while (count < BLOCKS && omprma_alloc(0, BLOCK, &block[count]) == OMPRMA_OK) {
        check_ok(omprma_submit(queue, block[count] + BLOCK - 4, &count, 4));
        count++;
    }
    check(count < BLOCKS && count > 20);
    check(omprma_alloc(0, BLOCK, &block[count]) == OMPRMA_ERR_DEVICE_MEMORY);
    check_ok(omprma_device_info(0, &info));
    check(info.used_bytes >= (uint64_t)count * BLOCK && info.arena_bytes <= info.memory_bytes);
    for (int i = 0; i < count; i++) {
        int number = -1;

        check_ok(omprma_retrieve(queue, &number, block[i] + BLOCK - 4, 4));
        check_ok(omprma_queue_synchronize(queue));
        check(number == i);
        check_ok(omprma_free(0, block[i]));
    }
    check_ok(omprma_device_info(0, &info));
    check(info.used_bytes == before.used_bytes);
    check(info.arena_bytes <= before.arena_bytes + (160 << 20));
    for (int i = 0; i < 20; i++) /* large blocks one after the other */
        check_ok(omprma_free(0, memory_on(0, 100 << 20)));
}

int main(void)
{
    omprma_queue_t *queue;

    check_ok(omprma_init());
    out = malloc(BYTES);
    back = malloc(BYTES);
    check(out && back);
    fill(out, BYTES, 1);
    queue = queue_on(0);
    check_sizes(queue);
    check_outside(queue);
    check_bad_addresses(queue);
    check_memory(queue);
    check_ok(omprma_queue_destroy(queue));
    omprma_finalize();
    free(out);
    free(back);
    return 0;
}
