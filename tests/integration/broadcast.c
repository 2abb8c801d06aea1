/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* broadcast.c: the same data to all devices, to some, and in another order, between kernels that
 * read what was there before and what came. */
#include "check.h"

enum { DEVICES_MOST = 16, MOST = 40 << 20 };

static int devices;
static omprma_queue_t *queues[DEVICES_MOST];
static omprma_addr_t there[DEVICES_MOST], sums[DEVICES_MOST], sum[DEVICES_MOST];
static unsigned char out[MOST];

/* To the devices first, first + step, ..., `count` of them. */
static void check_some(uint64_t bytes, int first, int step, int count)
{
    uint64_t before[DEVICES_MOST], after[DEVICES_MOST], old = sum_of(out, bytes), now;
    omprma_queue_t *list[DEVICES_MOST];
    omprma_addr_t to[DEVICES_MOST];

    for (int i = 0; i < count; i++) {
        int device = (first + i * step) % devices;

        list[i] = queues[device];
        to[i] = there[device];
        check_ok(omprma_submit(list[i], to[i], out, bytes));
        check_ok(omprma_queue_synchronize(list[i]));
        launch(list[i], sum[device], to[i], bytes, sums[device]);
    }
    fill(out, bytes, bytes + (uint64_t)first);
    now = sum_of(out, bytes);
    check_ok(omprma_broadcast(list, to, (size_t)count, out, bytes));
    for (int i = 0; i < count; i++) {
        int device = (first + i * step) % devices;

        launch(list[i], sum[device], to[i], bytes, sums[device] + 8);
        check_ok(omprma_retrieve(list[i], &before[i], sums[device], 8));
        check_ok(omprma_retrieve(list[i], &after[i], sums[device] + 8, 8));
    }
    for (int i = count; i-- > 0;)
        check_ok(omprma_queue_synchronize(list[i]));
    for (int i = 0; i < count; i++)
        check(before[i] == old && after[i] == now);
}

int main(void)
{
    check_ok(omprma_init());
    devices = omprma_device_count();
    check(devices <= DEVICES_MOST);
    for (int i = 0; i < devices; i++) {
        queues[i] = queue_on(i);
        there[i] = memory_on(i, MOST);
        sums[i] = memory_on(i, 16);
        sum[i] = symbol_at(i, "sum", 0);
    }
    for (uint64_t bytes = 1; bytes <= MOST; bytes = bytes * 13 + 3) {
        check_some(bytes, 0, 1, devices);
        check_some(bytes, devices - 1, devices - 1, devices);
        check_some(bytes, 1, 1, devices / 2);
    }
    check_some(MOST, 0, 1, devices); /* more pieces than devices */
    for (int i = 0; i < devices; i++)
        check_ok(omprma_queue_destroy(queues[i]));
    omprma_finalize();
    return 0;
}
