/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * late.c: late HOW [BYTES]: a worker does nothing for a while, and nobody else waits for it.
 * - idle: it is stopped before a thread copies to it and back.
 * - busy: it is stopped while a thread copies to it and back, again and again.
 * Meanwhile this thread copies to another worker and back, and asks what only reads. The worker is
 * continued when all of that has ended, so a call that waited for it would not end before alarm().
 * Then the other thread's data arrives. The longest time of a copy is printed; nothing depends on
 * it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { COPIES = 300, BYTES_MOST = 16 << 20, OTHER_BYTES = 64 << 10 };

static size_t bytes = 1 << 20;
static unsigned char data[BYTES_MOST], back[BYTES_MOST];
static unsigned char other_data[OTHER_BYTES], other_back[OTHER_BYTES];
static omprma_queue_t *late_queue, *other_queue;
static omprma_addr_t late_at, other_at;
static _Atomic bool ends, has_begun;
static bool repeats;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void round_trip(omprma_queue_t *queue, omprma_addr_t at, unsigned char *to,
                       const unsigned char *from, size_t size)
{
    memset(to, 0, size);
    check_ok(omprma_submit(queue, at, from, size));
    check_ok(omprma_queue_synchronize(queue));
    check_ok(omprma_retrieve(queue, to, at, size));
    check_ok(omprma_queue_synchronize(queue));
    check(memcmp(to, from, size) == 0);
}

static void *copy_to_late(void *unused)
{
    (void)unused;
    do {
        atomic_store(&has_begun, true);
        round_trip(late_queue, late_at, back, data, bytes);
    } while (repeats && !atomic_load(&ends));
    return NULL;
}

/* The longest of some copies. */
static double copy_to_other(int copies)
{
    double worst = 0;

    for (int i = 0; i < copies; i++) {
        double begin = seconds(), took;
        omprma_device_info_t info;

        fill(other_data, OTHER_BYTES, (uint64_t)i);
        round_trip(other_queue, other_at, other_back, other_data, OTHER_BYTES);
        check(omprma_device_count() >= 2);
        check_ok(omprma_device_info(0, &info));
        took = seconds() - begin;
        worst = took > worst ? took : worst;
        usleep(1000);
    }
    return worst;
}

int main(int count, char **words)
{
    double quiet, worst, begin;
    omprma_device_info_t info;
    pthread_t thread;

    alarm(60);
    check(count > 1);
    repeats = strcmp(words[1], "busy") == 0;
    if (count > 2)
        bytes = (size_t)atol(words[2]);
    check(bytes <= BYTES_MOST);
    check_ok(omprma_init());
    check(omprma_device_count() >= 2);
    late_queue = queue_on(0);
    other_queue = queue_on(1);
    late_at = memory_on(0, bytes);
    other_at = memory_on(1, OTHER_BYTES);
    fill(data, bytes, 1);
    round_trip(late_queue, late_at, back, data, bytes);
    quiet = copy_to_other(COPIES);
    check_ok(omprma_device_info(0, &info));
    if (!repeats)
        check(kill(info.pid, SIGSTOP) == 0);
    usleep(20000); /* nothing has come from it for a while */
    check(pthread_create(&thread, NULL, copy_to_late, NULL) == 0);
    while (!atomic_load(&has_begun))
        usleep(100);
    usleep(2000);
    if (repeats)
        check(kill(info.pid, SIGSTOP) == 0);
    worst = copy_to_other(COPIES);
    atomic_store(&ends, true);
    begin = seconds();
    check(kill(info.pid, SIGCONT) == 0);
    check(pthread_join(thread, NULL) == 0);
    printf("longest copy to another worker: %.1f ms, %.1f ms before; the late one ended %.1f ms "
           "after it went on\n",
           worst * 1e3, quiet * 1e3, (seconds() - begin) * 1e3);
    omprma_finalize();
    return 0;
}
