/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * random.h: random programs over omprma.h, and a model that knows what they must give. Shared by
 * tests/integration/random.c (real workers) and tests/unit/test_random.c (null path).
 *
 * A program is a list of operations, made from a seed; the same seed and limits make the same one.
 * The model accepts an operation only if its result is certain: whatever it reads or overwrites was
 * written, and read, by operations that are complete before it begins (by the order of a queue,
 * events, or waiting on the host). It follows this by vector clocks over queues and threads. So any
 * part of a program is a program again: what is no longer certain is left out. That is how failing
 * programs are shrunk.
 *
 * What the model takes for promised, beside what omprma.h says
 *   A queue runs everything before an operation that fails, and nothing after it, except that a
 *   retrieve may have overtaken it: its host memory holds anything. What is called on the queue
 *   meanwhile gives OK or the error; synchronize or destroy gives the error once.
 *   An event has the fate of what its queue was given before it was recorded, once and for all: it
 *   completes without error if all of that succeeds, else with the error, also if what failed was a
 *   wait. What fails later in its queue, synchronizing and destroying that queue do not change it.
 *   A queue that is told to wait for an event that failed fails, whether the call says so or not.
 *   Operations of one queue that use the same host memory do so in their order.
 *   A callback is called once, in the order of its queue, with the error that the queue has when it
 *   is asked for, or OK.
 */
#ifndef OMPRMA_TESTS_RANDOM_RANDOM_H
#define OMPRMA_TESTS_RANDOM_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

enum {
    RANDOM_DEVICES = 4,
    RANDOM_QUEUES = 8,
    RANDOM_EVENTS = 6,
    RANDOM_THREADS = 3,
    RANDOM_ACTORS = RANDOM_QUEUES + RANDOM_THREADS, /* who does things in some order */
    RANDOM_HOST = 0,                                /* block: memory of the program */
    RANDOM_GLOBAL = 1, /* block of device 0: outside arenas; and so on */
    RANDOM_ALLOCATED = RANDOM_GLOBAL + RANDOM_DEVICES, /* first of the blocks that come and go */
    RANDOM_BLOCKS = RANDOM_ALLOCATED + 8,
    RANDOM_OPERATIONS_MOST = 1000,
};

/* What programs may use, and where it is. */
struct random_limits {
    int devices, threads;
    int operations; /* length of a program */
    uint64_t most;  /* bytes of the largest transfer */
    bool failures;  /* operations that fail on purpose */
    uint64_t global_bytes;
    omprma_addr_t hole; /* unmapped on every device, `most` bytes */
    struct random_symbols {
        omprma_addr_t fill, add, copy, sum, nap, global;
        omprma_addr_t fill_context; /* for omprma_launch_context(); 0: there is none */
    } symbols[RANDOM_DEVICES];
};

enum random_kind {
    RANDOM_QUEUE_CREATE,
    RANDOM_QUEUE_DESTROY,
    RANDOM_FLUSH,
    RANDOM_QUERY,       /* once */
    RANDOM_QUERY_DONE,  /* until it says done */
    RANDOM_SYNCHRONIZE, /* queue */
    RANDOM_NOTIFY,      /* a callback at this place of a queue */
    RANDOM_NOTIFIED,    /* a thread waits for the last one of a queue */
    RANDOM_RENEW,       /* destroys an event, creates another */
    RANDOM_RECORD,
    RANDOM_WAIT,
    RANDOM_EVENT_QUERY,
    RANDOM_EVENT_DONE, /* query until it says done */
    RANDOM_EVENT_SYNCHRONIZE,
    RANDOM_ALLOC,
    RANDOM_FREE,
    RANDOM_WRITE, /* host memory, by a thread */
    RANDOM_LOOK,  /* at host memory: compare */
    RANDOM_SUBMIT,
    RANDOM_RETRIEVE,
    RANDOM_EXCHANGE,
    RANDOM_BROADCAST,
    RANDOM_PATTERN, /* omprma_fill() */
    RANDOM_FILL,    /* kernels, to RANDOM_NAP */
    RANDOM_ADD,
    RANDOM_COPY,
    RANDOM_SUM,
    RANDOM_NAP,
    RANDOM_PAUSE,      /* host */
    RANDOM_BAD_SUBMIT, /* these three fail on the worker */
    RANDOM_BAD_RETRIEVE,
    RANDOM_BAD_EXCHANGE,
    RANDOM_OVERRUN, /* these three at once, and the queue goes on */
    RANDOM_NO_KERNEL,
    RANDOM_TOO_MUCH,
    RANDOM_HANDOFF, /* a thread waits until another has come this far */
    RANDOM_KINDS
};

