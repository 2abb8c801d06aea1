/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * backlog.c: backlog COUNT: appends COUNT operations behind a long kernel and waits for none of
 * them. The memory of neither process may grow with COUNT.
 */
#include "check.h"

enum { MOST_MIB = 64, NAP_US = 500000 };

/* The most memory that a process has had at a time, in MiB. */
static long peak_of(int pid)
{
    char path[64], line[256];
    long kib = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    file = fopen(path, "r");
    check(file);
    while (fgets(line, sizeof(line), file))
        sscanf(line, "VmHWM: %ld", &kib);
    fclose(file);
    check(kib > 0);
    return kib / 1024;
}

int main(int count, char **words)
{
    static unsigned char data[16 << 10]; /* as large as submits in messages may be */
    long wanted = count > 1 ? atol(words[1]) : 20000, peak, worker_peak;
    omprma_addr_t there, kernel, nap;
    omprma_device_info_t info;
    omprma_queue_t *queue;
    uint64_t counted = 0;

    check_ok(omprma_init());
    check_ok(omprma_device_info(0, &info));
    queue = queue_on(0);
    there = memory_on(0, 8 + sizeof(data));
    kernel = symbol_at(0, "count", 0);
    nap = symbol_at(0, "nap", 0);
    check_ok(omprma_submit(queue, there, &counted, 8));
    check_ok(omprma_queue_synchronize(queue));
    peak = peak_of(getpid());
    worker_peak = peak_of(info.pid);
    launch(queue, nap, NAP_US, 0, 0); /* many small messages */
    for (long i = 0; i < wanted; i++) {
        launch(queue, kernel, there, 0, 0);
        check_ok(omprma_queue_flush(queue));
    }
    launch(queue, nap, NAP_US, 0, 0); /* large ones */
    for (long i = 0; i < 4 * wanted; i++)
        check_ok(omprma_submit(queue, there + 8, data, info.inline_submit_bytes));
    check_ok(omprma_retrieve(queue, &counted, there, 8));
    check_ok(omprma_queue_synchronize(queue));
    check(counted == (uint64_t)wanted);
    peak = peak_of(getpid()) - peak;
    worker_peak = peak_of(info.pid) - worker_peak;
    printf("more memory: %ld MiB here, %ld MiB in the worker\n", peak, worker_peak);
    check(peak <= MOST_MIB && worker_peak <= MOST_MIB);
    check_ok(omprma_queue_destroy(queue));
    omprma_finalize();
    return 0;
}
