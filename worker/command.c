/*
 * command.c: which command is run how. A command that starts transfers lets the stream go on; every
 * other one waits until they are over. See command.h and docs/protocol.md.
 */
#include "worker/command.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/bench.h"
#include "worker/crash.h"
#include "worker/image.h"

void command_finish(struct server *server, const struct stream *stream,
                    const struct wire_record *record, uint64_t value, const void *tail,
                    uint32_t bytes)
{
    if (record->flags & WIRE_REPLY)
        reply_append(server, WIRE_DONE, stream->number, record->op, value, tail, bytes);
}

void command_refuse(struct server *server, const struct stream *stream,
                    const struct wire_record *record, omprma_status_t status, const char *text)
{
    if (record->flags & WIRE_REPLY)
        reply_failure(server, stream, record->op, status, text);
}

void command_fail_range(struct stream *stream, const char *what, uint64_t address, uint64_t bytes,
                        uint64_t bad)
{
    error_set(OMPRMA_ERR_ADDRESS,
              "%s of %llu bytes at device address 0x%llx: 0x%llx is not mapped "
              "on the device",
              what, (unsigned long long)bytes, (unsigned long long)address,
              (unsigned long long)bad);
    stream_fail(stream, OMPRMA_ERR_ADDRESS, error_text());
}

static void run_write(struct server *server, struct stream *stream,
                      const struct wire_record *record)
{
    uint64_t bad = 0;

    if (memory_holds(&server->memory, record->word[0], record->tail_bytes))
        memcpy(command_pointer(record->word[0]), record->tail, record->tail_bytes);
    else if (!guarded_copy(command_pointer(record->word[0]), record->tail, record->tail_bytes,
                           &bad))
        command_fail_range(stream, "submit", record->word[0], record->tail_bytes, bad);
}

/* Answers with the memory itself; copies it once, into the message. */
static void run_read(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t address = record->word[0], bytes = record->word[1], bad = 0;
    void *to;

    if (bytes > COMMAND_DATA_MOST) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a read is larger than a message");
        return;
    }
    if (!memory_holds(&server->memory, address, bytes) &&
        !guarded_probe(address, bytes, false, &bad)) {
        command_fail_range(stream, "retrieve", address, bytes, bad);
        return;
    }
    to = reply_append(server, WIRE_DONE, stream->number, record->op, bytes, NULL, (uint32_t)bytes);
    if (to)
        memcpy(to, command_pointer(address), bytes);
}

/* Overlapping ranges are allowed. */
static void run_copy(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t to = record->word[0], from = record->word[1], bytes = record->word[2], bad = 0;

    if (!memory_holds(&server->memory, from, bytes) && !guarded_probe(from, bytes, false, &bad))
        command_fail_range(stream, "exchange", from, bytes, bad);
    else if (!memory_holds(&server->memory, to, bytes) && !guarded_probe(to, bytes, true, &bad))
        command_fail_range(stream, "exchange", to, bytes, bad);
    else
        memmove(command_pointer(to), command_pointer(from), bytes);
}

static enum command_step run_wait(struct server *server, struct stream *stream,
                                  const struct wire_record *record)
{
    const struct stream *other = stream_find(server, (uint32_t)record->word[0]);
    uint32_t op = (uint32_t)record->word[1];
    omprma_status_t status;

    if (!other) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "wait for a queue that the worker never saw");
        return COMMAND_DONE;
    }
    status = stream_failure_of(other, op);
    if (status != OMPRMA_OK)
        stream_fail(stream, status, other->failed_text);
    else if ((int32_t)(other->done_op - op) < 0)
        return COMMAND_STALL;
    return COMMAND_DONE;
}

/* A launch on a thread that may not run kernels is left to a lane. */
static enum command_step run_launch(struct server *server, struct stream *stream,
                                    const struct wire_record *record, bool lane)
{
    if (!image_is_kernel(record->word[0]) && server->world) {
        error_set(OMPRMA_ERR_ADDRESS, "launch of 0x%llx, which is not a kernel of a loaded image",
                  (unsigned long long)record->word[0]);
        stream_fail(stream, OMPRMA_ERR_ADDRESS, error_text());
        return COMMAND_DONE;
    }
    if (!lane)
        return COMMAND_LANE;
    lane_call(server, stream, record);
    return COMMAND_DONE;
}

/* Commands of a queue that has failed: nothing is run, everybody who waits is answered. */
static enum command_step run_failed(struct server *server, struct stream *stream,
                                    const struct wire_record *record)
{
    const char *text = stream->failed_text ? stream->failed_text : "";

    if (record->code == WIRE_RECV || record->code == WIRE_SEND)
        return command_transfer(server, stream, record);
    if (record->code == WIRE_RESET && !server->lost) {
        stream_reset(stream, record->op);
        command_finish(server, stream, record, 0, NULL, 0);
        return COMMAND_DONE;
    }
    if (record->code == WIRE_EXIT)
        server->exiting = true;
    command_refuse(server, stream, record, stream->failed, text);
    return COMMAND_DONE;
}

enum command_step command_run(struct server *server, struct stream *stream,
                              const struct wire_record *record, bool lane)
{
    const char *text;
    enum command_step step = COMMAND_DONE;

    if (server->lost && stream->failed == OMPRMA_OK && crash_happened(&text))
        stream_fail(stream, OMPRMA_ERR_DEVICE_LOST, text);
    if (record->code == WIRE_LOST) {
        command_lose_peer(server, record);
        return COMMAND_DONE;
    }
    if (record->code >= WIRE_RECV && record->code <= WIRE_GET)
        return command_transfer(server, stream, record);
    if (stream->transfers)
        return COMMAND_STALL;
    if (stream->failed != OMPRMA_OK)
        return run_failed(server, stream, record);
    switch (record->code) {
    case WIRE_WRITE:
        run_write(server, stream, record);
        break;
    case WIRE_READ:
        run_read(server, stream, record);
        break;
    case WIRE_LAUNCH:
        step = run_launch(server, stream, record, lane);
        break;
    case WIRE_COPY:
        run_copy(server, stream, record);
        break;
    case WIRE_WAIT:
        step = run_wait(server, stream, record);
        break;
    case WIRE_GROW:
        command_grow(server, stream, record);
        return COMMAND_DONE;
    case WIRE_RELEASE:
        command_release(server, stream, record);
        return COMMAND_DONE;
    case WIRE_LOAD:
        command_load(server, stream, record);
        return COMMAND_DONE;
    case WIRE_AWAKE:
        server->awake_until_ns = clock_ns() + (int64_t)record->word[0] * 1000;
        break;
    case WIRE_BENCH:
        bench_run(server, stream, record);
        return COMMAND_DONE;
    case WIRE_EXIT:
        server->exiting = true;
        break;
    default: /* fence, reset of a queue that is well */
        break;
    }
    if (step != COMMAND_DONE)
        return step;
    if (stream->failed != OMPRMA_OK)
        command_refuse(server, stream, record, stream->failed, stream->failed_text);
    else if (record->code != WIRE_READ)
        command_finish(server, stream, record, 0, NULL, 0);
    return COMMAND_DONE;
}
