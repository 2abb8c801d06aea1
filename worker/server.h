/*
 * server.h: the worker's heart. Takes control messages, runs their commands in the order of their
 * queues, and sends results. The device side of a queue is a stream.
 *
 *   server.c    the loop: receive, run, idle, sleep; who serves when (lane or service thread)
 *   stream.c    order within a queue: run, stall, go on, fail
 *   command.c   what each command does; transfer.c, device_commands.c: see command.h
 *   lane.c      threads that run kernels
 *   reply.c     results on their way to the application
 *   memory.c    arenas
 *
 * Thread: everything here is done with server->lock held unless said otherwise; the lock is also
 * what makes MPI calls one at a time. It is released only around kernels and sleeps.
 */
#ifndef OMPRMA_WORKER_SERVER_H
#define OMPRMA_WORKER_SERVER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <omprma/omprma.h>

#include "base/yield.h"
#include "control/channel.h"
#include "control/datapath.h"
#include "control/world.h"
#include "worker/memory.h"
#include "worker/place.h"

/* A bulk transfer of a stream. */
struct stream_transfer {
    struct stream_transfer *next;
    struct datapath *path;
    struct transfer transfer;
    uint32_t op;
    void *scratch;    /* memory of ours that stands in for a range that was refused, or NULL */
    uint32_t looks;   /* of watch_transfer() */
    uint64_t moved;   /* bytes that were complete when it was last looked at */
    int64_t watch_ns; /* when it was first looked at */
    uint32_t told;    /* how often it was said to stall, since it last moved */
    uint32_t told_in; /* in which message, the last time */
    int64_t heard_ns; /* when the application was seen to know; 0: it does not yet */
};

/* A peer that gives no answers any more. */
struct lost_peer {
    struct lost_peer *next;
    int rank;
    char *text;
};

/* A failure that the application has reset: what was not run because of it. */
struct stream_failure {
    uint32_t after, reset; /* operations after that one, before that one */
    omprma_status_t status;
};

enum { STREAM_FAILURES = 16 /* failures that are remembered */ };

/* The worker's side of a queue. */
struct stream {
    uint32_t number;
    bool running;         /* a lane has its next command, a launch */
    bool begun;           /* the next command has been started and waits for its transfers */
    bool active;          /* in the server's list of streams that need attention */
    uint32_t op;          /* of the command that is run, or was last */
    uint32_t done_op;     /* last operation that is complete */
    uint32_t transfer_op; /* last operation among `transfers` */
    struct channel_message *first, *last; /* messages not finished */
    struct wire_reader reader;            /* place in `first` */
    struct stream_transfer *transfers;    /* under way */
    struct stream *next_active;           /* in the list of streams that need attention */
    struct stream *next_ready;            /* in the list of streams that wait for a lane */
    omprma_status_t failed;               /* first error; later commands are not run */
    uint32_t failed_after;                /* last operation that was complete before it */
    uint32_t failed_op;                   /* the one that failed */
    char *failed_text;                    /* of the last failure, also after a reset */
    struct stream_failure past[STREAM_FAILURES];
    uint32_t resets; /* the next one goes to past[resets % STREAM_FAILURES] */
};

struct server {
    pthread_mutex_t lock;
    _Atomic int contenders; /* threads that wait for the lock: its holder lets go between steps */

    struct world *world; /* NULL: inside the application's process (tests) */
    struct channel *channel;
    struct doorbell *bell;      /* this worker's; NULL: nobody rings */
    struct datapath *one_sided; /* NULL without a window */
    struct datapath *two_sided;
    struct memory memory;
    const struct place *place;

    struct stream **streams; /* by queue number */
    uint32_t stream_count;
    struct stream *active_first, *active_last; /* streams with transfers, or stalled */
    uint32_t active_count;
    struct stream *ready_first, *ready_last; /* streams whose next command waits for a lane */
    struct stream_transfer *spare_transfers;
    struct lost_peer *lost_peers;
    struct stream_transfer *abandoned; /* transfers with them that were under way */

    struct channel_message *out; /* results that are not sent yet, or NULL */
    int head;                    /* rank of the application */
    uint32_t out_serial, in_serial;
    uint32_t out_acked; /* the last of ours that the application has dealt with */
    bool owe_ack;       /* the application asked for an acknowledgement */

    int lanes;
    pthread_t *lane_threads; /* lanes > 1 only */
    sem_t ready;             /* posted for each stream that waits for a lane (lanes > 1) */
    /* Odd while the single lane is in a kernel; changes with each kernel. */
    _Atomic uint32_t kernel_turn;
    pthread_t service_thread;
    _Atomic uint32_t service_state; /* futex: SERVICE_* of server.c */
    _Atomic bool service_sleeps;    /* it is in channel_sleep() */
    _Atomic uint32_t steps;         /* looks at the channel */

