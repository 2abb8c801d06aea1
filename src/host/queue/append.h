/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * append.h: operations come into a queue. Nothing is sent. *operation, where it is asked for (not
 * NULL), is not a reference: it is valid until the lock is released or the queue advances.
 *
 * Thread: with runtime->lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_QUEUE_APPEND_H
#define OMPRMA_HOST_QUEUE_APPEND_H

#include "host/queue/queue.h"

/* Appends a command to the open message, opening one if needed. record->op is set; the tail is
 * copied. Errors: HOST_MEMORY (nothing is appended). */
omprma_status_t queue_append_command(struct omprma_queue *queue, enum operation_kind kind,
                                     struct wire_record *record, struct operation **operation);

/* Appends a small retrieve. The data goes to `to`, or to where `parts` say, which belong to the
 * operation then; one of the two is NULL. `may_fail`: it is not known to lie in a live block.
 * Errors: as above. */
omprma_status_t queue_append_read(struct omprma_queue *queue, omprma_addr_t from, uint64_t bytes,
                                  void *to, struct read_parts *parts, bool may_fail,
                                  struct operation **operation);

/* The result of a command that was just appended brings data, too: to `to`, or to where `parts`
 * say, which belong to the operation then; one of the two is NULL. */
void queue_brings(struct operation *command, uint64_t bytes, void *to, struct read_parts *parts);

/* Appends data that this side moves, by functions of the path; before the open message if that
 * holds only small submits elsewhere, so that it may start at once. Errors: HOST_MEMORY. */
omprma_status_t queue_append_transfer(struct omprma_queue *queue, const struct path_ops *by,
                                      const struct transfer *transfer,
                                      struct operation **operation);

/* Appends a submit or retrieve that goes through staging memory: the ranges of a put or get, and
 * steps of its own. `may_fail`: it is not known to lie in a live block. Errors: HOST_MEMORY. */
omprma_status_t queue_append_staged(struct omprma_queue *queue, const struct path_ops *by,
                                    const struct transfer *transfer, bool may_fail,
                                    const struct operation_task *task, void *data,
                                    struct operation **operation);

/* Appends a command, and a transfer that begins when its message has left;
 * (*transfer)->move.command is the command. Errors: HOST_MEMORY. */
omprma_status_t queue_append_with_command(struct omprma_queue *queue, const struct path_ops *by,
                                          const struct transfer *transfer,
                                          struct wire_record *record, struct operation **operation);

/* Appends a command by which the worker accesses the peer's memory (attach_order.h). Errors:
 * HOST_MEMORY.
 */
omprma_status_t queue_append_access(struct omprma_queue *queue, struct peer *peer,
                                    struct wire_record *record, struct operation **operation);

/* Appends a wait for an operation, watched by this side. Errors: HOST_MEMORY. */
omprma_status_t queue_append_wait(struct omprma_queue *queue, struct operation *target,
                                  enum wait_use use);

/* Appends a task. Errors: HOST_MEMORY. */
omprma_status_t queue_append_task(struct omprma_queue *queue, const struct operation_task *task,
                                  void *data, struct operation **operation);

/* A reference to an operation that ends when all that the queue holds now has ended, with the first
 * failure among it: a mark, or the last command; NULL if there is nothing. Errors: HOST_MEMORY. */
omprma_status_t queue_mark(struct omprma_queue *queue, struct operation **mark);

/* Appends a mark; `completion` (NULL allowed) passes to it, and is handed over when it ends. NULL,
 * with an error set, without memory. */
struct operation *queue_append_mark(struct omprma_queue *queue, struct completion *completion);

#endif
