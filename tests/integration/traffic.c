/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * traffic.c: traffic ROUNDS: many devices exchange at the same time: rings, all to all, both
 * directions between every pair, copies inside a device, and what follows an exchange in its queue.
 * Everything is ordered by events and checked by sums made on the devices. The memory of the
 * program and of the workers does not go on growing: each gets through ROUNDS of it with what it
 * has.
 */
#include <malloc.h>

#include "check.h"

enum {
    DEVICES_MOST = 8,
    BLOCK = 384 << 10,      /* one of the blocks that a device sends or takes */
    STEPS = 11,             /* of a ring: more than devices, and not a multiple */
    BURSTS = 20,            /* of small exchanges */
    BURST = 10,             /* exchanges of a device to each other, without waiting */
    QUEUED = 100,           /* messages that wait at a worker: more than are ever kept for reuse */
    STRETCHES = 8,          /* of ROUNDS, until each process has got through one without growing */
    HEAP_GROWTH = 48 << 10, /* a stretch: 32 bytes for each small exchange are twice as much */
    RESIDENT_GROWTH = 16 << 20 /* pages of the heap that were free before; buffers of MPI */
};

struct end {
    omprma_queue_t *queue, *to[DEVICES_MOST];
    omprma_event_t *ready, *sent[DEVICES_MOST];
    omprma_addr_t out, in, sums; /* a block and a sum for every device */
    omprma_addr_t add, sum;
    unsigned char *copy; /* what `out` holds */
    uint64_t wanted[DEVICES_MOST], got[DEVICES_MOST];
};

static struct end ends[DEVICES_MOST];
static int devices;

static void record_for(omprma_event_t *event, omprma_queue_t *of, omprma_queue_t *waiting)
{
    check_ok(omprma_event_record(event, of));
    check_ok(omprma_event_wait(event, waiting));
}

static void send(omprma_queue_t *queue, omprma_addr_t from, int device, omprma_addr_t to,
                 uint64_t bytes)
{
    check_ok(omprma_exchange(queue, from, device, to, bytes));
}

/* A sum of device memory into place `slot` of the device's sums. */
static void sum_up(struct end *end, omprma_addr_t at, uint64_t bytes, int slot)
{
    launch(end->queue, end->sum, at, bytes, end->sums + 8 * (uint64_t)slot);
}

static void compare_sums(int slots)
{
    for (int i = 0; i < devices; i++)
        check_ok(omprma_retrieve(ends[i].queue, ends[i].got, ends[i].sums, 8 * (uint64_t)slots));
    for (int i = 0; i < devices; i++) {
        check_ok(omprma_queue_synchronize(ends[i].queue));
        for (int k = 0; k < slots; k++)
            check(ends[i].got[k] == ends[i].wanted[k]);
    }
}

/* The blocks to send are other ones each time: on the devices and in the copies. */
static void change(uint64_t bytes)
{
    for (int i = 0; i < devices; i++) {
        launch(ends[i].queue, ends[i].add, ends[i].out, bytes, 1);
        for (uint64_t at = 0; at < bytes; at++)
            ends[i].copy[at]++;
    }
}

/* Each passes on what it took in the step before. A block may be overwritten when its owner has
 * passed it on: that is what the second wait is for. */
static void ring(uint64_t bytes)
{
    change(bytes);
    for (int i = 0; i < devices; i++)
        send(ends[i].queue, ends[i].out, i, ends[i].in, bytes);
    for (int step = 0; step < STEPS; step++) {
        uint64_t here = (uint64_t)(step % 2) * BLOCK, there = BLOCK - here;

        for (int i = 0; i < devices; i++)
            check_ok(omprma_event_record(ends[i].ready, ends[i].queue));
        for (int i = 0; i < devices; i++) {
            int next = (i + 1) % devices, before = (i + devices - 1) % devices;

            check_ok(omprma_event_wait(ends[before].ready, ends[i].queue));
            check_ok(omprma_event_wait(ends[next].ready, ends[i].queue));
            send(ends[i].queue, ends[i].in + here, next, ends[next].in + there, bytes);
        }
    }
    for (int i = 0; i < devices; i++) {
        struct end *next = &ends[(i + 1) % devices];

        record_for(ends[i].ready, ends[i].queue, next->queue);
        sum_up(next, next->in + STEPS % 2 * BLOCK, bytes, 0);
        ends[(i + STEPS) % devices].wanted[0] = sum_of(ends[i].copy, bytes);
    }
    compare_sums(1);
}

