/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * losses.c: losses HOW: four devices exchange, and device 1 is lost.
 * - before: a kernel has crashed there before anybody exchanges with it
 * - during: it crashes while exchanges with it are under way
 * - kill: its worker gets SIGKILL while large exchanges go on; omprma-run ends the program
 * - copies: its worker gets SIGKILL while the program copies 64 MiB there and back
 * An error names both devices. The other devices go on with right data.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "check.h"

enum { DEVICES = 4, BYTES = 3 << 20, AGAIN = 12 };

static omprma_queue_t *queues[DEVICES];
static omprma_addr_t from[DEVICES], to[DEVICES], sums[DEVICES], sum[DEVICES];
static unsigned char data[BYTES];

static void start(void)
{
    for (int i = 0; i < DEVICES; i++) {
        queues[i] = queue_on(i);
        from[i] = memory_on(i, BYTES);
        to[i] = memory_on(i, BYTES);
        sums[i] = memory_on(i, 8);
        sum[i] = symbol_at(i, "sum", 0);
        fill(data, BYTES, (uint64_t)i);
        check_ok(omprma_submit(queues[i], from[i], data, BYTES));
        check_ok(omprma_queue_synchronize(queues[i]));
    }
}

/* Device 0 and the last ones, both ways, with right data. */
static void check_others(void)
{
    static const int others[] = {0, 2, 3};

    for (int i = 0; i < 3; i++) {
        int source = others[i], target = others[(i + 1) % 3];
        uint64_t got = 0;

        check_ok(omprma_exchange(queues[source], from[source], target, to[target], BYTES));
        check_ok(omprma_queue_synchronize(queues[source]));
        launch(queues[target], sum[target], to[target], BYTES, sums[target]);
        check_ok(omprma_retrieve(queues[target], &got, sums[target], 8));
        check_ok(omprma_queue_synchronize(queues[target]));
        fill(data, BYTES, (uint64_t)source);
        check(got == sum_of(data, BYTES));
    }
}

/* The error of an exchange between them. */
static void check_error(omprma_status_t status, int source, int target)
{
    char wanted[100];

    fprintf(stderr, "exchange %d to %d: %s: %s\n", source, target, omprma_status_string(status),
            omprma_error());
    check(status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_KERNEL);
    snprintf(wanted, sizeof(wanted), "exchange from device %d to device %d: ", source, target);
    check(strncmp(omprma_error(), wanted, strlen(wanted)) == 0);
    check(strstr(omprma_error(), "read_null"));
}

static omprma_status_t exchange(int source, int target)
{
    return omprma_exchange(queues[source], from[source], target, to[target], BYTES);
}

static void before(void)
{
    launch(queues[1], symbol_at(1, "read_null", 0), 0, 0, 0);
    check(omprma_queue_synchronize(queues[1]) == OMPRMA_ERR_KERNEL);
    for (int i = 0; i < 3; i++) {
        check_error(exchange(0, 1), 0, 1);
        check_error(exchange(1, 2), 1, 2);
        check_others();
    }
}

/* The way from device to device and the moment decide which of those under way still succeed. What
 * fails says so when it is appended, or when its queue is synchronized. */
static void during(void)
{
    omprma_queue_t *other = queue_on(1);
    omprma_status_t status;

    for (int i = 0; i < AGAIN; i++) {
        status = exchange(0, 1);
        if (status != OMPRMA_OK)
            check_error(status, 0, 1);
        status = exchange(1, 2);
        if (status != OMPRMA_OK)
            check_error(status, 1, 2);
        check_ok(exchange(2, 3));
        if (i == 2) {
            launch(other, symbol_at(1, "read_null", 0), 0, 0, 0);
            check_ok(omprma_queue_flush(other));
        }
    }
    status = omprma_queue_synchronize(queues[0]);
    if (status != OMPRMA_OK)
        check_error(status, 0, 1);
    status = omprma_queue_synchronize(queues[1]);
    if (status != OMPRMA_OK)
        check_error(status, 1, 2);
    check_ok(omprma_queue_synchronize(queues[2]));
    check(omprma_queue_synchronize(other) == OMPRMA_ERR_KERNEL);
    check_error(exchange(0, 1), 0, 1);
    check_error(exchange(1, 2), 1, 2);
    check_others();
}

static void kill_worker(void)
{
    omprma_device_info_t info;

    check_ok(omprma_device_info(1, &info));
    for (int i = 0;; i++) { /* whatever the calls say, until somebody ends this process */
        for (int source = 0; source < DEVICES; source++)
            exchange(source, (source + 1) % DEVICES);
        if (i == AGAIN)
            check(kill(info.pid, SIGKILL) == 0);
        for (int source = 0; source < DEVICES; source++)
            omprma_queue_synchronize(queues[source]);
    }
}

static void *kill_later(void *copies)
{
    omprma_device_info_t info;

    check_ok(omprma_device_info(1, &info));
    while (atomic_load((atomic_int *)copies) < AGAIN)
        sched_yield();
    check(kill(info.pid, SIGKILL) == 0);
    return NULL;
}

/* Until the device is lost, or somebody ends this process. What the program has mapped of the
 * worker's memory stays there meanwhile. */
static void kill_in_copies(void)
{
    const size_t bytes = 64 << 20;
    char *here = calloc(1, bytes);
    omprma_addr_t there = memory_on(1, bytes);
    atomic_int copies = 0;
    pthread_t killer;

    check(here && pthread_create(&killer, NULL, kill_later, &copies) == 0);
    do {
        omprma_submit(queues[1], there, here, bytes);
        omprma_retrieve(queues[1], here, there, bytes);
        atomic_fetch_add(&copies, 1);
    } while (omprma_queue_synchronize(queues[1]) != OMPRMA_ERR_DEVICE_LOST);
    exit(3);
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";

    check_ok(omprma_init());
    check(omprma_device_count() == DEVICES);
    start();
    if (strcmp(how, "before") == 0)
        before();
    else if (strcmp(how, "during") == 0)
        during();
    else if (strcmp(how, "copies") == 0)
        kill_in_copies();
    else
        kill_worker();
    omprma_finalize();
    return 0;
}
