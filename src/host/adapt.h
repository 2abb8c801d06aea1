/*
 * adapt.h: while the program runs, what its own transfers take corrects what was chosen at
 * start-up, per kind of peer, direction and size class (contest.h decides). Only where the choice
 * is free: OMPRMA_DATA=auto, OMPRMA_EXCHANGE=auto, and not OMPRMA_ADAPT=0.
 *
 * A transfer's time means something only if nothing else was going on. So one transfer at a time is
 * timed, and only in a contest's rounds: it begins when no other data is on its way, runs alone in
 * its queue (order.c), and counts only if none was begun beside it, somebody waited for it all the
 * time, and worker and program are not on one processor by chance. A transfer into an idle queue is
 * waited for by the call that makes it; one behind a launch is timed from the launch's end, if its
 * queue is waited for by then. Small data, below ADAPT_LEAST, is not looked at: it must not get
 * slower.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_ADAPT_H
#define OMPRMA_HOST_ADAPT_H

#include <stdio.h>

#include "host/contest.h"
#include "host/pair.h"

/* Between ADAPT_LEAST and ADAPT_SMALL bytes a message is one of the ways, unless the user has said
 * what messages carry. Such a transfer is timed only where its queue is idle. */
enum { ADAPT_LEAST = 4096, ADAPT_SMALL = OMPRMA_COPIED_SUBMIT };

/* Peers that measure alike. */
struct adapt_kind {
    struct adapt_kind *next;
    char name[96];                /* "this host", "host node7" */
    bool small[PATHS_DIRECTIONS]; /* a message is one of the ways of small data; if it is not taken,
                                   */
    uint32_t below[PATHS_DIRECTIONS]; /* messages carry so much */
    uint32_t fused; /* of retrieves with a result that is wanted anyway: at start-up */
    struct contest contest[PATHS_DIRECTIONS][COST_CLASSES];
};

/* Lets devices of a kind adapt: `device` was measured, and those that took its paths over before
 * this share what is found. Without memory nothing adapts. */
void adapt_begin(struct device *device);

/* The same for the ways between devices: put, get and send. */
void adapt_begin_exchange(struct exchange_paths *paths);

void adapt_end(struct runtime *runtime);

/* What is known of transfers of a size. */
struct contest *adapt_contest(struct adapt_kind *kind, enum paths_direction direction,
                              uint64_t bytes);

/* Whether adapt_path() chooses for a transfer inside an arena, not the limits of what messages
 * carry. */
bool adapt_decides(const struct omprma_queue *queue, bool submit, uint64_t bytes);

/* The path for a transfer inside an arena; inline only if adapt_decides(). *timed: adapt_watch() it
 * before it is issued; for an inline one see below. `waited`: its queue was idle, and its end will
 * be waited for at once. */
enum path adapt_path(struct omprma_queue *queue, bool submit, uint64_t bytes, bool *timed);
void adapt_watch(struct operation *operation, bool waited);

/* Around an inline transfer that is to be timed: before it is appended, and when it is over. */
void adapt_inline_begins(struct runtime *runtime);
void adapt_inline_ended(const struct omprma_queue *queue, bool submit, uint64_t bytes);

/* The way for an exchange of large data. times->timed: it is to be waited for, and its end told. */
struct adapt_exchange {
    bool timed;
    int way;
    struct contest *contest;
    int64_t begun_ns;
    uint64_t begun; /* transfers of the runtime by then */
};
enum config_exchange adapt_exchange_way(const struct exchange *exchange,
                                        const struct exchange_paths *paths,
                                        struct adapt_exchange *times);
void adapt_exchange_ended(const struct exchange *exchange, const struct adapt_exchange *times);

/* What was chosen, how often that was revised and what it gained, a line per range of classes. */
void adapt_print(const struct runtime *runtime, FILE *out);

#endif