/* Every device sends another block to every device, all under way together: through one queue per
 * device, or one per pair. */
static void all_to_all(uint64_t bytes, bool pairs)
{
    change(bytes * (uint64_t)devices);
    for (int i = 0; i < devices; i++) {
        for (int k = 0; k < devices; k++) {
            uint64_t from = (uint64_t)k * bytes;
            omprma_queue_t *queue = pairs ? ends[i].to[k] : ends[i].queue;

            if (pairs)
                record_for(ends[i].ready, ends[i].queue, queue);
            send(queue, ends[i].out + from, k, ends[k].in + (uint64_t)i * bytes, bytes);
            check_ok(omprma_event_record(ends[i].sent[k], queue));
            ends[k].wanted[i] = sum_of(ends[i].copy + from, bytes);
        }
    }
    for (int i = 0; i < devices; i++) {
        for (int k = 0; k < devices; k++) {
            check_ok(omprma_event_wait(ends[k].sent[i], ends[i].queue));
            sum_up(&ends[i], ends[i].in + (uint64_t)k * bytes, bytes, k);
        }
    }
    compare_sums(devices);
}

/* Both directions between two devices at once, with every other device in turn; the second of two
 * blocks to the same place wins. */
static void both_ways(uint64_t bytes)
{
    uint64_t half = bytes / 2;

    change(bytes + half);
    for (int turn = 1; turn < DEVICES_MOST; turn++) {
        for (int i = 0; i < devices; i++)
            check_ok(omprma_event_record(ends[i].ready, ends[i].queue));
        for (int i = 0; i < devices; i++) {
            int peer = i ^ turn;

            if (peer >= devices)
                continue;
            check_ok(omprma_event_wait(ends[peer].ready, ends[i].queue));
            send(ends[i].queue, ends[i].out, peer, ends[peer].in, bytes);
            send(ends[i].queue, ends[i].out + half, peer, ends[peer].in, bytes);
            check_ok(omprma_event_record(ends[i].sent[peer], ends[i].queue));
        }
        for (int i = 0; i < devices; i++) {
            int peer = i ^ turn;

            ends[i].wanted[turn - 1] = 0;
            if (peer < devices) {
                check_ok(omprma_event_wait(ends[peer].sent[i], ends[i].queue));
                sum_up(&ends[i], ends[i].in, bytes, turn - 1);
                ends[i].wanted[turn - 1] = sum_of(ends[peer].copy + half, bytes);
            }
        }
    }
    for (int i = 0; i < devices; i++) /* those who had no peer in a turn have an old sum there */
        for (int turn = 1; turn < DEVICES_MOST; turn++)
            if ((i ^ turn) >= devices)
                check_ok(omprma_submit(ends[i].queue, ends[i].sums + 8 * (uint64_t)(turn - 1),
                                       &ends[i].wanted[turn - 1], 8));
    compare_sums(DEVICES_MOST - 1);
}

/* Source and destination overlap inside one device, upwards and downwards; the neighbour's blocks
 * arrive beside them meanwhile. */
static void inside(uint64_t bytes, uint64_t shift)
{
    change(bytes + 2 * shift);
    for (int i = 0; i < devices; i++) {
        struct end *end = &ends[i];
        int next = (i + 1) % devices;

        send(end->queue, end->out + bytes, next, ends[next].in + BLOCK, bytes);
        send(end->queue, end->out, i, end->out + shift, bytes);
        send(end->queue, end->out + shift, i, end->out, bytes + shift);
        sum_up(end, end->out, bytes + 2 * shift, 0);
        memmove(end->copy + shift, end->copy, bytes);
        memmove(end->copy, end->copy + shift, bytes + shift);
        end->wanted[0] = sum_of(end->copy, bytes + 2 * shift);
    }
    compare_sums(1);
}

/* There, changed, and back. What follows an exchange in its queue sees it, and what changes its
 * source afterwards does not touch what arrives. */
