/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * work.h: what one construct has under way on one device: a queue, and what is to be done when it
 * is complete: host pointers to be put back, memory to be freed, ranges to be taken out of the
 * table. All that omprma is asked to move or to run for a construct goes through here.
 *
 * A work that nobody waits for, one in flight, may share its queue with others: small regions then
 * leave together in one message, and are answered by one. Who waits has a queue of its own.
 *
 * Thread: a work belongs to one construct and is used by one thread at a time. Errors: functions
 * that return bool have reported what was wrong when they return false; the work goes on until
 * work_finish().
 */
#ifndef OMPRMA_OPENMP_RUN_WORK_H
#define OMPRMA_OPENMP_RUN_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi/abi.h"
#include "openmp/device/device.h"
#include "openmp/device/mapping.h"
#include "openmp/run/gather.h"
#include "openmp/run/moves.h"
#include "openmp/run/promises.h"
#include "openmp/run/sent.h"
#include "openmp/run/uses.h"
#include "openmp/run/stray.h"

struct work {
    struct device *device;
    struct site *site; /* where it is done */
    const struct location *where;
    omprma_queue_t *queue; /* its own, or one of the site's */
    omprma_queue_t *own;   /* made when it is needed, and kept for the next work */
    bool own_unwaited;     /* as that one knows it */
    int slot;              /* of its queue among the site's that are shared; -1: it is its own */
    omprma_event_t *event; /* made when another work has to wait for this one, and kept */
    omprma_event_t *end;   /* of one in flight; made when it is needed, and kept */
    bool in_flight;        /* its construct is over for the thread that issued it */
    uint64_t number;       /* never the same again; 0 while it is free. Under the device's lock */
    struct work *next_free;
    struct pinned *pinned; /* ranges that it uses */
    struct pinned *spare;  /* kept for the next work */
    struct uses uses;      /* of ranges, where there are several sites */
    struct promised promised;
    struct work *bringers; /* works of other sites that bring it what it needs */
    struct work *next_bringer;
    struct suballoc privates;        /* device memory of private variables, */
    size_t private_bytes;            /* so much */
    struct sent sent;                /* what a region was sent, where somebody may want it again */
    struct moves moves;              /* that are not issued yet */
    struct gather *gather;           /* what is to travel together there, or back; made */
    struct scatter *scatter;         /* when it is needed, and kept */
    omprma_region_t *region;         /* between the two, and not issued yet; NULL: there is none */
    const omprma_region_t *launched; /* the last one, while the construct is being issued, */
    const omprma_addr_t *begins;     /* and of what its words stand for; NULL: not known */
    struct kept *kept;               /* host memory that omprma reads from */
    struct arrival *arrived;         /* what comes back to one that is spared */
    bool departed;                   /* `end` is behind all that it has issued */
    bool computes;                   /* it is a region, */
    bool repeats;                    /* or several, which are done again: no construct is ordered
                                      * behind that by the program */
    bool exchanges;                  /* what it is told may be about another device */
    bool spared;                     /* see WORK_SPARED */
    bool lost;                       /* it was spared: nothing is moved any more */
    bool struck;           /* a site that it needs is lost, where several serve the space */
    bool broken;           /* it was lost before all was issued: its queue has not failed, but who
                            * follows it has to. Under the lock */
    unsigned losses;       /* sites that were lost when it began */
    bool leaves;           /* if it is lost, another site brings home what it was to bring */
    bool idles;            /* it was lost before it could begin */
    omprma_event_t *ready; /* stands before all that it does; made when it is needed, and kept */
    bool readied;          /* `ready` is recorded */
    bool failed;
    omprma_addr_t placed_end; /* of the last small range that it has made; 0: of none */
    const char *moved;        /* the name of the variable that is being moved; NULL: none */
    bool misplaced;           /* a small range does not lie behind the one before it */
    struct block_traced
        *traced; /* what a tool is told of one in flight, see ompt.h; NULL: nothing */
    struct strays strays;
    struct loaded loaded;            /* a region, as its site's load counts it */
    bool (*over)(struct work *work); /* the last thing before it is over, and before anybody knows;
                                      * without locks. NULL: there is none. False: reported */
    struct logged {                  /* where the log of variables ended then, */
        uint64_t end, more;          /* and whether that is all; see place/variables.h */
    } logged;
    uint64_t stored;        /* an address that a region has left where others find it, 0: none; see
                             * place/stored.h, */
    struct suballoc search; /* device memory for who looks for that, */
    bool (*told)(struct work *work); /* and what sees to it, as `over` does, and after it */
    bool restores; /* in some of what is pinned, pointers get their host values back */
};

/* How a work is waited for, and in which queue it is. */
enum work_kind {
    WORK_WAITED, /* by the thread that has begun it; in a queue of its own */
    WORK_SPARED, /* the same; the host does it when the device is lost and the run goes on */
    WORK_FLIGHT, /* in flight, in a queue of its own */
    WORK_SMALL   /* in flight, in a queue with other small ones */
};

/* NULL: reported. Takes the device's lock. Blocks: no. */
struct work *work_begin(struct device *device, const struct location *where, enum work_kind kind);

/* The same by one who holds the lock. */
struct work *work_begin_locked(struct device *device, const struct location *where,
                               enum work_kind kind);

/* How a work ended. */
enum work_result {
    WORK_FAILED, /* reported */
    WORK_DONE,
    WORK_LOST /* its device is lost, the host's memory is as before, and the host can do it */
};

/* Waits until all is complete, cleans up, and frees the work. Takes the device's lock. Blocks: yes.
 */