/* A place in a block. */
struct random_place {
    int block;
    uint64_t at;
};

struct random_operation {
    enum random_kind kind;
    int thread, queue, event;
    int number; /* its place in the program as it was made; survives shrinking */
    int peer;   /* handoff: the thread that is waited for; exchange to a hole: the device */
    uint64_t bytes, value;
    struct random_place from, to;
    int targets; /* of a broadcast */
    struct random_target {
        int queue;
        struct random_place to;
    } target[RANDOM_DEVICES];
};

struct random_program {
    uint64_t seed;
    int count;
    struct random_operation operation[RANDOM_OPERATIONS_MOST];
};

/* What one thread does, in the order of the whole program. */
struct random_step {
    struct random_operation operation;
    unsigned allowed;        /* bit n: status n is right */
    omprma_status_t told;    /* notify: what the callback is given */
    int notify;              /* notified: the step of the callback */
    unsigned char *expected; /* of a look */
};

/* ---- model.c ---- */

struct random_model;

struct random_model *random_model_create(const struct random_limits *limits);
void random_model_destroy(struct random_model *model);

/* Why an operation is not certain. */
struct random_obstacle {
    int actor; /* that must be waited for; -1: another reason */
    bool undefined;
    struct random_place place; /* that holds nothing certain */
    uint64_t bytes;
};

/* Takes the operation as the next one if its result is certain. */
bool random_model_accept(struct random_model *model, const struct random_operation *operation,
                         struct random_obstacle *obstacle);

/* Steps of what was accepted; handoffs between threads stand where they are needed. */
const struct random_step *random_model_steps(const struct random_model *model, int *count);

/* For whoever proposes operations and looks at the end. */
int random_model_queue_device(const struct random_model *model, int queue); /* -1: no queue */
bool random_model_event_recorded(const struct random_model *model, int event);
int random_model_block_device(const struct random_model *model, int block);
uint64_t random_model_block_bytes(const struct random_model *model, int block); /* 0: no block */
/* Compares what is certain of a block with `found`; the first difference in *at. */
bool random_model_compare(const struct random_model *model, int block, const unsigned char *found,
                          uint64_t *at);

/* Content that thread and kernel operations make from a number; the same on every run. */
void random_fill(void *data, uint64_t bytes, uint64_t value);
uint64_t random_pattern_bytes(const struct random_operation *operation);
uint64_t random_sum(const void *data, uint64_t bytes);
uint64_t random_draw(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t limit);

/* ---- generate.c ---- */

/* False with RANDOM_FAILURES=no in the environment: programs without operations that fail. */
bool random_may_fail(void);

void random_generate(struct random_program *program, const struct random_limits *limits,
                     uint64_t seed);

/* ---- describe.c ---- */

void random_describe(const struct random_operation *operation, char *text, size_t size);
/* All of it on stderr, one operation a line. */
void random_print(const struct random_program *program);
/* The numbers of the operations that are left, as "0-3,7". */
void random_list_kept(const struct random_program *program, char *text, size_t size);
/* Keeps only these; false if the text makes no sense. */
bool random_keep(struct random_program *program, const char *kept);

/* ---- execute.c ---- */

/*
 * Runs the program on the devices of this process, between omprma_init() and omprma_finalize(). At
 * the first thing that is wrong it says what, prints the program and ends the process with status
 * 1; when nothing moves for `patience_s`, it says what is waited for, and ends it with status 3.
 */
void random_execute(const struct random_program *program, const struct random_limits *limits,
                    int patience_s);

/* ---- shrink.c ---- */

/* Leaves out of a failing program what it does not need to fail. */
void random_shrink(struct random_program *program,
                   bool (*fails)(const struct random_program *program, void *data), void *data);

#endif
