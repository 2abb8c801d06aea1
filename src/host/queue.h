/*
 * queue.h: the application's side of a queue: what was appended and is not complete, in order.
 *
 * A queue holds items of four kinds.
 *
 * Segment: one control message under construction or on its way, with small submits and retrieves,
 * launches, and announcements of two-sided transfers. The worker keeps the order inside and between
 * segments, so they are sent without waiting for each other.
 *
 * Transfer: one one-sided transfer. The worker does not see it, so this side orders it: it starts
 * after the results of earlier segments, and later segments leave after it is complete. Transfers
 * whose ranges do not overlap run at the same time.
 *
 * Wait: an event of another queue that only this side can watch.
 *
 * Relay: an exchange through the application's memory, see relay.h. It begins when everything
 * before it is complete, and what comes after it waits for it.
 *
 * Segments that were sent and ask for no result are no items any more, but the worker may still
 * hold them. Some are marked: they bring a result that nobody waits for, which tells how far the
 * worker is, so that what it holds stays bounded as well.
 *
 * The last segment stays open so that a launch joins the small submits before it and small
 * retrieves join the launch: one message each way per small region.
 *
 * Thread: see runtime.h.
 */
#ifndef OMPRMA_HOST_QUEUE_H
#define OMPRMA_HOST_QUEUE_H

#include <stdbool.h>

#include "control/datapath.h"
#include "host/device.h"
#include "host/writes.h"

/* What bounds the memory of a queue that nobody synchronizes. */
enum {
    QUEUE_ITEMS_MOST = 256, /* with so many items, whoever appends waits for room */
    QUEUE_SENT_MOST = 128,  /* segments sent that are not known to be executed */
    QUEUE_MARK_EACH = 32    /* one in so many of them brings a result though nobody waits for it */
};

enum { QUEUE_KNOWN = 8 /* failures of a queue before which it is remembered what was complete */ };

enum queue_item_kind { ITEM_SEGMENT, ITEM_TRANSFER, ITEM_WAIT, ITEM_RELAY };

/* A two-sided transfer that belongs to a segment. */
struct queue_bulk {
    struct queue_bulk *next;
    struct transfer transfer;
    uint64_t op;
    enum stats_kind kind;
    int64_t start_ns;
};

/* What a queue waits for a place for, and so what a failure before the place means to it. */
enum place_use {
    PLACE_EVENT,    /* a user's event: fails with it */
    PLACE_EXCHANGE, /* the other half of its exchange: fails with it, naming both devices */
    PLACE_PART,     /* an earlier step of the same exchange: hands the failure on as it is */
    PLACE_ORDER     /* order only: the failure is not its own */
};

/* A place in a queue, see queue_place.c. */
struct queue_place {
    struct omprma_queue *queue; /* NULL: always complete */
    uint64_t op;                /* last operation before it that travels in segments */
    uint64_t fate_op;           /* the last of them that can fail */
    uint64_t number;            /* last item before it that is no segment */
    uint64_t failures;          /* queue->failures when it was taken */
    enum place_use use;
};

struct queue_item {
    struct queue_item *next, *prev;
    enum queue_item_kind kind;
    bool issued;     /* sent, started */
    bool done;       /* acknowledged, complete */
    uint64_t number; /* of a transfer, wait or relay in its queue */
    union {
        struct {
            struct channel_message *message; /* until sent */
            uint32_t last_record;            /* offset of the last record */
            uint64_t last_op;
            int64_t sent_ns;               /* for the trace */
            bool sealed;                   /* nothing may join it */
            bool wants_result;             /* its last record asks for one */
            bool only_writes;              /* holds nothing but small submits */
            struct queue_bulk *bulk;       /* two-sided transfers announced in it */
            struct omprma_queue *receiver; /* other half of an exchange: leaves together with it */
        } segment;
        struct {
            struct transfer transfer;
            uint64_t after_op; /* operation whose result it needs before it may start */
            int64_t start_ns;
            void *copy; /* of a small source, or NULL */
        } transfer;
        struct queue_place wait;
        struct {
            struct relay *relay;
            uint64_t after_op; /* operation whose result it needs before it may start */
        } relay;
    };
};

/* A retrieve that comes back in a result. */
struct queue_read {
    struct queue_read *next;
    void *to;
    uint32_t bytes;
    uint64_t op;
};

struct omprma_queue {
    struct device *device;
    uint32_t number;
    struct omprma_queue *next_free;
    struct omprma_queue *next_busy;
    bool busy; /* in the runtime's list */
    bool in_use;

    struct queue_item *first, *last, *open; /* open: the segment that may still be joined */
    uint32_t items;
    struct queue_read *reads_first, *reads_last;
    struct queue_bulk *bulk; /* two-sided transfers of segments that were sent */

    /* Operations in segments: last given out, last sent, last that a result was asked for, last
     * known complete; and the last that is more than a small submit to an arena, so that somebody
     * may depend on its completion. Messages carry the lower 32 bits. */
    uint64_t next_op, sent_op, asked_op, done_op, hazard_op;
    uint64_t next_number; /* of the last item that is no segment */

    /* Segments: sent so far, how many of them are known to be executed, the last one marked; and
     * the last operation of that one. */
    uint64_t sent, executed, mark, mark_op;

    struct queue_exchange *exchanges, *exchanges_last; /* not known to be complete, in order */

    struct writes writes; /* small submits not known to be executed */
    bool dirty;           /* in the device's list of queues that have some */
    struct omprma_queue *next_dirty;

