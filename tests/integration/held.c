/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * held.c: held HOW: exchanges that are appended behind kernels which wait for the program.
 * - go: the calls return; what does not wait for those kernels completes meanwhile; the memory of
 *   the program does not depend on how many wait. Then the kernels end, and all data arrives.
 * - stop: a worker is stopped while they wait. Every queue that exchanges with it ends with an
 *   error that names both devices.
 */
#include <malloc.h>
#include <signal.h>

#include "check.h"

enum {
    DEVICES_MOST = 8,
    MANY = 40, /* exchanges that wait, over all devices but the last */
    BYTES = 1 << 20,
    PIECE = 256 << 10,
    HOPS = 3,        /* times around all devices */
    POOL = 16 << 20, /* of the program, through which all exchanges go; untouched while they wait */
    WAITING_MOST = POOL + (1 << 20), /* bytes of the program for all that wait */
    GOING_MOST = WAITING_MOST + 4 * 2 * PIECE
};

static int devices;
static omprma_queue_t *queue[DEVICES_MOST], *other[DEVICES_MOST], *ring[DEVICES_MOST];
static omprma_queue_t *many[MANY];
static omprma_event_t *held[DEVICES_MOST], *event;
static omprma_addr_t until[DEVICES_MOST], from[DEVICES_MOST], to[MANY], pass[DEVICES_MOST];
static unsigned char data[BYTES], back[BYTES];

static size_t allocated(void)
{
    struct mallinfo2 own = mallinfo2();

    return own.uordblks + own.hblkhd;
}

static int held_of(int number)
{
    return number % (devices - 1);
}

static int target_of(int number)
{
    return (held_of(number) + 1 + number / devices % (devices - 1)) % devices;
}

static void start(void)
{
    check_ok(omprma_event_create(&event));
    for (int i = 0; i < devices; i++) {
        queue[i] = queue_on(i);
        other[i] = queue_on(i);
        ring[i] = queue_on(i);
        check_ok(omprma_event_create(&held[i]));
        until[i] = memory_on(i, 8);
        from[i] = memory_on(i, BYTES);
        pass[i] = memory_on(i, BYTES);
        fill(data, BYTES, (uint64_t)i);
        check_ok(omprma_submit(queue[i], from[i], data, BYTES));
        check_ok(omprma_queue_synchronize(queue[i]));
    }
    for (int i = 0; i < MANY; i++) {
        many[i] = queue_on(held_of(i));
        to[i] = memory_on(target_of(i), BYTES);
    }
}

/* A kernel on a device lasts until release(). */
static void hold(int device)
{
    static const uint64_t zero = 0;

    check_ok(omprma_submit(queue[device], until[device], &zero, 8));
    launch(queue[device], symbol_at(device, "hold", 0), until[device], 0, 0);
    check_ok(omprma_queue_flush(queue[device]));
    check_ok(omprma_event_record(held[device], queue[device]));
}

static void release(int device)
{
    static const uint64_t one = 1;

    check_ok(omprma_submit(other[device], until[device], &one, 8));
    check_ok(omprma_queue_synchronize(other[device]));
}

/* Behind the kernel of the device, some in its queue, others in queues of their own. */
static void append(int number)
{
    int source = held_of(number);
    omprma_queue_t *at = number % 3 ? many[number] : queue[source];

    if (number % 3)
        check_ok(omprma_event_wait(held[source], at));
    check_ok(omprma_exchange(at, from[source], target_of(number), to[number], BYTES));
}

/* Around all devices: each passes on when it has what the one before it passes on. */
static void append_ring(void)
{
    check_ok(omprma_event_wait(held[0], ring[0]));
    check_ok(omprma_exchange(ring[0], from[0], 0, pass[0], BYTES));
    for (int i = 0; i < HOPS * devices; i++) {
        int here = i % devices, next = (i + 1) % devices;

        check_ok(omprma_exchange(ring[here], pass[here], next, pass[next], BYTES));
        check_ok(omprma_event_record(event, ring[here]));
        check_ok(omprma_event_wait(event, ring[next]));
    }
}

/* The last device is not held. */
static void exchange_meanwhile(void)
{
    int last = devices - 1;

    fill(data, BYTES, (uint64_t)last);
    for (int i = 0; i < last; i++) {
        omprma_addr_t there = memory_on(i, BYTES);

        check_ok(omprma_exchange(queue[last], from[last], i, there, BYTES));
        check_ok(omprma_queue_synchronize(queue[last]));
        check_ok(omprma_retrieve(other[i], back, there, BYTES));
        check_ok(omprma_queue_synchronize(other[i]));
        check(memcmp(data, back, BYTES) == 0);
        check_ok(omprma_free(i, there));
    }
}

