/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command.h: what a command of the protocol is: one table, with a row for each code. The pipeline
 * (pipeline.c) knows when a command may begin and what follows from its end; the row says what is
 * special about it.
 *
 * - command.c: the table; order between queues
 * - command_copy.c: write, read, store, fetch, fill, copy
 * - command_runs.c: scatter, gather, share
 * - command_launch.c: launch, region
 * - command_device.c: grow, release, load, ask; bench.c: bench
 * - command_worker.c: those of no device
 * - transfer.c: put, get, send, recv
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

enum command_flag {
    COMMAND_QUEUES = 1,     /* may be begun behind others where a device keeps their order */
    COMMAND_SPANS = 2,      /* takes time that --trace shows, and does not overlap with others */
    COMMAND_LAUNCHES = 4,   /* runs a kernel */
    COMMAND_PRINTS = 8,     /* what it prints precedes its result */
    COMMAND_BRINGS = 16,    /* is answered if there is data for the answer, also unasked */
    COMMAND_TRANSFERS = 32, /* moves data with another process; overlaps with others of these */
    COMMAND_ALWAYS = 64,    /* begins also in a queue that has failed */
    COMMAND_FAILS_BY_ITSELF = 128, /* does not fail its queue */
    COMMAND_OWN = 256              /* is about the worker: names no device */
};

/* Begins the command's job, which is empty, on the stream's device or, if it sets that, another
 * one. The job's status says why that failed. With command->more it is called again when the job
 * has ended. */
typedef enum backend_step command_begin(struct stream *stream, struct command *command);

/* The last job has ended well: sets what the answer brings, job.value and command->data; may still
 * fail the job. */
typedef void command_end(struct stream *stream, struct command *command);

/* Whether something is so of a command that may come next. */
typedef bool command_test(const struct stream *stream, const struct wire_record *record);

struct command_kind {
    unsigned flags; /* enum command_flag */
    command_begin *begin;
    command_end *end;    /* NULL: there is nothing to do */
    command_test *ready; /* it may begin now; NULL: always */
    /* Though it is COMMAND_QUEUES: nothing may be under way with it, since it takes several jobs or
     * changes the order. NULL: that is never so. */
    command_test *alone;
};

/* The row of a command, or one that refuses what does not belong into the stream. */
const struct command_kind *command_kind_of(const struct stream *stream, unsigned code);

/* A job that ends before it begins, with the thread's last error or OK. */
enum backend_step command_over(struct command *command, omprma_status_t status);

/* Makes command->memory, which ends with it; `purpose`: "for a copy". Errors: DEVICE_MEMORY. */
omprma_status_t command_memory(struct command *command, uint64_t bytes, const char *purpose);

/* Makes [address, address + bytes) of the device readable, or writable, here: sets *at. The device
 * can be touched. Errors: ADDRESS. */
omprma_status_t command_touch(struct worker_device *device, const char *what, uint64_t address,
                              uint64_t bytes, bool write, void **at);

/* True if small submits to the device are under way that other queues than this one have begun. */
static inline bool command_others_write(const struct stream *stream,
                                        const struct worker_device *device)
{
    return device->writes != (device == stream->device ? stream->writes : 0);
}

/* command_copy.c */
command_begin command_begin_write, command_begin_read, command_begin_store, command_begin_fetch;
command_begin command_begin_fill, command_begin_copy;
command_test command_fill_alone, command_copy_alone, command_copy_ready;

/* command_runs.c */
command_begin command_begin_scatter, command_begin_gather, command_begin_share;

/* command_launch.c */
command_begin command_begin_launch, command_begin_region;
command_end command_end_region;

/* command_device.c, bench.c */
command_begin command_begin_grow, command_begin_release, command_begin_load, command_begin_ask;
command_begin command_begin_bench;
command_end command_end_grow, command_end_load, command_end_ask;

/* command_worker.c */
command_begin command_begin_awake, command_begin_turn, command_begin_number, command_begin_exit;

/* transfer.c. Transfers begin also in a stream that has failed: their other ends wait. */
command_begin command_begin_transfer, command_begin_lost, command_begin_map, command_begin_unmap,
    command_begin_bell;
command_test command_transfer_ready;

#endif