    int64_t stall_ns; /* a transfer with another worker that moves nothing for so long is told of;
                       * 0: none is */
    int64_t moved_ns; /* when any such transfer has moved something */
    int64_t awake_until_ns;
    int64_t spin_ns;  /* polls without yielding for so long */
    int64_t yield_ns; /* then yielding, then it sleeps */
    struct yield_history yields;
    bool exiting;
    void (*leave_lost)(void); /* ends the process when the main thread cannot; may be NULL */
    bool lost;                /* a kernel has crashed: nothing runs any more */
    omprma_status_t broken;   /* the connection has failed: this worker has to end */
    char broken_text[256];
    uint64_t kernels; /* kernels run so far */
};

/* ---- server.c */

/* Prepares a server whose channel, paths, memory, world and place are set. Starts lane and service
 * threads. Errors: HOST_MEMORY. */
omprma_status_t server_open(struct server *server);

/* Serves until the application says exit (OK) or the connection fails. Not called with the lock
 * held.
 */
omprma_status_t server_run(struct server *server);

/* Ends the threads and frees everything that server_open() and the streams made. */
void server_close(struct server *server);

/* The connection has failed in a way that leaves somebody waiting for ever: what comes now is the
 * end of this worker, and through MPI that of all. The first reason is kept. */
void server_break(struct server *server, omprma_status_t status, const char *text);

void server_lock(struct server *server);
void server_unlock(struct server *server);

/* ---- stream.c */

/* Takes over a message and runs what can be run now. `lane`: the calling thread may run kernels.
 * Errors: PROTOCOL, VERSION (a message that cannot be understood), HOST_MEMORY. */
omprma_status_t stream_accept(struct server *server, struct channel_message *message, bool lane);

/* Goes on with streams that had to wait. True if any got further. */
bool stream_progress(struct server *server, bool lane);

/* Runs commands of one stream until one cannot go on. */
void stream_run(struct server *server, struct stream *stream, bool lane);

/* Fails a stream at the command that is run; the first error is kept. */
void stream_fail(struct stream *stream, omprma_status_t status, const char *text);

/* The same at operation `op`. */
void stream_fail_at(struct stream *stream, uint32_t op, omprma_status_t status, const char *text);

/* A peer gives no answers any more: fails the transfers with it that are under way. */
void stream_lose_peer(struct server *server, struct stream *stream, const struct lost_peer *peer);

/* Makes a stream that has failed well again from operation `op` on. */
void stream_reset(struct stream *stream, uint32_t op);

/* Why operation `op` was not run, or OK. Resets do not change that: who waits for an operation may
 * come to it later. */
omprma_status_t stream_failure_of(const struct stream *stream, uint32_t op);

/* After a crash: fails all streams, the running ones with the crash itself. */
void stream_lose_all(struct server *server, const char *text);

/* Takes the next stream that waits for a lane, or NULL. */
struct stream *stream_take_ready(struct server *server);

/* The stream of a queue, or NULL if nothing was ever heard of it. */
struct stream *stream_find(const struct server *server, uint32_t queue);

void stream_free_all(struct server *server);

/* ---- command.c */

enum command_step {
    COMMAND_DONE,  /* go on with the next */
    COMMAND_STALL, /* call again later */
    COMMAND_LANE   /* needs a lane: the caller queues the stream */
};

/* Runs, or starts, the next command of a stream. */
enum command_step command_run(struct server *server, struct stream *stream,
                              const struct wire_record *record, bool lane);

/* ---- lane.c */

omprma_status_t lane_start(struct server *server);
void lane_stop(struct server *server);

/* Runs the kernel of a launch on the calling thread, releasing the lock meanwhile. */
void lane_call(struct server *server, struct stream *stream, const struct wire_record *record);

/* ---- service.c */

omprma_status_t service_start(struct server *server);
void service_stop(struct server *server);

/* A kernel starts on the single lane; ends. Called without the lock. */
void service_kernel_begins(struct server *server);
void service_kernel_ended(struct server *server);

/* Asks the service thread to leave its sleep; true once it is not sleeping. */
bool service_stand_back(struct server *server);

/* Serves while `server` is in a kernel or lost; one step of the loop in server.c. */
struct idle {
    int64_t since_ns; /* 0: not idle */
    unsigned rounds;
};
/* If a kernel has crashed: fails everything, once. */
void server_notice_crash(struct server *server);

omprma_status_t server_step(struct server *server, bool lane, bool *progressed);
void server_idle(struct server *server, struct idle *idle, bool lane);

/* ---- reply.c */

/* Appends a result; sends what has gathered when it is full. `tail` may be NULL: the caller fills
 * the returned memory at once. NULL is returned on an error of the channel, and for bytes > 60 KiB.
 */
void *reply_append(struct server *server, uint16_t code, uint32_t queue, uint32_t op, uint64_t word,
                   const void *tail, uint32_t bytes);

/* Appends that operation `op` of a stream was not done: it has failed, or an earlier one had. */
void reply_failure(struct server *server, const struct stream *stream, uint32_t op,
                   omprma_status_t status, const char *text);

/* Appends that a transfer with `peer` has not moved anything for so long, for the how manieth time.
 */
void reply_stall(struct server *server, const struct stream *stream, int peer, int64_t seconds,
                 uint32_t times);

/* Appends what target regions have printed. */
void reply_output(struct server *server);

/* Sends what has gathered, and an acknowledgement if one is owed. */
omprma_status_t reply_flush(struct server *server);

#endif
