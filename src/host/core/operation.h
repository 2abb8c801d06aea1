/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * operation.h: the one object for whatever is appended to a queue: small submits and retrieves,
 * launches, puts and gets, two-sided transfers, exchanges, waits, marks.
 *
 * Life: appended, issued (handed to the worker or to a data path), ended. It ends exactly once, by
 * queue_end_operation(), well or with a failure, whoever notices, when the one thing is over that
 * it waits for. A two-sided transfer is two operations: the worker's half is a command, and this
 * side's a transfer that is issued with it.
 *
 * Ownership: the queue holds a reference until the operation has ended; events, waits and whoever
 * else wants to know how it ends hold one each. The last one gives it back to the pool. What has
 * ended keeps its state and failure for them, and touches no queue any more.
 *
 * Knows nothing of the order between operations; that is order.h.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CORE_OPERATION_H
#define OMPRMA_HOST_CORE_OPERATION_H

#include <stdbool.h>
#include <sys/queue.h>

#include <omprma/omprma.h>

#include "base/error.h"
#include "control/channel.h"
#include "control/datapath.h"
#include "host/core/paths.h"

struct completion;
struct device;
struct hop;
struct host_range;
struct omprma_times;
struct operation;

/* What went wrong, shared by all operations that it ends. */
struct failure {
    uint32_t references;
    omprma_status_t status;
    int code; /* the device's driver's own, 0: none */
    char text[ERROR_TEXT_BYTES];
};

/* Makes one with a reference for the caller. Never fails: without memory it is a fixed one that
 * says so. */
struct failure *failure_create(omprma_status_t status, int code, const char *text);
struct failure *failure_hold(struct failure *failure);
void failure_drop(struct failure *failure); /* NULL is allowed */

/* Makes it the calling thread's error; returns its status. */
omprma_status_t failure_report(const struct failure *failure);

enum operation_kind {
    /* commands: the worker runs them in the order of their queue */
    OPERATION_WRITE,   /* a small submit to an arena, which cannot fail: nobody waits for it */
    OPERATION_READ,    /* a small retrieve */
    OPERATION_COMMAND, /* launch, exchange, wait for another queue of the worker, grow, load, ... */
    /* the worker does not see them */
    OPERATION_TRANSFER, /* data that this side moves, by the functions of its path */
    OPERATION_WAIT,     /* for an operation of another queue */
    OPERATION_TASK,     /* something with steps of its own, see struct operation_task */
    OPERATION_MARK      /* ends when everything before it has: callbacks, events */
};

enum operation_state { OPERATION_APPENDED, OPERATION_ISSUED, OPERATION_ENDED };

/* Why a queue waits for an operation, and so what its failure means to the queue. */
enum wait_use {
    WAIT_EVENT,    /* a user's event: the queue fails with it */
    WAIT_EXCHANGE, /* the other half of its exchange: the same, naming both devices */
    WAIT_PART,     /* an earlier step of the same thing: the failure is handed on as it is */
    WAIT_ORDER     /* order only: the failure is not its own */
};

/* Where the parts of what a result brings go. */
struct read_parts {
    uint64_t begin, end; /* addresses between which all of them lie */
    size_t count, room;
    omprma_part_t part[];
};

/* Steps of an OPERATION_TASK, a barrier in its queue: it begins when all before it is over, and
 * nothing behind it is issued until it is over. Also of an OPERATION_TRANSFER that goes piece by
 * piece. Functions may fail the queue, but not touch its list. */
struct operation_task {
    const char *name;      /* a few words for a person */
    const char *waits_for; /* what it needs to end, once it has started */
    /* Begins if it can. Not *started: who makes it possible attends to the queue. */
    omprma_status_t (*start)(struct operation *operation, bool *started);
    /* Goes on. On an error the queue fails; it is called again until *done. */
    omprma_status_t (*step)(struct operation *operation, bool *done);
    /* Gives up what it holds; it has ended, or its device is lost. */
    void (*end)(struct operation *operation);
};

/* A path: how data gets over one link. What it appends to a queue comes back here for what this
 * side does; where workers do all, the latter functions are NULL. See path/path.h. */
struct path_ops {
    const char *name;     /* a word for traces */
    enum path path;       /* what it counts as in statistics */
    const char *moves[2]; /* what its transfers are called: out, in */
    bool copies;          /* each look moves them on: nobody else does */
    bool flushes;         /* what it appends leaves at once, so that data moves meanwhile */
    /* Whether data can go this way. */
    bool (*takes)(const struct hop *hop);
    /* Whether it should, where nobody prefers another path. NULL: whatever it takes. */
    bool (*wants)(const struct hop *hop);
    /* Appends it. *operation: when that has ended well the data has come; no reference. Where it is
     * in another queue than the hop says, that is a subqueue, which the caller lets go. Errors:
     * HOST_MEMORY. */
    omprma_status_t (*append)(const struct hop *hop, struct operation **operation);
    /* False: it is not to begin yet, and is asked again at each look. NULL: it always may. The
     * device may be lost by asking, which ends the operation. */
    bool (*may_begin)(struct operation *move);
    /* The transfer begins; it goes on, until *done. An error fails its queue there. One with a
     * command has no error: the worker would wait for ever, so they give the peer up instead. */
    omprma_status_t (*start)(struct operation *move);
    omprma_status_t (*progress)(struct operation *move, bool *done);
    /* A submit that was issued reads its source no more. NULL: when it has ended. */
    bool (*has_read)(const struct operation *move);
    /* Leaves one that is under way; its memory is not used again. NULL: nothing to do. */
    void (*abandon)(struct operation *move);
};