static void check_data(int device, omprma_addr_t at, int source)
{
    fill(data, BYTES, (uint64_t)source);
    memset(back, 0, BYTES);
    check_ok(omprma_retrieve(other[device], back, at, BYTES));
    check_ok(omprma_queue_synchronize(other[device]));
    check(memcmp(data, back, BYTES) == 0);
}

static bool is_done(omprma_queue_t *at)
{
    bool done = false;

    check_ok(omprma_queue_query(at, &done));
    return done;
}

/* The most that the program has while everything goes on. */
static size_t finish(void)
{
    size_t most = 0, now;
    bool done = false;

    while (!done) {
        done = is_done(ring[0]);
        for (int i = 0; i < MANY; i++)
            done = done && is_done(many[i]) && is_done(queue[held_of(i)]);
        now = allocated();
        most = now > most ? now : most;
    }
    return most;
}

static void go(void)
{
    const char *way = getenv("OMPRMA_EXCHANGE");
    size_t before = allocated(), waiting, most;

    for (int i = 0; i < devices - 1; i++)
        hold(i);
    for (int i = 0; i < MANY; i++)
        append(i);
    append_ring();
    exchange_meanwhile();
    exchange_meanwhile();
    for (int i = 0; i < MANY; i++)
        check(!is_done(many[i]) || i % 3 == 0);
    waiting = allocated();
    for (int i = 0; i < devices - 1; i++)
        release(i);
    most = finish();
    printf("%d exchanges: %lld KiB while they wait, at most %lld KiB then\n", MANY,
           (long long)(waiting - before) >> 10, (long long)(most - before) >> 10);
    for (int i = 0; i < devices; i++) {
        check_ok(omprma_queue_synchronize(queue[i]));
        check_ok(omprma_queue_synchronize(ring[i]));
    }
    for (int i = 0; i < MANY; i++) {
        check_ok(omprma_queue_synchronize(many[i]));
        check_data(target_of(i), to[i], held_of(i));
    }
    check_data(0, pass[0], 0);
    if (!way || strcmp(way, "application") != 0)
        return; /* MPI's own memory depends on it */
    check(waiting < before + WAITING_MOST);
    check(most < before + GOING_MOST);
}

/* A put into a stopped process may succeed. */
static void check_stopped(int number, omprma_status_t status)
{
    int source = held_of(number), target = target_of(number);
    char wanted[100];

    snprintf(wanted, sizeof(wanted), "exchange from device %d to device %d: device ", source,
             target);
    if (status == OMPRMA_OK && source != 1)
        return;
    check(status == OMPRMA_ERR_DEVICE_LOST);
    check(strncmp(omprma_error(), wanted, strlen(wanted)) == 0);
    check(strstr(omprma_error(), "not answered"));
}

static void stop(void)
{
    omprma_device_info_t info;
    int failed = 0;

    for (int i = 0; i < devices - 1; i++)
        hold(i);
    for (int i = 0; i < MANY; i++)
        append(i);
    check_ok(omprma_device_info(1, &info));
    check(kill(info.pid, SIGSTOP) == 0);
    for (int i = 0; i < devices - 1; i++)
        if (i != 1)
            release(i);
    for (int i = 0; i < MANY; i++) {
        omprma_status_t status;

        if (i % 3 == 0)
            continue;
        status = omprma_queue_synchronize(many[i]);
        check_stopped(i, status);
        failed += status != OMPRMA_OK;
    }
    check(failed > 0);
    for (int i = 0; i < devices; i++)
        omprma_queue_synchronize(queue[i]);
    fprintf(stderr, "stopped: all have ended, %d with an error\n", failed);
}

int main(int count, char **words)
{
    alarm(count > 2 ? (unsigned)atoi(words[2]) : 100); /* the calls that do not return */
    setenv("OMPRMA_PIECE", "256K", 1);
    check_ok(omprma_init());
    devices = omprma_device_count();
    check(devices >= 3 && devices <= DEVICES_MOST);
    start();
    if (count > 1 && strcmp(words[1], "stop") == 0)
        stop();
    else
        go();
    omprma_finalize();
    return 0;
}
