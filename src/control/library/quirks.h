/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quirks.h: the one table of those defects and limits of MPI libraries on which something here
 * depends, with the versions and components they belong to, what is done about each, and why.
 * Reproducers of these, and of what is done everywhere: tests/mpi-quirks.
 */
#ifndef OMPRMA_CONTROL_LIBRARY_QUIRKS_H
#define OMPRMA_CONTROL_LIBRARY_QUIRKS_H

#include <stdbool.h>
#include <stdio.h>

#include "control/library/library.h"
#include "control/library/quick.h"

/* Bits of a set. */
enum quirk_id {
    QUIRK_NO_RPUT = 1 << 0,          /* complete with flush, not with requests */
    QUIRK_ATTACH_32 = 1 << 1,        /* at most 31 attached regions */
    QUIRK_ATTACH_64 = 1 << 2,        /* at most 63 attached regions */
    QUIRK_END_OF_REGION = 1 << 3,    /* attach one page more than is handed out */
    QUIRK_ATTACH_ORDER = 1 << 4,     /* attach below the highest, count references */
    QUIRK_TABLE_RACE = 1 << 5,       /* no access begins while a region comes or goes */
    QUIRK_BTL_OFI = 1 << 6,          /* btl/ofi is left out */
    QUIRK_TARGET_POLLS = 1 << 7,     /* within a host, too, targets have part in transfers */
    QUIRK_ONE_THREAD = 1 << 8,       /* no window: only the thread that made it could call MPI */
    QUIRK_GET_LEAK = 1 << 9,         /* gets are small */
    QUIRK_PUT_LEAK = 1 << 10,        /* puts within a host are small */
    QUIRK_TABLE_RACE_NEAR = 1 << 11, /* as QUIRK_TABLE_RACE, within a host */
    QUIRK_SLOW_LARGE = 1 << 12,      /* large transfers may take longer than messages by much */
    QUIRK_PEERS_END = 1 << 13,       /* over UCX a process may end as its peer does */
    QUIRK_CALLS_WAIT = 1 << 14       /* the calls that begin transfers wait for the target */
};

struct quirk {
    enum quirk_id id;
    const char *name;
    enum library_kind library;
    const char *component;          /* one-sided component, NULL: any */
    int first_version, end_version; /* as in struct library */
    const char *what, *why;
};

/* The table; *count entries. */
const struct quirk *quirks_table(int *count);

/* Which apply to this MPI library with this component of the window. "unknown" component: all that
 * any component of this version needs. A library, or version, that is not known: careful, what 4.0
 * of Open MPI needs. */
unsigned quirks_for(const struct library *library, const char *component);

/* The one-sided component behind a window of Open MPI, whose handle is a pointer: "rdma", "ucx",
 * "pt2pt", "sm" or "unknown". Looks, with checked reads, for the component's shared object, or its
 * functions in Open MPI's library, behind the window's function table, because MPI has no call that
 * tells. NULL is unknown. */
const char *quirks_component(const void *window);

/* Whether the UCX of this process aborts in a thread that a worker of it does not belong to. The
 * packages of Debian do; those that UCX's own release scripts build, as for InfiniBand, do not. */
bool quirks_ucx_asserts_threads(void);

/* Whether the library sends messages over UCX, as far as that is known by its being there. */
bool quirks_has_ucx(void);

/* Most regions that may be attached under a set of quirks, INT_MAX if no limit is known. */
int quirks_attach_limit(unsigned quirks);

/* For a process that will call MPI_Init of this version: what must not be used is left out,
 * whatever else the user, or a file of Open MPI's, has chosen. `says`: a line tells where that
 * changes a variable of the user's. What was left out before changes nothing. */
void quirks_rank(const struct quick_environment *environment, const struct library *library,
                 bool says);

/* For the same process: where processes may not copy each other's memory (shm/single_copy.h), Open
 * MPI shall not try, unless the user has said how it copies. 4.1 finds out in the middle of a
 * transfer, which it then repeats for ever. */
void quirks_single_copy(const struct quick_environment *environment);

/* One line per quirk in force. */
void quirks_print(unsigned quirks, FILE *out);

#endif