enum work_result work_end(struct work *work);

/* The same by one who holds the device's lock, and gives it up: with the region that was to be
 * launched, if there is one still. It does not wait with the lock held. Not for one in flight. */
enum work_result work_end_locked(struct work *work);

/* work_end(): is it done? */
static inline bool work_finish(struct work *work)
{
    return work_end(work) == WORK_DONE;
}

/* Of one in flight: everything has been issued. False: reported. Blocks: no. */
bool work_depart(struct work *work);

/* Of one that has departed: is all complete? Sends what has been gathered, and makes some progress.
 * Blocks: no. */
bool work_has_arrived(struct work *work);

/* ---- operations; none takes a lock of ours. Block: when the queue is full ---- */

/* Of all its runs. */
static inline size_t shape_bytes(const omprma_shape_t *shape)
{
    return shape->bytes * shape->count[0] * shape->count[1] * shape->count[2];
}

/* Bytes or, with a shape (else NULL), runs. Large sources must stay until the end. The first two
 * send before what was gathered and matters to them. Runs that are retrieved go to their place when
 * they come, so not those of a work that is spared. */
bool work_submit(struct work *work, omprma_addr_t to, const void *from, size_t bytes,
                 const omprma_shape_t *shape);
bool work_retrieve(struct work *work, void *to, omprma_addr_t from, size_t bytes,
                   const omprma_shape_t *shape);
/* To memory that is not the program's. */
bool work_retrieve_own(struct work *work, void *to, omprma_addr_t from, size_t bytes);
bool work_exchange(struct work *work, omprma_addr_t from, const struct site *to_site,
                   omprma_addr_t to, size_t bytes, const omprma_shape_t *shape);
/* Makes each byte `value`. */
bool work_fill(struct work *work, omprma_addr_t to, unsigned char value, size_t bytes);
/* Submits or retrieves a part of a mapped range; small ones are gathered. work_send() has to follow
 * before anything else is done that they matter to. */
bool work_submit_part(struct work *work, const struct mapped *mapped, const void *begin,
                      size_t bytes);
/* The same of what has this part of device memory. */
bool work_submit_beside(struct work *work, const struct suballoc *part, omprma_addr_t to,
                        const void *from, size_t bytes);
bool work_retrieve_part(struct work *work, const struct mapped *mapped, void *begin, size_t bytes);

/* Sends what was gathered: nothing more is issued. A region that is waited for is left to
 * work_end_locked(). */
bool work_send(struct work *work);

/* `geometry` may be NULL. */
bool work_launch(struct work *work, omprma_addr_t kernel, const omprma_geometry_t *geometry,
                 const uint64_t *words, size_t count);

/* Launches what the region says, at work_send() or work_end_locked(), or before when it is time:
 * together with what is gathered there and, from now on, back, which is put into it. It must stay
 * until then. */
void work_launch_between(struct work *work, omprma_region_t *region);

/* Device memory for the table, see suballoc.h, for a map with this name; none where the host is the
 * device. The caller holds the device's lock. */
bool work_alloc(struct work *work, const char *name, uintptr_t host, size_t bytes,
                struct suballoc *part);

/* Device memory that is freed at the end; once per work. The caller holds the device's lock. 0:
 * reported. */
omprma_addr_t work_private(struct work *work, size_t bytes);

/* A list of the work's with more room, at first for 16: *room items of so many bytes. It may have
 * moved. NULL: reported, with `what` it is a list of, and the list is as before. */
void *work_grow(const struct work *work, void *list, size_t *room, size_t bytes, const char *what);

/* Zeroed host memory that lives until the end. NULL: reported. */
void *work_keep(struct work *work, size_t bytes);

/* ---- ranges of the table; the caller holds the device's lock ---- */

/* Somebody else who is under way has moved the range's data last. */
static inline bool work_has_to_follow(const struct work *work, const struct mapped *mapped)
{
    const struct work *writer = mapped->writer;
    return writer && writer != work && writer->number == mapped->writer_number;
}

/* It has pinned the range, and no other has. */
static inline bool work_is_alone(const struct work *work, const struct mapped *mapped)
{
    const struct pinned *pinned = LIST_FIRST(&mapped->pins);
    return pinned && pinned->work == work && !LIST_NEXT(pinned, link);
}

/* Orders this work behind whoever moved the range's data last, and is the last one from now on. */
bool work_follow(struct work *work, struct mapped *mapped);
void work_write(struct work *work, struct mapped *mapped);

/* Orders this work behind what the other has issued so far. */
bool work_wait_for(struct work *work, struct work *other);

/* All that it has waited for so far stands before anything that it does, or has been done already.
 * Where the run goes on after losses, it is known afterwards whether it had begun. */
bool work_note_ready(struct work *work);

/* Has the other, which has departed, end before this work goes on, and cleaned up with it. */
bool work_await(struct work *work, struct work *bringer);

/* Orders this work behind everybody who uses the range and is under way. */
bool work_follow_all(struct work *work, struct mapped *mapped);

/* Keeps the range in the table until the end, and takes it out then if nobody has it mapped or uses
 * it. Pointers in [begin, begin + bytes) get their host values back before. */
bool work_pin_again(struct work *work, struct mapped *mapped, uintptr_t begin, size_t bytes);

static inline bool work_pin(struct work *work, struct mapped *mapped, uintptr_t begin, size_t bytes)
{
    const struct pinned *last = LIST_FIRST(&mapped->pins);
    return (bytes == 0 && last && last->work == work) || work_pin_again(work, mapped, begin, bytes);
}

#endif
