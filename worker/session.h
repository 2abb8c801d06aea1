/*
 * session.h: what a worker keeps for one program: the messages that came and go, the worker's side
 * of its queues (streams), its arenas, the results that gather, what target regions print for it,
 * and which other workers it has lost. There is one session, as long as one program is served.
 *
 *   session.c   begin and end, arenas
 *   stream.c    order within a queue: run, stall, go on, fail
 *   stage.c     memory for small reads of devices that cannot be touched
 *   command.c   what each command does; steps.c, transfer.c, command_device.c: see command.h
 *   reply.c     results on their way to the application
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

/* A command that a device has been given behind others of its queue, see steps.c. */
struct stream_step {
    struct stream_step *next;
    struct wire_record record; /* its data lies in the message */
    struct backend_job job;
    struct channel_message *spent; /* messages that end with it */
    void *stage;                   /* where a read goes to, of stage_take(), or NULL */
    char *text;                    /* why the device would not begin it, or all of it, or NULL */
    int code;                      /* its driver's for that */
    bool counted;                  /* among the device's `writes` */
    struct backend_launch launch;  /* if it is one */
};

/* The worker's side of a queue. */
struct stream {
    struct session *session;
    struct worker_device *device; /* NULL: the stream of commands about the worker as a whole */
    uint32_t number;
    bool held;            /* its command ends on another thread, which goes on with it then */
    bool launching;       /* that command, or the one that is run, is a launch */
    bool begun;           /* the next command has been started and waits for its end */
    bool active;          /* in the session's list of streams that need attention */
    uint32_t op;          /* of the command that is run, or was last */
    uint32_t done_op;     /* last operation that is complete */
    uint32_t transfer_op; /* last operation among `transfers` */
    struct channel_message *first, *last;  /* messages not finished */
    struct wire_reader reader;             /* place in `first` */
    struct stream_transfer *transfers;     /* under way */
    struct stream_step *steps, *last_step; /* under way on the device, in this order */
    uint32_t step_count;
    uint32_t writes;              /* of the device's `writes` those that are steps of this stream */
    struct backend_job *behind;   /* the last job of a step that has not ended, or NULL */
    struct stream *next_active;   /* in the list of streams that need attention */
    struct backend_job job;       /* of the command that is run */
    struct backend_launch launch; /* the same, if it is a launch */
    void *stage;                  /* memory of ours for the command that is run */
    uint64_t copied;              /* of a copy in pieces: how far it is */
    int phase;                    /* of a command of several jobs */
    int64_t began_ns;             /* for --trace: the command that is run */
    omprma_status_t failed;       /* first error; later commands are not run */
    uint32_t failed_after;        /* last operation that was complete before it */
    uint32_t failed_op;           /* the one that failed */
    int failed_code;              /* of the device's driver, 0: none */
    char *failed_text;            /* of the last failure, also after a reset */
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
    struct stream *active_first, *active_last; /* streams with transfers or steps, or stalled */
    uint32_t active_count;
    struct stream_transfer *spare_transfers;
    struct stream_step *spare_steps;
    struct stream_step *lost_steps; /* devices that are lost may still use their memory */
    struct stage_block *spare_stages;
    struct stage_slab *stage_slabs;
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

/* ---- stage.c */

/* Memory for a read of `bytes` of the device; NULL: there is none. The other gives it back. Up to
 * 16 KiB it is locked by the device's driver, if that can be. */
void *stage_take(struct session *session, struct worker_device *device, uint64_t bytes);
void stage_give(struct session *session, void *stage, uint64_t bytes);

/* When the session's devices have stopped. */
void stage_free_all(struct session *session);

/* ---- stream.c */

/* Takes over a message and runs what can be run now. Errors: PROTOCOL, VERSION (a message that
 * cannot be understood), HOST_MEMORY. */
omprma_status_t stream_accept(struct session *session, struct channel_message *message);

/* Goes on with streams that had to wait. True if any got further. */
bool stream_progress(struct session *session);

/* Runs commands of one stream until one cannot go on. */
void stream_run(struct stream *stream);

/* A job of a stream that is held has ended: the calling thread goes on with it. */
void stream_go_on(struct backend_job *job);

/* Fails a stream at the command that is run; the first error is kept. */
void stream_fail(struct stream *stream, omprma_status_t status, const char *text)
    __attribute__((cold));

/* The same with the calling thread's last error, at operation `op`. */
void stream_fail_error(struct stream *stream, uint32_t op, omprma_status_t status)
    __attribute__((cold));

/* The same at operation `op`. */
void stream_fail_at(struct stream *stream, uint32_t op, omprma_status_t status, const char *text)
    __attribute__((cold));

/* The same because a device, of this stream or another one, has crashed. */
void stream_lose(struct stream *stream, struct worker_device *device) __attribute__((cold));

/* A peer gives no answers any more: fails the transfers with it that are under way. */
void stream_lose_peer(struct stream *stream, const struct lost_peer *peer) __attribute__((cold));

/* Makes a stream that has failed well again from operation `op` on. */
void stream_reset(struct stream *stream, uint32_t op);

/* Why operation `op` was not run, or OK. Resets do not change that: who waits for an operation may
 * come to it later. */
omprma_status_t stream_failure_of(const struct stream *stream, uint32_t op);

/* A device has crashed: fails all its streams, the ones with a launch under way with the crash
 * itself. */
void stream_lose_device(struct session *session, const struct worker_device *device,
                        const char *text) __attribute__((cold));

/* How much goes on without the application's doing: commands that devices run, or that wait for a
 * lane, and transfers with other workers that were not said more than once to stand still. */
uint64_t stream_count_busy(const struct session *session);

/* The stream of a queue, or NULL if nothing was ever heard of it. */
struct stream *stream_find(const struct session *session, uint32_t device, uint32_t queue);

void stream_free_all(struct session *session);

/* ---- command.c */

enum command_step {
    COMMAND_DONE,  /* go on with the next */
    COMMAND_STALL, /* call again later */
    COMMAND_HELD   /* stream_go_on() will be called */
};

/* Runs, or starts, the next command of a stream. */
enum command_step command_run(struct stream *stream, const struct wire_record *record);

/* ---- steps.c */

/* Ends those steps at the beginning of the list whose jobs have ended. True if there were any. */
bool steps_settle(struct stream *stream);

/* The message that has been read is needed until the last step has ended, which there is. */
void steps_keep(struct stream *stream, struct channel_message *message);

/* Refuses all steps: the device is lost, and the stream has failed for that. */
void steps_lose(struct stream *stream);

/* True if a launch is among them. */
bool steps_launch(const struct stream *stream);

void steps_free(struct stream *stream);
void steps_free_spare(struct session *session);

/* ---- reply.c */

/* Appends a result; sends what has gathered when it is full. `tail` may be NULL: the caller fills
 * the returned memory at once. NULL is returned on an error of the channel, and for bytes > 60 KiB.
 */
void *reply_append(const struct stream *stream, uint16_t code, uint32_t op, uint64_t word,
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
