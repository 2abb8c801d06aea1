/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * session.h: what a worker keeps for one program: the messages that came and go, the worker's side
 * of its queues (streams), its arenas, the results that gather, what target regions print for it,
 * and which other workers it has lost. There is one session, as long as one program is served.
 *
 * - session.c: begin and end, arenas
 * - stream.c: queues: which there are, which need to be looked at, how they fail
 * - pipeline.c: how a command of a queue begins, ends and is answered
 * - command.c and others: what each command does, see command.h
 * - bounce.c: memory that commands take for themselves
 * - reply.c: results on their way to the application
 *
 * Thread: with the server's lock held.
 */
#ifndef OMPRMA_WORKER_SESSION_H
#define OMPRMA_WORKER_SESSION_H

#include "control/channel.h"
#include "control/datapath.h"
#include "worker/device.h"

struct server;

/* A bulk transfer of a stream. */
struct stream_transfer {
    struct stream_transfer *next;
    struct datapath *path;
    struct transfer transfer;
    uint32_t op;
    int64_t began_ns; /* for --trace */
    void *scratch;    /* memory of ours for what is thrown away, or NULL */
    uint64_t address; /* of the device, or in its staging memory */
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

enum { STREAM_FAILURES = 16 }; /* failures that are remembered */

/* A command that has begun and not ended, see pipeline.c. */
struct command {
    struct command *next;
    struct stream *stream;
    const struct command_kind *kind;
    struct wire_record record; /* its data lies in the message */
    struct backend_job job;
    struct backend_launch launch; /* if it is one */

    /* All 0 at the beginning. */
    struct channel_message *spent; /* messages that have been read and are needed until it ends */
    void *memory;                  /* its own, of bounce_take(), or NULL */
    const void *data;              /* what its answer brings */
    uint32_t data_bytes;
    int code;      /* the driver's, if the device would not begin it */
    char *text;    /* why it would not, or NULL */
    uint64_t done; /* of a command of several jobs: how far those that have begun come */
    bool more;     /* another job is to be begun when this one has ended */
    bool bounced;  /* the next job copies out of `memory`, see command_copy.c */
    bool alone;    /* nothing may be begun behind it */
    bool counted;  /* among the device's `writes` */
    bool lost;     /* its device is: it was answered, and belongs to no stream */
};

/* The worker's side of a queue. */
struct stream {
    struct session *session;
    struct worker_device *device; /* NULL: the stream of commands about the worker as a whole */
    uint32_t number;
    bool active;                             /* in the session's list of streams to be looked at */
    uint32_t op;                             /* of the command that was looked at last */
    uint32_t done_op;                        /* last operation that is complete */
    uint32_t transfer_op;                    /* last operation that was a transfer */
    struct channel_message *first, *last;    /* messages not read to their end */
    struct wire_reader reader;               /* place in `first` */
    struct stream_transfer *transfers;       /* under way */
    struct command *commands, *last_command; /* under way, in this order */
    uint32_t command_count;
    uint32_t writes; /* of the device's `writes` those that are commands of this stream */
    struct backend_job *behind; /* the last job that was begun and has not ended, or NULL */
    struct stream *next_active;
    int64_t began_ns;       /* for --trace: since when the first command runs */
    omprma_status_t failed; /* first error; later commands are not run */
    uint32_t failed_after;  /* last operation that was complete before it */
    uint32_t failed_op;     /* the one that failed */
    int failed_code;        /* of the device's driver, 0: none */
    char *failed_text;      /* of the last failure, also after a reset */
    struct stream_failure past[STREAM_FAILURES];
    uint32_t resets; /* the next one goes to past[resets % STREAM_FAILURES] */
};

struct session_arena {
    struct worker_device *device;
    uint64_t base, bytes;
};

/* The streams of one device, by queue number. */
struct stream_table {
    struct stream **streams;
    uint32_t count;
};

struct session {
    struct server *server;
    int head; /* rank of the application */

    struct stream_table
        *tables; /* by device; the one after the last device's is the worker's own */
    int table_count;
    struct stream *active_first, *active_last; /* streams that only go on when looked at */
    uint32_t active_count;
    struct stream_transfer *spare_transfers;
    struct command *spare_commands;
    struct command *lost_commands; /* devices that are lost may still use their memory */
    struct bounce_block *spare_bounces;
    struct bounce_slab *bounce_slabs;
    struct lost_peer *lost_peers;
    struct stream_transfer *abandoned; /* transfers with them that were under way */

    struct session_arena *arenas;
    uint32_t arena_count, arena_capacity;

    struct channel_message *out; /* results that are not sent yet, or NULL */
    uint32_t out_serial, in_serial;
    uint32_t out_acked; /* the last of ours that the application has dealt with */
    bool owe_ack;       /* the application asked for an acknowledgement */