static void there_and_back(uint64_t bytes)
{
    unsigned char first[DEVICES_MOST], last[DEVICES_MOST];

    change(bytes);
    for (int i = 0; i < devices; i++) {
        struct end *end = &ends[i], *next = &ends[(i + 1) % devices];
        uint64_t back = BLOCK;

        send(end->queue, end->out, (i + 1) % devices, next->in, bytes);
        launch(end->queue, end->add, end->out, bytes, 5);
        check_ok(omprma_retrieve(end->queue, &first[i], end->out, 1));
        record_for(end->ready, end->queue, next->to[i]);
        send(next->to[i], next->in, i, end->in + back, bytes);
        launch(next->to[i], next->add, next->in, bytes, 9);
        record_for(end->sent[0], next->to[i], end->queue);
        launch(end->queue, end->add, end->in + back, bytes, 1);
        send(end->queue, end->in + back, i, end->in + 2 * back, bytes);
        check_ok(omprma_retrieve(end->queue, &last[i], end->in + 2 * back + bytes - 1, 1));
        sum_up(end, end->in + 2 * back, bytes, 0);
        check_ok(omprma_event_record(end->sent[1], next->to[i]));
    }
    for (int i = 0; i < devices; i++) {
        struct end *end = &ends[i], *next = &ends[(i + 1) % devices];
        unsigned char before = end->copy[0];

        for (uint64_t at = 0; at < bytes; at++)
            end->copy[at]++; /* on the way back */
        end->wanted[0] = sum_of(end->copy, bytes);
        check_ok(omprma_queue_synchronize(end->queue));
        check(first[i] == (unsigned char)(before + 5));
        check(last[i] == end->copy[bytes - 1]);
        for (uint64_t at = 0; at < bytes; at++)
            end->copy[at] += 4; /* what `out` holds */
        check_ok(omprma_event_synchronize(end->sent[1]));
        check_ok(omprma_queue_synchronize(next->to[i]));
    }
    compare_sums(1);
}

static void burst(void)
{
    for (int time = 0; time < BURST; time++)
        for (int i = 0; i < devices; i++)
            for (int k = 0; k < devices; k++)
                send(ends[i].queue, ends[i].out + (uint64_t)k, k, ends[k].in + (uint64_t)i, 1);
    for (int i = 0; i < devices; i++)
        check_ok(omprma_queue_synchronize(ends[i].queue));
}

/* Many that cost next to nothing themselves: what they leave behind adds up. */
static void bursts(void)
{
    change((uint64_t)devices);
    for (int i = 0; i < BURSTS; i++)
        burst();
    for (int i = 0; i < devices; i++) {
        for (int k = 0; k < devices; k++) {
            sum_up(&ends[i], ends[i].in + (uint64_t)k, 1, k);
            ends[i].wanted[k] = sum_of(ends[k].copy + i, 1);
        }
    }
    compare_sums(devices);
}

static void everything(void)
{
    static const uint64_t sizes[] = {7, 3000, BLOCK};

    for (int i = 0; i < 3; i++) {
        ring(sizes[i]);
        all_to_all(sizes[i], false);
        all_to_all(sizes[i], true);
        both_ways(sizes[i]);
        there_and_back(sizes[i]);
    }
    inside(BLOCK, 1);
    inside(BLOCK, BLOCK / 3);
    inside(100, 30);
    bursts();
}

/* Both sides keep the messages of their fullest moment for reuse, so that moment comes first: every
 * worker is held up while messages for it come in. */
static void fill_up(void)
{
    static const uint64_t zero = 0, one = 1;

    for (int i = 0; i < devices; i++) {
        struct end *end = &ends[i];

        check_ok(omprma_submit(end->queue, end->in, &zero, 8));
        launch(end->queue, symbol_at(i, "hold", 0), end->in, 0, 0);
        check_ok(omprma_queue_flush(end->queue));
        for (int k = 0; k < QUEUED; k++) {
            launch(end->to[0], end->sum, end->in, 0, end->sums);
            check_ok(omprma_queue_flush(end->to[0]));
        }
        check_ok(omprma_submit(end->to[1], end->in, &one, 8));
        check_ok(omprma_queue_synchronize(end->to[1]));
    }
    for (int i = 0; i < devices; i++) {
        check_ok(omprma_queue_synchronize(ends[i].to[0]));
        check_ok(omprma_queue_synchronize(ends[i].queue));
    }
}

