/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copies_fixture.h: data goes to devices of any kind, from one to another, and comes back as it
 * was. Included after cmocka.h; all inline, for not every test uses all of it.
 */
#ifndef OMPRMA_TESTS_COPIES_FIXTURE_H
#define OMPRMA_TESTS_COPIES_FIXTURE_H

#include "tests/unit/core_fixture.h"

/* `add`: a kernel that adds its third argument to every byte, or 0: none is launched. */
static inline void there_and_back(int device, uint64_t bytes, omprma_addr_t add)
{
    omprma_queue_t *queue = core_queue(device);
    omprma_addr_t there = core_alloc(device, bytes);
    unsigned char *out = malloc(bytes), *back = malloc(bytes);
    struct draw from = {bytes + 1};

    draw_fill(&from, out, bytes);
    assert_ok(omprma_submit(queue, there, out, bytes));
    if (add)
        assert_ok(launch(queue, add, there, bytes, 3));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    for (uint64_t i = 0; i < bytes; i++)
        if (back[i] != (unsigned char)(out[i] + (add ? 3 : 0)))
            fail_msg("device %d, %llu bytes: byte %llu", device, (unsigned long long)bytes,
                     (unsigned long long)i);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_free(device, there));
    free(out);
    free(back);
}

/* `shift`: within one block of one device, so far from its beginning; 0: between two blocks. */
static inline void exchange(int from, int to, uint64_t bytes, uint64_t shift)
{
    omprma_queue_t *queue = core_queue(from), *end = core_queue(to);
    omprma_addr_t here = core_alloc(from, shift ? 2 * bytes : bytes),
                  there = shift ? here + shift : core_alloc(to, bytes);
    unsigned char *out = malloc(bytes), *back = calloc(1, bytes);
    omprma_event_t *event = core_event();
    struct draw source = {bytes + (uint64_t)from * 10 + (uint64_t)to + 1};

    draw_fill(&source, out, bytes);
    assert_ok(omprma_submit(queue, here, out, bytes));
    assert_ok(omprma_exchange(queue, here, to, there, bytes));
    assert_ok(omprma_event_record(event, queue));
    assert_ok(omprma_event_wait(event, end));
    assert_ok(omprma_retrieve(end, back, there, bytes));
    assert_ok(omprma_queue_synchronize(end));
    if (memcmp(out, back, bytes) != 0)
        fail_msg("%llu bytes from device %d to device %d", (unsigned long long)bytes, from, to);
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_queue_destroy(end));
    assert_ok(omprma_free(from, here));
    if (!shift)
        assert_ok(omprma_free(to, there));
    free(out);
    free(back);
}

#endif