    int64_t stall_ns; /* a transfer with another worker that moves nothing for so long is told of;
                       * 0: none is */
    int64_t moved_ns; /* when any such transfer has moved something */
    bool traces;      /* it wants to know when commands were run */
    bool over;        /* the application has said that it ends */
};

/* ---- session.c */

/* For the devices that the server has; takes over their first arenas. Errors: HOST_MEMORY. */
omprma_status_t session_open(struct server *server, struct session **session);

/* Frees it, and gives its arenas back to their devices. NULL is allowed. */
void session_close(struct session *session);

/* Notes an arena of the program; forgets it. Errors: HOST_MEMORY; ADDRESS (it is not one). */
omprma_status_t session_note_arena(struct session *session, struct worker_device *device,
                                   uint64_t base, uint64_t bytes);
omprma_status_t session_forget_arena(struct session *session, const struct worker_device *device,
                                     uint64_t base);

/* True if [address, address + bytes) lies inside one arena of the program. */
bool session_holds(const struct session *session, const struct worker_device *device,
                   uint64_t address, uint64_t bytes);

/* ---- bounce.c */

/* Memory of this process for one command of the device; NULL: there is none. The other gives it
 * back. Up to 16 KiB it is locked by the device's driver, if that has pin(). */
void *bounce_take(struct session *session, struct worker_device *device, uint64_t bytes);
void bounce_give(struct session *session, void *memory);

/* When the session's devices have stopped. */
void bounce_free_all(struct session *session);

/* ---- stream.c */

/* Takes over a message and runs what can be run now. Errors: PROTOCOL, VERSION (a message that
 * cannot be understood), HOST_MEMORY. */
omprma_status_t stream_accept(struct session *session, struct channel_message *message);

/* Goes on with streams that had to wait. True if any got further. */
bool stream_progress(struct session *session);

/* Ends commands of one stream that are over and begins others, until nothing more can be done. */
void stream_run(struct stream *stream);

/* Fails a stream at the command that is begun; the first error is kept. */
void stream_fail(struct stream *stream, omprma_status_t status, const char *text)
    __attribute__((cold));

/* The same with the calling thread's last error, at operation `op`. */
void stream_fail_error(struct stream *stream, uint32_t op, omprma_status_t status)
    __attribute__((cold));

/* The same at operation `op`. */
void stream_fail_at(struct stream *stream, uint32_t op, omprma_status_t status, const char *text)
    __attribute__((cold));

/* The same because its device has crashed. */
void stream_lose(struct stream *stream) __attribute__((cold));

/* Makes a stream that has failed well again from operation `op` on. */
void stream_reset(struct stream *stream, uint32_t op);

/* Why operation `op` was not run, or OK. Resets do not change that: who waits for an operation may
 * come to it later. */
omprma_status_t stream_failure_of(const struct stream *stream, uint32_t op);

/* A device has crashed: fails all its streams, the ones with a launch under way with the crash
 * itself, and those that copy to it from other devices. */
void stream_lose_device(struct session *session, const struct worker_device *device,
                        const char *text) __attribute__((cold));

/* How much goes on without the application's doing: commands that devices run, or that wait for a
 * lane, and transfers with other workers that were not said more than once to stand still. */
uint64_t stream_count_busy(const struct session *session);

/* How many transfers are under way, if active streams have nothing but two-sided ones to look at;
 * else false. */
bool stream_count_two_sided(const struct session *session, uint32_t *transfers);

/* The stream of a queue, or NULL if nothing was ever heard of it. */
struct stream *stream_find(const struct session *session, uint32_t device, uint32_t queue);

void stream_free_all(struct session *session);

/* ---- pipeline.c */

/* Begins a stream's next command and moves its reader on to `ahead`. False: it has to wait. */
bool pipeline_begin(struct stream *stream, const struct wire_record *record,
                    const struct wire_reader *ahead);

/* Ends those commands at the beginning of the list that are over, and answers them. `look`, once
 * when it is the stream's turn: asks the device whether they are, and begins the next job of a
 * command that has several. */
void pipeline_end(struct stream *stream, bool look);

/* The message that has been read is needed until the last command, which there is, has ended. */
void pipeline_keep(struct stream *stream, struct channel_message *message);

/* Refuses all commands that run on a lost device; the stream has failed for that. */
void pipeline_lose(struct stream *stream);

/* True if a kernel is among them. */
bool pipeline_launches(const struct stream *stream);

void pipeline_free(struct stream *stream);
void pipeline_free_spare(struct session *session);

/* ---- transfer.c */

/* Moves the transfers of a stream on. True if any is over. */
bool transfers_test(struct stream *stream);

/* Frees those of a stream that ends. What this process copies itself does not go on. */
void transfers_leave(struct stream *stream);

/* Those of the session that belong to no stream, and the peers that were lost. */
void transfers_free_all(struct session *session);

/* ---- reply.c */

/* Appends a result; sends what has gathered when it is full. No tail is longer than
 * COMMAND_DATA_MOST. */
void reply_append(const struct stream *stream, uint16_t code, uint32_t op, uint64_t word,
                  const void *tail, uint32_t bytes);

/* Appends that operation `op` of a stream was not done: it has failed by itself, with the calling
 * thread's error, or, where the stream has failed, an earlier one had. */
void reply_failure(const struct stream *stream, uint32_t op, omprma_status_t status,
                   const char *text) __attribute__((cold));

/* Appends that a transfer with `peer` has not moved anything for so long, for the how manieth time.
 */
void reply_stall(const struct stream *stream, int peer, int64_t seconds, uint32_t times);

/* Appends when operation `op` was run, for --trace. */
void reply_span(const struct stream *stream, uint32_t op, int64_t begin_ns, int64_t end_ns);

/* Appends what target regions have printed. */
void reply_output(struct session *session);

/* True if something is to be sent. */
static inline bool reply_is_due(const struct session *session)
{
    return session->out || session->owe_ack;
}

/* Sends what has gathered, and an acknowledgement if one is owed. */
omprma_status_t reply_flush(struct session *session);

#endif
