/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * far.h: what agents of different hosts say to each other over TCP, once each has proved that it
 * knows the secret of the run (prove.h). Fields are as this machine has them: hosts of one run are
 * alike. The layout changes with FAR_VERSION only.
 *
 * A connection is for one wish of whoever makes it:
 * - HOST: from each agent to that of omprma-run's host, for the run. Its end is the run's end.
 * - PROGRAM: from the agent of a program's host to another one, for the program's life: request and
 *   environment as in join.h, and notes back. Its end is the program's end.
 * - MESSAGES, DATA: for a session of such a program, whose process it belongs to from then on, as
 *   its other end does to the program.
 * - WAY: for data between two sessions, whose it is from then on.
 */
#ifndef OMPRMA_CONTROL_AGENT_FAR_H
#define OMPRMA_CONTROL_AGENT_FAR_H

#include <stdint.h>

#include "control/agent/join.h"

enum { FAR_MAGIC = 0x6f6d7066, FAR_VERSION = 1 };

enum far_kind { FAR_HOST = 1, FAR_PROGRAM, FAR_MESSAGES, FAR_DATA, FAR_WAY };

struct far_wish {
    uint32_t kind;    /* enum far_kind */
    uint32_t port;    /* HOST: where the agent listens; as on the network */
    uint64_t program; /* its number; not for HOST */
    int32_t slot, rank,
        size;      /* MESSAGES, DATA: of the session; WAY: rank of the one that asks; HOST:
                    * rank of the agent among those that the launcher has started */
    int32_t slots; /* HOST: how many it has so far */
    char name[DIRECT_HOST_BYTES]; /* HOST: of the host; WAY: where the other session listens */
};

enum far_note_kind {
    FAR_PEER = 1, /* HOST, to the caller: another agent: name, address, port, slots */
    FAR_READY,    /* HOST, to the caller: that were all; PROGRAM: sessions may come */
    FAR_SLOTS,    /* HOST, from the caller: it has so many now */
    FAR_EVENT,    /* HOST, from the caller: `event`, for omprma-run */
    FAR_STARTED,  /* PROGRAM: session `rank` runs as `pid` */
    FAR_ENDED,    /* PROGRAM: it has ended with `status`, and is reaped */
    FAR_REFUSED   /* PROGRAM: `text` says why */
};

struct far_note {
    uint32_t what; /* enum far_note_kind */
    int32_t rank, pid, status;
    int32_t processes, alone; /* as in struct direct_session */
    int32_t slots;
    uint32_t address, port; /* as on the network */
    char name[DIRECT_HOST_BYTES];
    char text[DIRECT_TEXT_BYTES];
    struct direct_event event;
};

/* What omprma-run and the launcher hand on to agents of other hosts, by names of variables. */
#define FAR_SECRET_VARIABLE "OMPRMA_INTERNAL_SECRET" /* hexadecimal digits */
#define FAR_HOME_VARIABLE "OMPRMA_INTERNAL_HOME"     /* ADDRESS:PORT of the agent that they call */
#define FAR_JOIN_VARIABLE "OMPRMA_INTERNAL_JOIN"     /* digits of the name where programs join */

#endif
