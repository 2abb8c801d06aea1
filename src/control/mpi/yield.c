/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * yield.c: MPI has no call for it. Open MPI's own setting can be read but not written once it
 * runs; but the variable behind it is a symbol of its library, and so is the function that
 * registers what a waiting call does between its looks. Both are looked up by name, and are
 * optional.
 */
#define _GNU_SOURCE
#include "control/mpi/yield.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

#include "base/log.h"
#include "base/waiting.h"

static volatile bool *yields; /* NULL: MPI does not yield, or is not to be told */
static bool naps;             /* nap_now_and_then() is called */
static bool waits;            /* a call that may wait is under way */
static struct waiting waiting;
static struct yield_history history;

/* Of Open MPI: calls a function whenever it looks for what has come in. */
typedef int progress_t(void);
typedef int progress_register_t(progress_t *function);

/* The end of one of MPI's looks. Nothing has come in through this function. */
static int nap_now_and_then(void)
{
    const struct waiting_limits limits = {0};
    int64_t now;

    if (!waits)
        return 0;
    switch (waiting_next(&waiting, &limits, &history, INT64_MAX, &now)) {
    case WAITING_YIELD:
        if (!yield_was_free(&history))
            waiting.shared = true;
        break;
    case WAITING_NAP:
        waiting_nap();
        break;
    default:
        break;
    }
    return 0;
}

/* NULL: no such symbol. */
static void *find_symbol(const char *name)
{
    Dl_info mpi;
    void *library = NULL, *symbol = NULL;

    /* The library may have been loaded for a plugin only: no global name leads to it. */
    if (dladdr((const void *)(uintptr_t)&MPI_Init_thread, &mpi))
        library = dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        symbol = dlsym(library, name);
        dlclose(library); /* it stays: we are linked with it */
    }
    return symbol;
}

void mpi_yield_find(bool always)
{
    volatile bool *setting = find_symbol("opal_progress_yield_when_idle");
    progress_register_t *add;

    yields = NULL;
    if (!setting)
        log_write(LOG_DETAIL, "this MPI does not say whether it yields the processor in each call");
    if (!setting || !*setting)
        return;
    if (!always)
        yields = setting;
    *(void **)&add = find_symbol("opal_progress_register");
    if (add && !naps)
        naps = add(nap_now_and_then) == 0;
    if (!naps)
        log_write(LOG_DETAIL, "this MPI yields without end in calls that wait");
}

void mpi_yield_allow(bool allow)
{
    if (yields)
        *yields = allow;
    waits = allow;
    if (allow)
        waiting = (struct waiting){0};
}
