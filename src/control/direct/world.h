/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * world.h: a program and its workers without MPI. The program asks the agent of its host for
 * workers (join.h), each of which is a process of this program's own, and shares two sockets with
 * each. Only for files that are this transport.
 *
 * Thread: start-up and end by one thread. Blocks: start-up waits for the agent and the workers.
 */
#ifndef OMPRMA_CONTROL_DIRECT_WORLD_H
#define OMPRMA_CONTROL_DIRECT_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/direct/link.h"
#include "control/direct/packet.h"
#include "control/world.h"

/* The agent of a process's host, for those of others; zeros: there are no other hosts. */
struct direct_agent {
    uint32_t address, port; /* as on the network */
};

/* How a worker has ended: a status as of waitpid(), or DIRECT_GONE. */
struct direct_end {
    bool is_known;
    int status;
};

struct world_direct {
    int agent;             /* the program's socket to the agent, for its life; -1 in a worker */
    struct link *messages; /* by rank; in a worker only that to the program */
    struct link *data;     /* likewise */
    pid_t *pids;           /* by rank */
    char (*names)[PACKET_NAME_BYTES]; /* by rank: where workers listen for each other's data */
    struct direct_agent *agents;      /* by rank; the program's is not told */
    bool *far;                        /* by rank, it is on another host; see world.elsewhere */
    int listener;                     /* a worker's; -1 in the program */
    struct direct_end *ended;         /* the program's: by rank, what the agent has said */
    bool other_hosts;                 /* some worker is on another host than the program */
    bool copies;          /* with UCX: all may copy memory of other processes of their hosts */
    struct datapath *ucx; /* that is to be handed out; NULL: none, or it has been */
    int ucx_events;       /* a worker's: can be read when it has something to do; -1: none */
};

/* Is there an agent to ask, or has one started this worker? Looks at the environment only. */
bool direct_is_wanted(void);

/* In a worker, first of all: what the agent has put behind DIRECT_SESSION_OPTION. False: it makes
 * no sense. */
bool direct_take_session(const char *text);

/* Then which of its program's workers it is, from 0; -1: no agent has started it. */
int direct_session_number(void);

/* Is that one on another host? */
bool direct_is_elsewhere(const struct world *world, int rank);

/* In a worker: asks for a way for data to one on another host, which comes to the door of both.
 * False: the agent of this host is gone. Blocks: no longer than the agent takes it. */
bool direct_ask_way(const struct world *world, int rank);

/* How a worker of the program has ended, for the end of a sentence: "was ended by signal 9
 * (Killed)", or "has ended". The program only. Blocks until the agent has said so, for a moment. */
void direct_end_of(const struct world *world, int rank, char *text, size_t bytes);

/* Start-up and end, see control/transport.h. */
omprma_status_t direct_start(struct world *world);
omprma_status_t direct_connect(struct world *world);
omprma_status_t direct_begin(struct world *world);
void direct_started(struct world *world);
omprma_status_t direct_leave(struct world *world);
void direct_abort(int code);
void direct_tell_measured(const struct world *world, const void *data, size_t bytes);

#endif