    omprma_status_t failed;    /* first error since the last synchronize */
    bool remote_failed;        /* the worker's side has failed too and needs a reset */
    int waiters;               /* threads that wait for it */
    bool give_when_idle;       /* nobody holds it: it goes back to the device when it is idle */
    bool held;                 /* other half of an exchange whose first has not left */
    struct queue_place sender; /* of a queue that receives from another device: its other half */
    uint64_t failures;         /* how often it has failed so far */
    omprma_status_t failed_status; /* of the last failure; they stay after synchronize */
    char failed_text[512];
    /* What was complete before each failure; number known_count goes next. */
    struct queue_known {
        uint64_t failures, op, number; /* see struct queue_place */
    } known[QUEUE_KNOWN];
    uint64_t known_count;

    /* A command on the control queue that waits for its result. */
    uint64_t value;
    void *tail;
    uint32_t tail_capacity;
};

/* Gives a queue of the device, new or used before. Errors: HOST_MEMORY. */
omprma_status_t queue_take(struct device *device, struct omprma_queue **queue);
void queue_give(struct omprma_queue *queue);

/* Frees a queue and what is left in it, when the runtime ends. */
void queue_free(struct omprma_queue *queue);

/* Appends a record to the open segment, opening one if needed. A read may join a segment that
 * retrieving transfers were appended after. The tail is copied, or for record->tail NULL its place
 * is returned in *tail. record->op is set. Errors: HOST_MEMORY. */
omprma_status_t queue_append(struct omprma_queue *queue, struct wire_record *record, void **tail);

/* Appends a one-sided transfer, before the open segment if that holds only writes elsewhere.
 * *number is its number. Errors: HOST_MEMORY. */
omprma_status_t queue_append_transfer(struct omprma_queue *queue, const struct transfer *transfer,
                                      uint64_t *number);

/* The transfer with that number, or NULL if it is complete. */
struct queue_item *queue_find_transfer(struct omprma_queue *queue, uint64_t number);

/* Appends a two-sided transfer and the record that announces it to the worker, both or none.
 * Errors: HOST_MEMORY. */
omprma_status_t queue_append_bulk(struct omprma_queue *queue, struct wire_record *record,
                                  const struct transfer *transfer, enum stats_kind kind);

/* Appends a wait for a place in another queue, which this side watches. Errors: HOST_MEMORY. */
omprma_status_t queue_append_wait(struct omprma_queue *queue, const struct queue_place *place);

/* The same, but the worker watches where it can: nobody comes back to this side. Flushes the other
 * queue. Errors: HOST_MEMORY. */
omprma_status_t queue_wait(struct omprma_queue *queue, const struct queue_place *place);

/* Appends an exchange through the application's memory, which passes to the queue.
 * Errors: HOST_MEMORY. */
omprma_status_t queue_append_relay(struct omprma_queue *queue, struct relay *relay);

/* The operation that was appended last exchanges with that device: its error will say so. */
void queue_note_exchange(struct omprma_queue *queue, struct device *with);

/* `lost` gives no answers any more: a device that was exchanging with it keeps its memory. */
void queue_keep_memory(struct omprma_queue *queue, const struct device *lost);

/* Appends a read and remembers where its result goes, both or none. Errors: HOST_MEMORY. */
omprma_status_t queue_append_read(struct omprma_queue *queue, struct wire_record *record, void *to,
                                  uint32_t bytes);

/* Closes the open segment, asking for a result if `result`, and issues what can be issued. */
void queue_flush(struct omprma_queue *queue, bool result);

/* Asks the worker for a result of what was sent, if none was asked for yet. */
void queue_ask(struct omprma_queue *queue);

/* Issues and tests what can be. True if anything moved. */
bool queue_advance(struct omprma_queue *queue);

/* A result for one of its operations came in. */
void queue_result(struct omprma_queue *queue, const struct wire_record *record);

/* True when everything that anybody can depend on is complete. */
bool queue_idle(const struct omprma_queue *queue);

/* True if [host, host + bytes) overlaps memory that a pending retrieve will fill or, if it is to be
 * filled itself (`fill`), that a pending two-sided submit still reads. One-sided transfers of a
 * queue are ordered against each other anyway. */
bool queue_uses(const struct omprma_queue *queue, const void *host, uint64_t bytes, bool fill);

/* Waits until it has room for another operation, or has failed. */
void queue_make_room(struct omprma_queue *queue);

/* Fails the queue: what was not issued is dropped. The first error is kept. */
void queue_fail(struct omprma_queue *queue, omprma_status_t status, const char *text);

/* The same for what operation `op` failed with, all before it having succeeded. If that is an
 * exchange, both devices are named. */
void queue_fail_op(struct omprma_queue *queue, uint64_t op, omprma_status_t status,
                   const char *text);

/* The same when its device is lost. If exchanges are not complete, one is named. */
void queue_fail_lost(struct omprma_queue *queue, const char *text);

/* Puts the queue into the runtime's list of those that need attention. */
void queue_attend(struct omprma_queue *queue);

/* The present end of a queue, and whether a place has been passed. */
struct queue_place queue_end(const struct omprma_queue *queue);
bool queue_passed(const struct queue_place *place);

/* Remembers, for queue_place_failed(), what is complete: the queue is about to fail. Operations up
 * to `done_op` are known to have succeeded. */
void queue_note_known(struct omprma_queue *queue, uint64_t done_op);

/* True if the queue failed before it passed the place. */
bool queue_place_failed(const struct queue_place *place);

/* Makes sure that queue_passed() will become true: flushes and asks for a result. */
void queue_push(const struct queue_place *place);

/* True if all one-sided transfers before the place are complete and everything before it was sent,
 * so that the worker can watch the rest by itself. */
bool queue_worker_can_watch(const struct queue_place *place);

/* Flushes and waits until it is idle; the queue's error stays. */
void queue_settle(struct omprma_queue *queue);

/* Flushes and waits. Returns and clears the queue's error. */
omprma_status_t queue_synchronize(struct omprma_queue *queue);

#endif
