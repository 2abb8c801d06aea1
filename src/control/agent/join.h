/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * join.h: what a program and the agent of its host say to each other when the program asks for
 * workers, as packets (direct/packet.h) on the agent's socket. Both are processes of one host, so
 * fields are as this machine has them. The layout changes with DIRECT_VERSION only, and each packet
 * begins with the two fields that say so.
 *
 * - the program: a request, with its two outputs; then its environment, unless that is empty
 * - the agent: a reply; then a session, with its two sockets, as often as the reply says; and later
 *   whenever one of them ends, that it has
 *
 * The program keeps the socket open for as long as it lives, and sends nothing more but what it has
 * measured, for programs that follow, which find it in their replies. Its end is the
 * program's, which ends the sessions; the agent's end means that no session is left. A refusal is
 * a reply with a text, and the end.
 */
#ifndef OMPRMA_CONTROL_AGENT_JOIN_H
#define OMPRMA_CONTROL_AGENT_JOIN_H

#include <stdint.h>

/* Set by omprma-run for whatever it starts: DIRECT_JOIN_FORM, and then the digits that follow
 * DIRECT_NAME in the name of the agent's socket. */
#define DIRECT_JOIN_VARIABLE "OMPRMA_JOIN"
#define DIRECT_JOIN_FORM "1:"
#define DIRECT_NAME "omprma-join-"

/* Goes to sessions with the settings: the file of the program's libomp. Their kernels take the same
 * one, where there is one of this name, and not what the loader would find, which may be of another
 * LLVM. */
#define DIRECT_LIBOMP_VARIABLE "OMPRMA_INTERNAL_LIBOMP"

/* How the names begin under which sessions listen for each other's data. */
#define DIRECT_DOOR_PREFIX "omprma-data-"
enum { DIRECT_DIGITS = 32 };

/* The worker's options:
 *   --agent LISTENER CONTROL SLOTS [NETWORK MORE]: two descriptors and a number; with other hosts
 *     the descriptor of a listening TCP socket, and how many slots other hosts will have
 *   --agent-far: on another host, where the environment says the rest (far.h)
 *   --session CONTROL,DATA,SLOT,SLOTS,RANK,SIZE,ADDRESS,PORT,JOIN: two descriptors and four
 *     numbers; where the agent of this host is reached from others, 0 and 0 if there are none; and
 *     the digits of its name here */
#define DIRECT_AGENT_OPTION "--agent"
#define DIRECT_FAR_OPTION "--agent-far"
#define DIRECT_SESSION_OPTION "--session"
enum { DIRECT_SESSION_BYTES = 192 }; /* of its argument, at most */

enum { DIRECT_MAGIC = 0x6f6d706a, DIRECT_VERSION = 4 };
enum { DIRECT_FOLDER_BYTES = 4096, DIRECT_TEXT_BYTES = 256, DIRECT_ENVIRONMENT_MOST = 65536 };
enum { DIRECT_MEASURED_BYTES = 1024 };
enum { DIRECT_HOST_BYTES = 64, DIRECT_DOOR_BYTES = 48 };

/* How the slots of a host are shared among programs that run there. */
enum direct_share {
    DIRECT_SHARE_DEFAULT, /* as the agent's settings have it, else split where ranks are told */
    DIRECT_SHARE_SPLIT,   /* a part for each */
    DIRECT_SHARE_ALL      /* all for all */
};

/* Descriptors: its stdout and its stderr, which become those of its workers. */
enum { DIRECT_REQUEST_DESCRIPTORS = 2 };
struct direct_request {
    uint32_t magic, version;
    int32_t share;                  /* enum direct_share */
    int32_t local_rank, local_size; /* among a launcher's processes of this host; -1: not told */
    uint32_t environment_bytes;     /* of the next packet, DIRECT_ENVIRONMENT_MOST at most; 0: there
                                     * is none */
    char folder[DIRECT_FOLDER_BYTES]; /* workers run in it; ends with a zero */
};