struct operation {
    struct operation *next, *prev; /* in its queue; `next` also in the pool */
    struct operation *next_active; /* in its queue's list of those that this side moves on */
    struct omprma_queue *queue;
    enum operation_kind kind;
    enum operation_state state;
    uint32_t references;
    bool replies;     /* command: its record asks for a result */
    bool wanted;      /* command: its message has to ask for a result */
    bool opens;       /* command: the first one of its message */
    bool closes;      /* command: the last one of its message, known when that was sent */
    bool counts;      /* it is one of queue->entries */
    bool may_fail;    /* read, transfer: what comes after it must not run if it does */
    bool timed;       /* it runs alone in its queue, see adapt.h */
    uint64_t number;  /* of a command in its queue; else that of the last command before it */
    uint64_t ordinal; /* in the order of the calls that appended them */
    struct failure *failure;         /* how it ended, or is bound to end; NULL: well */
    struct channel_message *message; /* command: holds its record, until it is sent */
    uint32_t record;                 /* offset of the record in it */
    struct operation *waiters;       /* operations that wait for its end */
    struct operation *next_waiter;   /* in the list of the one that it waits for, */
    struct operation *awaited;       /* which is this */
    struct device *with;  /* exchange: with the queue's device, see queue_use(); or NULL */
    struct peer *reaches; /* command: another worker accesses this one's memory by it; else NULL */
    bool is_part;         /* of an operation of another queue, which is counted */
    enum data_kind data;  /* what its data is carried for, */
    const struct path_ops *by;        /* and by which path; NULL: it carries none */
    struct omprma_queue *releases;    /* the other half of an exchange, held until it is issued */
    uint64_t device_at, device_bytes; /* range on the device, of writes, reads and transfers */
    uint64_t host_at, host_bytes;     /* range in this process; 0 bytes: none. See parts */
    bool fills_host;                  /* it will be written to */
    bool meets_others;                /* of those: it is not for the tree, see host_ranges.h */
    struct host_range *ranges;     /* that, in its queue's tree, see host_ranges.h; NULL: it is */
    LIST_ENTRY(operation) waiting; /* in the list beside the tree */
    struct read_parts *parts;      /* of what its result brings: not to host_at, but here */
    int64_t start_ns;              /* of transfers; 0: nothing is under way */
    uint64_t launch; /* of those with a command: number of the last launch in front of it; 0: it was
                      * over when the transfer began, or there was none */
    uint32_t span;   /* for the recording: its own, see report/recording.h, */
    uint32_t region, region_number; /* and its region's */
    struct omprma_times *times;     /* where they go, see report/times.h; NULL: nowhere */
    struct {
        const struct operation_task *task; /* NULL: it has no steps of its own */
        void *data;
        bool in_step; /* in one of its functions: its end() is called after that */
    } task;
    union {
        struct {
            uint16_t code;  /* enum wire_code */
            uint64_t entry; /* launch: of its kernel */
            void *tail;     /* where the tail of its result goes, NULL: nowhere */
            uint32_t tail_capacity;
            uint64_t value; /* of its result */
        } command;
        struct {
            struct transfer transfer;
            enum path path;            /* what it counts as */
            struct operation *command; /* reference: it is issued with this; NULL: none */
            void *copy;                /* of a small source, or NULL */
        } move;
        struct {
            struct operation *target; /* a reference */
            enum wait_use use;
        } wait;
        struct {
            struct completion *completion; /* NULL: none; passes on when it ends */
        } mark;
    };
};

/* Operations come and go with every region: some are kept. */
struct operation_pool {
    struct operation *spare;
};

/* A new one with one reference, in no list; NULL, with an error set, without memory. */
struct operation *operation_take(struct operation_pool *pool, enum operation_kind kind);

/* Another reference; its end. */
struct operation *operation_hold(struct operation *operation);
void operation_drop(struct operation_pool *pool, struct operation *operation); /* NULL is allowed */

/* Frees what the pool keeps. */
void operation_pool_free(struct operation_pool *pool);

static inline bool operation_is_command(const struct operation *operation)
{
    return operation->kind <= OPERATION_COMMAND;
}

/* Does it run a kernel? */
static inline bool operation_is_launch(const struct operation *operation)
{
    return operation->kind == OPERATION_COMMAND &&
           (operation->command.code == WIRE_LAUNCH || operation->command.code == WIRE_REGION);
}

/* A transfer whose command tells the worker: it begins when the message of that has left, and the
 * worker has it in order with what else it is told. */
static inline bool operation_has_command(const struct operation *operation)
{
    return operation->kind == OPERATION_TRANSFER && operation->move.command;
}

/* Its result brings data for memory of this process: a small retrieve, a region. */
static inline bool operation_brings_data(const struct operation *operation)
{
    return operation->fills_host &&
           (operation->kind == OPERATION_READ || operation->kind == OPERATION_COMMAND);
}

static inline bool operation_has_ended(const struct operation *operation)
{
    return operation->state == OPERATION_ENDED;
}

/* A few words for a person, for example "put"; static storage. */
const char *operation_name(const struct operation *operation);

#endif
