/*
 * command.h: what the files that run commands share. Each function named after a command runs it,
 * or starts it, and answers who waits for it. Those that return a step are called again while it is
 * not COMMAND_DONE.
 *
 *   command.c          which command is run how; small copies, launches and waits
 *   steps.c            the same where a device keeps their order by itself
 *   transfer.c         put, get, send and receive
 *   command_device.c   grow, release, load, ask
 *
 * Thread: with the server's lock held, see server.h.
 */
#ifndef OMPRMA_WORKER_COMMAND_H
#define OMPRMA_WORKER_COMMAND_H

#include "worker/session.h"

enum {
    COMMAND_DATA_MOST = WIRE_MESSAGE_BYTES - 256, /* of one result */
    COMMAND_PIECE = 4 << 20 /* bytes of a copy or a fill: others have their turn after each */
};

/* Answers, if somebody waits, that the command is done. */
void command_finish(const struct stream *stream, const struct wire_record *record, uint64_t value,
                    const void *tail, uint32_t bytes);

/* For --trace, before the result: when the command ran, by its job where the device knows, else
 * since stream->began_ns. Nothing for those that take no time or overlap. */
void command_tell_span(const struct stream *stream, const struct wire_record *record,
                       const struct backend_job *job);

/* Answers, if somebody waits, that it failed, or was not run because an earlier one had failed. */
void command_refuse(const struct stream *stream, const struct wire_record *record,
                    omprma_status_t status, const char *text);

/* The job of the stream's command, empty. */
struct backend_job *command_job(struct stream *stream);

/* What becomes of the command whose job was started with this result; whose job is under way. */
enum command_step command_started(struct stream *stream, enum backend_step step);
enum command_step command_awaits(struct stream *stream);

/* What a command asks a device for: one copy of what a write, read, store, fetch or copy names,
 * whose device there is; the whole fill. */
struct backend_copy command_copy_of(const struct stream *stream, const struct wire_record *record);
struct backend_fill command_fill_of(const struct wire_record *record);
bool command_fill_is_sound(const struct wire_record *record);

/* ---- steps.c; what stream.c calls is in session.h */

/* True if the next command can be given to the device behind the steps that there are. */
bool steps_take(const struct stream *stream, const struct wire_record *record);

/* True if it has to wait until there are fewer. */
bool steps_hold_up(const struct stream *stream, const struct wire_record *record);

/* Gives it to the device: it is a step of the stream then. Where steps_take(). */
enum command_step steps_begin(struct stream *stream, const struct wire_record *record);

/* ---- transfer.c */

/* Also those of a stream that has failed: their other ends wait. */
enum command_step command_transfer(struct stream *stream, const struct wire_record *record);

/* A peer gives no answers any more: nothing is begun with it, and what is under way fails. */
void command_lose_peer(struct session *session, const struct wire_record *record);

/* Moves a transfer on; tells the application if it does not get on. True when it is over. */
bool command_move_transfer(struct stream *stream, struct stream_transfer *node);

/* ---- command_device.c. They do not fail the stream. */

enum command_step command_grow(struct stream *stream, const struct wire_record *record);
enum command_step command_release(struct stream *stream, const struct wire_record *record);
enum command_step command_load(struct stream *stream, const struct wire_record *record);
enum command_step command_ask(struct stream *stream, const struct wire_record *record);

#endif