/* The next packet: NAME=VALUE, each with its zero: settings of the program's environment, which
 * replace those of the agent's for its workers. */

/* Later from a program: what it has measured. The agent does not look at it. */
enum { DIRECT_MEASURED_MAGIC = 0x6f6d706d };
struct direct_measured {
    uint32_t magic, version;
    uint32_t bytes; /* DIRECT_MEASURED_BYTES at most; 0: nothing */
    char data[DIRECT_MEASURED_BYTES];
};

struct direct_reply {
    uint32_t magic, version;
    int32_t refused;                 /* not 0: there are no workers, and `text` says why */
    int32_t sessions;                /* workers of this program, each a packet that follows */
    int32_t slots;                   /* of the host */
    int32_t processes;               /* programs and workers that this host is to expect together */
    int32_t far;                     /* of the sessions, on other hosts */
    int32_t repeats;                 /* not 0: another rank of this host is here */
    char text[DIRECT_TEXT_BYTES];    /* one line, with its zero */
    struct direct_measured measured; /* by a program before */
};

/* Descriptors: the ends of two stream sockets to the worker, for messages and for data. */
enum { DIRECT_SESSION_DESCRIPTORS = 2 };
struct direct_session {
    uint32_t magic, version;
    int32_t slot, pid;
    int32_t rank;      /* among the program's processes; it is rank 0 itself */
    int32_t far;       /* on another host */
    int32_t processes; /* that the session's host is to expect */
    int32_t alone;     /* no other program has sessions there */
};

/* A worker has ended, and is reaped. */
struct direct_ended {
    uint32_t magic, version;
    int32_t rank;
    int32_t status; /* as of waitpid(); DIRECT_GONE: it is lost with its host */
};
enum { DIRECT_GONE = -1 };

/* A worker whose program has ended ends with this status, without a word. It may know that before
 * its agent does, so the agent takes it for no loss. */
enum { DIRECT_NO_PROGRAM = 3 };

/* From a session to the agent of its host: a way for its data to one of another host. Both find an
 * end of it at their doors (direct/data.c), with struct direct_arrival. */
enum { DIRECT_WAY_MAGIC = 0x6f6d7077 };
struct direct_way {
    uint32_t magic, version;
    int32_t rank;                 /* of the other session */
    uint32_t address, port;       /* of the agent there, as on the network */
    char door[DIRECT_DOOR_BYTES]; /* where the other one listens */
    char own[DIRECT_DOOR_BYTES];  /* where this one does */
};

/* At the door of a session, with an end of a stream socket unless there is no way. */
struct direct_arrival {
    int32_t rank;    /* of the session at its other end */
    int32_t is_ours; /* it is the way that was asked for, else the other's */
};

/* From a second process of the same host that was to be its agent: one slot more. */
enum { DIRECT_SLOT_MAGIC = 0x6f6d7073 };
struct direct_slot {
    uint32_t magic, version;
};

/* From omprma-run to the agent that it has started: the run has ended in order, and what it has
 * left running may run. If the socket ends without it, all its programs are to end. */
enum { DIRECT_IN_ORDER = 'O' };

/* From the agent to omprma-run. */
enum direct_event_kind {
    DIRECT_JOINED = 'J', /* a program has its workers: pid */
    DIRECT_LEFT = 'E',   /* it has ended, or needs them no more: pid */
    DIRECT_LOST = 'L',  /* a worker has ended, but not because it was to: pid, status, slot, host */
    DIRECT_READY = 'H', /* the agents of all hosts are there */
    DIRECT_HOST = 'G'   /* that of a host has ended, or is not to be reached any more: host */
};
struct direct_event {
    uint32_t what; /* enum direct_event_kind */
    int32_t pid;   /* of the program */
    int32_t status, slot;
    char host[DIRECT_HOST_BYTES]; /* empty: omprma-run's own */
};

#endif
