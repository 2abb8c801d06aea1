/*
 * command.h: what the files that run commands share. Each function named after a command runs it,
 * or starts it, and answers who waits for it.
 *
 *   command.c          which command is run how; those that are over at once, launches and waits
 *   transfer.c         put, get, send and receive
 *   device_commands.c  grow, release, load
 *
 * Thread: with the server's lock held, see server.h.
 */
#ifndef OMPRMA_WORKER_COMMAND_H
#define OMPRMA_WORKER_COMMAND_H

#include "worker/server.h"

/* Most data of one result. */
enum { COMMAND_DATA_MOST = WIRE_MESSAGE_BYTES - 256 };

static inline void *command_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Answers, if somebody waits, that the command is done. */
void command_finish(struct server *server, const struct stream *stream,
                    const struct wire_record *record, uint64_t value, const void *tail,
                    uint32_t bytes);

/* Answers, if somebody waits, that it failed, or was not run because an earlier one had failed. */
void command_refuse(struct server *server, const struct stream *stream,
                    const struct wire_record *record, omprma_status_t status, const char *text);

/* Fails the stream, for `bad` in [address, address + bytes) is not mapped. */
void command_fail_range(struct stream *stream, const char *what, uint64_t address, uint64_t bytes,
                        uint64_t bad);

/* ---- transfer.c */

/* Also those of a stream that has failed: their other ends wait. */
enum command_step command_transfer(struct server *server, struct stream *stream,
                                   const struct wire_record *record);

/* A peer gives no answers any more: nothing is begun with it, and what is under way fails. */
void command_lose_peer(struct server *server, const struct wire_record *record);

/* Looks whether a transfer that is not done gets on, and tells the application if it does not. */
void command_watch_transfer(struct server *server, const struct stream *stream,
                            struct stream_transfer *node);

/* Fails the stream of a transfer that has failed with error_text(); the worker as well if the other
 * end is left waiting. */
void command_fail_transfer(struct server *server, struct stream *stream,
                           const struct stream_transfer *node, omprma_status_t status);

/* ---- device_commands.c */

void command_grow(struct server *server, const struct stream *stream,
                  const struct wire_record *record);
void command_release(struct server *server, const struct stream *stream,
                     const struct wire_record *record);
void command_load(struct server *server, const struct stream *stream,
                  const struct wire_record *record);

#endif
