/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* crash.c: crash DEVICES KERNEL...: the first kernel crashes on device 0, the next one on device 1
 * and so on. Each takes its own device and no other, also of the same worker. */
#include "check.h"

enum { BYTES = 50000 };

static void check_works(int device)
{
    omprma_queue_t *queue = queue_on(device);
    omprma_addr_t there = memory_on(device, BYTES + 8);
    static unsigned char data[BYTES];
    uint64_t sum = 0;

    fill(data, BYTES, (uint64_t)device);
    check_ok(omprma_submit(queue, there, data, BYTES));
    launch(queue, symbol_at(device, "sum", 0), there, BYTES, there + BYTES);
    check_ok(omprma_retrieve(queue, &sum, there + BYTES, 8));
    check_ok(omprma_queue_synchronize(queue));
    check(sum == sum_of(data, BYTES));
    check_ok(omprma_queue_destroy(queue));
    check_ok(omprma_free(device, there));
}

/* From `from` to `to` and back. */
static void check_pair(int from, int to)
{
    omprma_queue_t *queue = queue_on(from), *back = queue_on(to);
    omprma_addr_t here = memory_on(from, BYTES), there = memory_on(to, BYTES);
    static unsigned char data[BYTES], seen[BYTES];
    omprma_event_t *event;

    fill(data, BYTES, (uint64_t)(from * 64 + to));
    check_ok(omprma_event_create(&event));
    check_ok(omprma_submit(queue, here, data, BYTES));
    check_ok(omprma_exchange(queue, here, to, there, BYTES));
    check_ok(omprma_event_record(event, queue));
    check_ok(omprma_event_wait(event, back));
    launch(back, symbol_at(to, "add", 0), there, BYTES, 1);
    check_ok(omprma_exchange(back, there, from, here, BYTES));
    check_ok(omprma_queue_synchronize(back));
    check_ok(omprma_retrieve(queue, seen, here, BYTES));
    check_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < BYTES; i++)
        check(seen[i] == (unsigned char)(data[i] + 1));
    omprma_event_destroy(event);
    check_ok(omprma_queue_destroy(queue));
    check_ok(omprma_queue_destroy(back));
    check_ok(omprma_free(from, here));
    check_ok(omprma_free(to, there));
}

/* A kernel that runs meanwhile on the last device must not notice. */
static void crash(int device, const char *kernel, int last)
{
    omprma_queue_t *queue = queue_on(device), *later = queue_on(device), *other = queue_on(last);
    omprma_addr_t there = memory_on(last, 8), copy = memory_on(device, 8);
    omprma_addr_t nap = symbol_at(device, "nap", 0);
    omprma_status_t status;

    if (device != last)
        launch(other, symbol_at(last, "nap", 0), 50000, 0, 0);
    launch(queue, symbol_at(device, kernel, 0), 0, 0, 0);
    status = omprma_queue_synchronize(queue);
    check(status == OMPRMA_ERR_KERNEL);
    check(strstr(omprma_error(), kernel));
    launch(later, nap, 0, 0, 0);
    check(omprma_queue_synchronize(later) == OMPRMA_ERR_DEVICE_LOST);
    omprma_queue_destroy(queue);
    omprma_queue_destroy(later);
    if (device == last)
        return;
    check(omprma_exchange(other, there, device, copy, 8) == OMPRMA_ERR_DEVICE_LOST);
    check_ok(omprma_queue_synchronize(other));
    check_ok(omprma_queue_destroy(other));
}

int main(int count, char **words)
{
    int devices = count > 1 ? atoi(words[1]) : 1, crashes = count - 2;

    check_ok(omprma_init());
    check(omprma_device_count() == devices && crashes <= devices);
    for (int device = 0; device < devices; device++)
        check_works(device);
    for (int device = 0; device < crashes; device++) {
        crash(device, words[2 + device], devices - 1);
        for (int other = device + 1; other < devices; other++)
            check_works(other);
        for (int other = device + 1; other + 1 < devices; other++)
            check_pair(other, other + 1);
    }
    omprma_finalize();
    return 0;
}