/* Memory of a process. */
struct memory {
    uint64_t heap, resident;
};

static uint64_t resident(int pid)
{
    char path[64];
    long pages;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/statm", pid);
    file = fopen(path, "r");
    check(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Of the workers, and of the program (the last one). */
static void measure(struct memory memory[DEVICES_MOST + 1])
{
    struct mallinfo2 own = mallinfo2();

    memory[devices] = (struct memory){own.uordblks + own.hblkhd, resident(getpid())};
    for (int i = 0; i < devices; i++) {
        omprma_device_info_t info;

        check_ok(omprma_device_info(i, &info));
        memory[i].resident = resident(info.pid);
        launch(ends[i].queue, symbol_at(i, "heap", 0), ends[i].sums, 0, 0);
        check_ok(omprma_retrieve(ends[i].queue, &memory[i].heap, ends[i].sums, 8));
        check_ok(omprma_queue_synchronize(ends[i].queue));
    }
}

/* MPI's pools of buffers grow in steps, to whatever the busiest moment so far needed; what is lost
 * with every exchange makes a process grow in every stretch. */
static void settle(int rounds)
{
    struct memory before[DEVICES_MOST + 1], after[DEVICES_MOST + 1];
    bool settled[DEVICES_MOST + 1] = {0};
    int growing = devices + 1;

    for (int stretch = 0; growing && stretch < STRETCHES; stretch++) {
        measure(before);
        for (int i = 0; i < rounds; i++)
            everything();
        measure(after);
        for (int i = 0; i <= devices; i++) {
            printf("%s %d: heap %lld + %lld, resident %lld + %lld KiB\n",
                   i < devices ? "worker" : "program, beside", i, (long long)before[i].heap >> 10,
                   (long long)(after[i].heap - before[i].heap) >> 10,
                   (long long)before[i].resident >> 10,
                   (long long)(after[i].resident - before[i].resident) >> 10);
            if (settled[i] || after[i].heap > before[i].heap + HEAP_GROWTH ||
                after[i].resident > before[i].resident + RESIDENT_GROWTH)
                continue;
            settled[i] = true;
            growing--;
        }
    }
    check(growing == 0);
}

static void create(int number)
{
    struct end *end = &ends[number];
    uint64_t bytes = (uint64_t)DEVICES_MOST * BLOCK;

    end->queue = queue_on(number);
    check_ok(omprma_event_create(&end->ready));
    for (int i = 0; i < DEVICES_MOST; i++) {
        end->to[i] = queue_on(number);
        check_ok(omprma_event_create(&end->sent[i]));
    }
    end->out = memory_on(number, bytes);
    end->in = memory_on(number, bytes);
    end->sums = memory_on(number, 8 * DEVICES_MOST);
    end->add = symbol_at(number, "add", 0);
    end->sum = symbol_at(number, "sum", 0);
    end->copy = malloc(bytes);
    check(end->copy);
    fill(end->copy, bytes, (uint64_t)number);
    check_ok(omprma_submit(end->queue, end->out, end->copy, bytes));
    check_ok(omprma_queue_synchronize(end->queue));
}

static void destroy(struct end *end)
{
    check_ok(omprma_queue_destroy(end->queue));
    omprma_event_destroy(end->ready);
    for (int i = 0; i < DEVICES_MOST; i++) {
        check_ok(omprma_queue_destroy(end->to[i]));
        omprma_event_destroy(end->sent[i]);
    }
    free(end->copy);
}

int main(int count, char **words)
{
    int rounds = count > 1 ? atoi(words[1]) : 1;

    setenv("OMPRMA_PIECE", "128K", 1); /* blocks travel in several */
    check_ok(omprma_init());
    devices = omprma_device_count();
    check(devices <= DEVICES_MOST);
    for (int i = 0; i < devices; i++)
        create(i);
    fill_up();
    everything();
    everything();
    settle(rounds);
    for (int i = 0; i < devices; i++)
        destroy(&ends[i]);
    omprma_finalize();
    return 0;
}
