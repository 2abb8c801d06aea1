/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.h: one target region: maps, launch and what comes back go into one queue, so that a small
 * region is one message each way.
 *
 * Thread: any. Blocks: when the work's queue is full. Errors: false means that it was reported.
 */
#ifndef OMPRMA_OPENMP_ENTRY_REGION_H
#define OMPRMA_OPENMP_ENTRY_REGION_H

#include "openmp/map/maps.h"

/* The words that a kernel is called with. */
struct arguments {
    uint64_t *words;
    omprma_addr_t *begins; /* of what they stand for, see omprma_check_begins(); NULL: not wanted */
    const char **names;    /* NULL: not wanted */
    size_t count;
    uint64_t few[64];             /* `words`, where they fit, */
    omprma_addr_t few_begins[64]; /* and `begins` */
};

/* None so far: there is nothing to clear. */
static inline void arguments_begin(struct arguments *arguments)
{
    arguments->words = arguments->few;
    arguments->begins = NULL;
    arguments->names = NULL;
}

/* Of a list that was entered; sends private variables. `leading` words are zero. The caller holds
 * the device's lock. */
bool arguments_build(struct work *work, const struct maps *maps, size_t leading,
                     struct arguments *arguments);
void arguments_clear(struct arguments *arguments);

/* How the compiler passes a region's words, and which of them is for launch_word(). */
enum region_form {
    FORM_PLAIN,   /* as parameters; none */
    FORM_LEADING, /* as parameters; one before its arguments */
    FORM_UNSAID,  /* the one or the other, see struct entry */
    FORM_CONTEXT  /* as an array, but see struct entry; the last of its arguments */
};

struct region_call {
    const void *host_id;    /* which region */
    int32_t teams, threads; /* what its clauses say; 0 or less: nothing */
    enum region_form form;
    struct plan *plan; /* on the device, by registry_plan(); NULL: the device is lost */
};

/* What is launched. It stays, between launch_begin() and launch_clear(), until the work is over, or
 * has departed. */
struct launch {
    omprma_region_t region;
    omprma_geometry_t geometry;
    struct arguments arguments;
};

static inline void launch_begin(struct launch *launch)
{
    arguments_begin(&launch->arguments);
}

void launch_clear_made(struct launch *launch);

static inline void launch_clear(struct launch *launch)
{
    if (launch->arguments.words != launch->arguments.few || launch->arguments.names)
        launch_clear_made(launch);
}

/* Issues the whole region; it is complete when the work is. If the work is waited for, the launch
 * is left to work_end_locked(). The caller holds the device's lock. */
bool region_issue(struct work *work, const struct region_call *call, const struct maps *maps,
                  struct launch *launch);

#endif
