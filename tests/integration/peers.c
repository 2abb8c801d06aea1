/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* peers.c: all devices at once: data from each to each, events between them, and several threads.
 */
#include <pthread.h>

#include "check.h"

enum { MOST = 3 << 20, DEVICES_MOST = 8, THREADS = 4 };

static int devices;
static omprma_queue_t *queues[DEVICES_MOST];
static omprma_addr_t there[DEVICES_MOST], add[DEVICES_MOST], sum[DEVICES_MOST];
static unsigned char out[MOST], back[MOST];

/* Around the ring and back: each device adds one and passes on, ordered by events only. */
static void check_ring(uint64_t bytes)
{
    omprma_event_t *event;

    check_ok(omprma_event_create(&event));
    fill(out, bytes, bytes);
    check_ok(omprma_submit(queues[0], there[0], out, bytes));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < devices; i++) {
            int next = (i + 1) % devices;

            launch(queues[i], add[i], there[i], bytes, 1);
            check_ok(omprma_exchange(queues[i], there[i], next, there[next], bytes));
            check_ok(omprma_event_record(event, queues[i]));
            check_ok(omprma_event_wait(event, queues[next]));
        }
    }
    check_ok(omprma_retrieve(queues[0], back, there[0], bytes));
    check_ok(omprma_queue_synchronize(queues[0]));
    for (uint64_t i = 0; i < bytes; i++)
        check(back[i] == (unsigned char)(out[i] + 3 * devices));
    for (int i = 0; i < devices; i++)
        check_ok(omprma_queue_synchronize(queues[i]));
    omprma_event_destroy(event);
}

/* All send to all at the same time. */
static void check_crossing(uint64_t bytes)
{
    omprma_addr_t in[DEVICES_MOST][DEVICES_MOST];

    for (int i = 0; i < devices; i++) {
        memset(out, i + 1, bytes);
        check_ok(omprma_submit(queues[i], there[i], out, bytes));
        check_ok(omprma_queue_synchronize(queues[i]));
        for (int k = 0; k < devices; k++)
            in[i][k] = memory_on(i, bytes);
    }
    for (int i = 0; i < devices; i++)
        for (int k = 0; k < devices; k++)
            check_ok(omprma_exchange(queues[i], there[i], k, in[k][i], bytes));
    for (int i = 0; i < devices; i++)
        check_ok(omprma_queue_synchronize(queues[i]));
    for (int i = 0; i < devices; i++) {
        for (int k = 0; k < devices; k++) {
            check_ok(omprma_retrieve(queues[i], back, in[i][k], bytes));
            check_ok(omprma_queue_synchronize(queues[i]));
            for (uint64_t at = 0; at < bytes; at++)
                check(back[at] == k + 1);
            check_ok(omprma_free(i, in[i][k]));
        }
    }
}

/* That of an exchange between them, with an address that is not mapped. */
static void check_error(int source, int target)
{
    char wanted[100];

    snprintf(wanted, sizeof(wanted), "exchange from device %d to device %d: ", source, target);
    check(strncmp(omprma_error(), wanted, strlen(wanted)) == 0);
    check(strstr(omprma_error(), "not mapped"));
}

/* Addresses that only a worker can tell to be wrong, here and there. The queue is clean afterwards,
 * and what is under way elsewhere is not disturbed. */
static void check_bad_addresses(void)
{
    static const omprma_addr_t bad[] = {0x10000, UINT64_C(0x7000dead0000)};
    static const uint64_t sizes[] = {1, 5000, 300000};
    int last = devices - 1;
    omprma_addr_t from = memory_on(0, sizes[2]), to = memory_on(last, sizes[2]);

    for (int i = 0; i < 2 * 2 * 3; i++) {
        uint64_t bytes = sizes[i / 4];
        omprma_addr_t wrong = bad[i / 2 % 2];

        fill(out, bytes, (uint64_t)i);
        check_ok(omprma_submit(queues[last], there[last], out, bytes));
        check_ok(omprma_queue_synchronize(queues[last]));
        check_ok(omprma_exchange(queues[0], i % 2 ? wrong : from, last, i % 2 ? to : wrong, bytes));
        check_ok(omprma_exchange(queues[last], there[last], 0, there[0], bytes));
        check(omprma_queue_synchronize(queues[0]) == OMPRMA_ERR_ADDRESS);
        check_error(0, last);
        check_ok(omprma_queue_synchronize(queues[last]));
        check_ok(omprma_retrieve(queues[0], back, there[0], bytes));
        check_ok(omprma_queue_synchronize(queues[0]));
        check(memcmp(out, back, bytes) == 0);
        check_ok(omprma_exchange(queues[0], from, last, to, bytes));
        check_ok(omprma_exchange(queues[0], i % 2 ? wrong : from, 0, i % 2 ? from : wrong, bytes));
        check_ok(omprma_exchange(queues[0], from, last, to, bytes));
        check(omprma_queue_synchronize(queues[0]) == OMPRMA_ERR_ADDRESS);
        check_error(0, 0);
    }
    check_ok(omprma_free(0, from));
    check_ok(omprma_free(last, to));
}

static void *work(void *data)
{
    int number = (int)(intptr_t)data, device = number % devices;
    omprma_queue_t *queue = queue_on(device);
    uint64_t state = (uint64_t)number + 1;

    for (int round = 0; round < 150; round++) {
        uint64_t bytes = (random_word(&state) >> 30) % (round % 10 ? 2000 : 300000), got = 0;
        unsigned char *mine = malloc(bytes + 1);
        omprma_addr_t at = memory_on(device, bytes + 8);
        uint64_t wanted;

        fill(mine, bytes, state);
        wanted = sum_of(mine, bytes);
        check_ok(omprma_submit(queue, at + 8, mine, bytes));
        launch(queue, sum[device], at + 8, bytes, at);
        check_ok(omprma_retrieve(queue, &got, at, 8));
        memset(mine, 0, bytes <= OMPRMA_COPIED_SUBMIT ? bytes : 0);
        check_ok(omprma_retrieve(queue, mine, at + 8, bytes));
        check_ok(omprma_queue_synchronize(queue));
        check(got == wanted && sum_of(mine, bytes) == wanted);
        check_ok(omprma_free(device, at));
        free(mine);
    }
    check_ok(omprma_queue_destroy(queue));
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    check_ok(omprma_init());
    devices = omprma_device_count();
    check(devices <= DEVICES_MOST);
    for (int i = 0; i < devices; i++) {
        queues[i] = queue_on(i);
        there[i] = memory_on(i, MOST);
        add[i] = symbol_at(i, "add", 0);
        sum[i] = symbol_at(i, "sum", 0);
    }
    for (uint64_t bytes = 1; bytes <= MOST; bytes = bytes * 11 + 5)
        check_ring(bytes);
    check_crossing(100);
    check_crossing(1 << 20);
    check_bad_addresses();
    check_threads();
    for (int i = 0; i < devices; i++)
        check_ok(omprma_queue_destroy(queues[i]));
    omprma_finalize();
    return 0;
}
