/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * adapt.h: while the program runs, what its own transfers take corrects what was chosen at
 * start-up, per kind of peer and direction (threshold.h decides). Only where the choice is free:
 * OMPRMA_DATA=auto, and not OMPRMA_ADAPT=0.
 *
 * A transfer's time means something only if nothing else was going on. So one transfer at a time is
 * timed, and only in a trial: it begins when no other data is on its way, runs alone in its queue
 * (order.c), and counts only if none was begun beside it, somebody waited for it all the time, and
 * worker and program are not on one processor by chance. The call that makes a transfer into an
 * idle queue waits for it. A transfer behind a launch is timed from the launch's end, if its queue
 * is waited for by then. Small data, up to OMPRMA_COPIED_SUBMIT bytes, is not looked at: it must
 * not get slower.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CHOICE_ADAPT_H
#define OMPRMA_HOST_CHOICE_ADAPT_H

#include <stdio.h>

#include "host/choice/threshold.h"
#include "host/path/path.h"

/* Peers that measure alike. */
struct adapt_kind {
    struct adapt_kind *next;
    char name[96]; /* "this host", "host node7" */
    struct threshold threshold[PATHS_DIRECTIONS];
};

/* Lets devices of a kind adapt: `device` was measured, and those that took its paths over before
 * this share what is found. Without memory nothing adapts. */
void adapt_begin(struct device *device);

void adapt_end(struct runtime *runtime);

/* By which path a copy goes that has been given `path`: one-sided or two-sided, it may be the turn
 * of the other one. *timed: adapt_watch() it before it is issued. */
const struct path_ops *adapt_pick(const struct hop *hop, const struct path_ops *path, bool *timed);

/* `waited`: its queue was idle, and its end will be waited for at once. */
void adapt_watch(struct operation *operation, bool waited);

/* What was chosen, how often that was revised and what was tried for it, a line per kind of peer
 * and direction. */
void adapt_print(const struct runtime *runtime, FILE *out);

#endif
