/*
 * command.c: which command is run how. A command that starts transfers lets the stream go on; every
 * other one waits until they are over. See command.h and docs/protocol.md.
 */
#include "worker/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/bench.h"
#include "worker/output.h"
#include "worker/worker.h"

enum {
    TURNS_MOST = 1 << 20, /* workers of a host */
    DEVICES_MOST = 1 << 20
};

void command_finish(const struct stream *stream, const struct wire_record *record, uint64_t value,
                    const void *tail, uint32_t bytes)
{
    if (record->flags & WIRE_REPLY)
        reply_append(stream, WIRE_DONE, record->op, value, tail, bytes);
}

void command_refuse(const struct stream *stream, const struct wire_record *record,
                    omprma_status_t status, const char *text)
{
    if (record->flags & WIRE_REPLY)
        reply_failure(stream, record->op, status, text);
}

/* ---- jobs ---- */

struct backend_job *command_job(struct stream *stream)
{
    stream->job = (struct backend_job){.device = stream->device, .ended = stream_go_on};
    return &stream->job;
}

static enum command_step wait_for(const struct worker_device *device)
{
    return device->backend->poll ? COMMAND_STALL : COMMAND_HELD;
}

enum command_step command_started(struct stream *stream, enum backend_step step)
{
    stream->begun = step == BACKEND_PENDING;
    return stream->begun ? wait_for(stream->job.device) : COMMAND_DONE;
}

enum command_step command_awaits(struct stream *stream)
{
    stream->begun = !worker_device_ended(&stream->job);
    return stream->begun ? wait_for(stream->job.device) : COMMAND_DONE;
}

/* Fails the stream if its job has failed. */
static enum command_step end_job(struct stream *stream, enum command_step step)
{
    if (step == COMMAND_DONE && stream->job.status != OMPRMA_OK)
        stream_fail_error(stream, stream->op, stream->job.status);
    return step;
}

/* Runs one copy; to be called again while it is not done. */
static enum command_step run_copy_job(struct stream *stream, struct worker_device *device,
                                      const struct backend_copy *copy)
{
    struct backend_job *job;

    if (stream->begun)
        return end_job(stream, command_awaits(stream));
    job = command_job(stream);
    job->device = device;
    return end_job(stream, command_started(stream, device->backend->copy(device, job, copy)));
}

static bool stage_make(struct stream *stream, uint64_t bytes)
{
    stream->stage = malloc(bytes);
    stream->phase = 0;
    if (!stream->stage)
        stream_fail(stream, OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory for a copy");
    return stream->stage != NULL;
}

static void stage_free(struct stream *stream)
{
    free(stream->stage);
    stream->stage = NULL;
}

struct backend_copy command_copy_of(const struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    struct backend_copy copy = {.to = record->word[0], .from = record->word[1]};

    copy.bytes = record->word[2];
    switch (record->code) {
    case WIRE_WRITE:
        copy.what = "submit";
        copy.to_device = device;
        copy.from = (uint64_t)(uintptr_t)record->tail;
        copy.bytes = record->tail_bytes;
        break;
    case WIRE_READ: /* to memory that the caller makes */
        copy.what = "retrieve";
        copy.from_device = device;
        copy.to = 0;
        copy.from = record->word[0];
        copy.bytes = record->word[1];
        break;
    case WIRE_STORE: /* from the staging memory */
        copy.what = "submit";
        copy.to_device = device;
        break;
    case WIRE_FETCH: /* to it */
        copy.what = "retrieve";
        copy.from_device = device;
        copy.to = record->word[1];
        copy.from = record->word[0];
        break;
    default:
        copy.what = "exchange";
        copy.from_device = device;
        copy.to_device = &stream->session->server->devices[record->word[3]];
        break;
    }
    return copy;
}

/* Gives up the command that was under way: a device is lost, and may still use the memory of a job
 * that has begun. */
static void abandon(struct stream *stream)
{
    if (stream->begun)
        stream->stage = NULL;
    stage_free(stream);
    stream->begun = false;
    stream->copied = 0;
}

/* ---- memory ---- */

static enum command_step run_write(struct stream *stream, const struct wire_record *record)
{
    bool begun = stream->begun;
    const struct backend_copy copy = command_copy_of(stream, record);
    enum command_step step;

    step = run_copy_job(stream, stream->device, &copy);
    stream->device->writes += !begun && stream->begun;
    stream->device->writes -= begun && !stream->begun;
    return step;
}

/* Through memory of ours. */
static enum command_step read_copied(struct stream *stream, const struct wire_record *record)
{
    struct backend_copy copy = command_copy_of(stream, record);
    enum command_step step;

    if (!stream->begun && !stage_make(stream, copy.bytes))
        return COMMAND_DONE;
    copy.to = (uint64_t)(uintptr_t)stream->stage;
    step = run_copy_job(stream, stream->device, &copy);
    if (step != COMMAND_DONE)
        return step;
    if (stream->failed == OMPRMA_OK)
        reply_append(stream, WIRE_DONE, record->op, copy.bytes, stream->stage,
                     (uint32_t)copy.bytes);
    stage_free(stream);
    return COMMAND_DONE;
}

/* *at: where the memory is. False, and the stream has failed: not there. */
static bool touch_range(struct stream *stream, struct worker_device *device, const char *what,
                        uint64_t address, uint64_t bytes, bool write, void **at)
{
    uint64_t bad = 0;

    *at = device->backend->touch(device, address, bytes, write, &bad);
    if (*at)
        return true;
    worker_device_refuse_range(what, address, bytes, bad);
    stream_fail(stream, OMPRMA_ERR_ADDRESS, error_text());
    return false;
}

/* Answers with the memory itself; copies it once, into the message. */
static void read_touched(struct stream *stream, uint32_t op, uint64_t address, uint64_t bytes)
{
    void *from, *to;

    if (!touch_range(stream, stream->device, "retrieve", address, bytes, false, &from))
        return;
    to = reply_append(stream, WIRE_DONE, op, bytes, NULL, (uint32_t)bytes);
    if (to)
        memcpy(to, from, bytes);
}

static enum command_step run_read(struct stream *stream, const struct wire_record *record)
{
    if (record->word[1] > COMMAND_DATA_MOST) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a read is larger than a message");
        return COMMAND_DONE;
    }
    if (!worker_device_is_touchable(stream->device))
        return read_copied(stream, record);
    read_touched(stream, record->op, record->word[0], record->word[1]);
    return COMMAND_DONE;
}

bool command_fill_is_sound(const struct wire_record *record)
{
    uint64_t bytes = record->word[2];

    return bytes > 0 && bytes <= 8 && !(bytes & (bytes - 1)) && record->word[0] % bytes == 0 &&
           record->word[3] <= UINT64_MAX / 8;
}

struct backend_fill command_fill_of(const struct wire_record *record)
{
    return (struct backend_fill){
        .to = record->word[0],
        .pattern = record->word[1],
        .pattern_bytes = (uint32_t)record->word[2],
        .count = record->word[3],
    };
}

/* One piece at a call. */
static enum command_step run_fill(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    uint64_t bytes = record->word[2], left = record->word[3] - stream->copied;
    struct backend_fill fill = command_fill_of(record);
    enum command_step step;

    if (!command_fill_is_sound(record)) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a fill with something that is no pattern");
        return COMMAND_DONE;
    }
    fill.to += stream->copied * bytes;
    fill.count = left < COMMAND_PIECE / bytes ? left : COMMAND_PIECE / bytes;
    step = end_job(stream, stream->begun
                               ? command_awaits(stream)
                               : command_started(stream, device->backend->fill(
                                                             device, command_job(stream), &fill)));
    if (step != COMMAND_DONE)
        return step;
    stream->copied += fill.count;
    if (stream->failed == OMPRMA_OK && fill.count < left)
        return COMMAND_STALL;
    stream->copied = 0;
    return COMMAND_DONE;
}

/* Between the device and its staging memory. */
static enum command_step run_staged(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    const struct backend_copy copy = command_copy_of(stream, record);

    if (worker_device_staging(device, record->word[1], record->word[2]))
        return run_copy_job(stream, device, &copy);
    stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a copy names no staging memory of the device");
    return COMMAND_DONE;
}

/* ---- between devices of this worker ---- */

/* Where memory of a device is to be found by others: the end of a copy. NULL for what they cannot
 * touch; false, and the stream has failed, if it is bad. */
static bool touch_end(struct stream *stream, struct worker_device *device, uint64_t address,
                      uint64_t bytes, bool write, void **at)
{
    *at = NULL;
    if (!worker_device_is_touchable(device))
        return true;
    return touch_range(stream, device, "exchange", address, bytes, write, at);
}

/* One piece in one copy, by the device that cannot be touched. */
static enum command_step copy_touched(struct stream *stream, struct backend_copy copy, void *to,
                                      void *from)
{
    struct worker_device *device = from ? copy.to_device : copy.from_device;

    if (from) {
        copy.from_device = NULL;
        copy.from = (uint64_t)(uintptr_t)from;
    } else {
        copy.to_device = NULL;
        copy.to = (uint64_t)(uintptr_t)to;
    }
    return run_copy_job(stream, device, &copy);
}

/* One piece out of one device and into the other, neither of which can be touched. */
static enum command_step copy_twice(struct stream *stream, const struct backend_copy *piece)
{
    enum command_step step = COMMAND_DONE;

    if (!stream->stage && !stage_make(stream, piece->bytes))
        return COMMAND_DONE;
    while (stream->phase < 2 && stream->failed == OMPRMA_OK) {
        struct backend_copy copy = *piece;
        bool out = stream->phase == 0;

        if (out)
            copy.to_device = NULL;
        else
            copy.from_device = NULL;
        *(out ? &copy.to : &copy.from) = (uint64_t)(uintptr_t)stream->stage;
        step = run_copy_job(stream, out ? piece->from_device : piece->to_device, &copy);
        if (step != COMMAND_DONE)
            return step;
        stream->phase++;
    }
    stage_free(stream);
    return COMMAND_DONE;
}

static enum command_step copy_between_backends(struct stream *stream,
                                               const struct backend_copy *copy)
{
    void *to = NULL, *from = NULL;

    if (stream->begun && !stream->stage)
        return run_copy_job(stream, stream->job.device, copy);
    if (!touch_end(stream, copy->to_device, copy->to, copy->bytes, true, &to) ||
        !touch_end(stream, copy->from_device, copy->from, copy->bytes, false, &from))
        return COMMAND_DONE;
    return to || from ? copy_touched(stream, *copy, to, from) : copy_twice(stream, copy);
}

/* One piece at a call; ranges that overlap at once. */
static enum command_step copy_inside(struct stream *stream, struct backend_copy copy)
{
    uint64_t left = copy.bytes - stream->copied;
    enum command_step step;

    if (!backend_copy_overlaps(&copy)) {
        copy.to += stream->copied;
        copy.from += stream->copied;
        copy.bytes = left < COMMAND_PIECE ? left : COMMAND_PIECE;
    }
    step = copy.from_device->backend == copy.to_device->backend
               ? run_copy_job(stream, stream->device, &copy)
               : copy_between_backends(stream, &copy);
    if (step != COMMAND_DONE)
        return step;
    stream->copied += copy.bytes;
    if (stream->failed == OMPRMA_OK && copy.bytes < left)
        return COMMAND_STALL;
    stream->copied = 0;
    return COMMAND_DONE;
}

static enum command_step run_copy(struct stream *stream, const struct wire_record *record)
{
    struct server *server = stream->session->server;
    const struct worker_device *to_device;
    struct backend_copy copy;

    if (record->word[3] >= (uint64_t)server->device_count) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL,
                    "a copy to a device that the worker does not have");
        return COMMAND_DONE;
    }
    copy = command_copy_of(stream, record);
    to_device = copy.to_device;
    if (to_device->lost) {
        abandon(stream);
        stream_lose(stream, copy.to_device);
        return COMMAND_DONE;
    }
    if (to_device->writes && !stream->begun && !stream->copied && !stream->stage)
        return COMMAND_STALL;
    return copy_inside(stream, copy);
}

/* ---- order and kernels ---- */

static enum command_step run_wait(struct stream *stream, const struct wire_record *record)
{
    const struct stream *other =
        stream_find(stream->session, (uint32_t)(record->word[0] >> 32), (uint32_t)record->word[0]);
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

static enum command_step begin_launch(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    omprma_status_t status = wire_open_launch(record, &stream->launch.with);

    if (status != OMPRMA_OK) {
        command_job(stream)->status = status;
        return COMMAND_DONE;
    }
    stream->launch.kernel = record->word[0];
    stream->launching = true;
    return command_started(stream,
                           device->backend->launch(device, command_job(stream), &stream->launch));
}

/* What the kernel has printed precedes its result. */
static enum command_step run_launch(struct stream *stream, const struct wire_record *record)
{
    enum command_step step = stream->begun ? command_awaits(stream) : begin_launch(stream, record);

    if (step != COMMAND_DONE)
        return step;
    stream->launching = false;
    end_job(stream, step);
    if (output_pending())
        reply_output(stream->session);
    return COMMAND_DONE;
}

/* Writes what stands before the launch. False: the stream has failed. */
static bool begin_region(struct stream *stream, const struct wire_region *region)
{
    void *to;

    if (!worker_device_is_touchable(stream->device) || region->back_bytes > COMMAND_DATA_MOST) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a region that does not go in one command");
        return false;
    }
    if (region->bytes == 0)
        return true;
    if (!touch_range(stream, stream->device, "submit", region->to, region->bytes, true, &to))
        return false;
    memcpy(to, region->data, region->bytes);
    return true;
}

/* What comes back is read when the result is due. */
static enum command_step run_region(struct stream *stream, const struct wire_record *record)
{
    struct wire_region region;
    omprma_status_t status = wire_open_region(record, &region);

    if (status != OMPRMA_OK)
        stream_fail_error(stream, stream->op, status);
    if (status != OMPRMA_OK || (!stream->begun && !begin_region(stream, &region)))
        return COMMAND_DONE;
    return run_launch(stream, &region.launch);
}

/* ---- which is which ---- */

/* Commands of a queue that has failed: nothing is run, everybody who waits is answered. */
static enum command_step run_failed(struct stream *stream, const struct wire_record *record)
{
    const char *text = stream->failed_text ? stream->failed_text : "";

    abandon(stream);
    if (record->code == WIRE_RESET && !stream->device->lost) {
        stream_reset(stream, record->op);
        command_finish(stream, record, 0, NULL, 0);
    } else {
        command_refuse(stream, record, stream->failed, text);
    }
    return COMMAND_DONE;
}

static void take_turn(struct server *server, const struct wire_record *record)
{
    if (record->word[1] > TURNS_MOST || record->word[0] >= record->word[1]) {
        server_break(server, OMPRMA_ERR_PROTOCOL, "a turn that cannot be");
        return;
    }
    for (int i = 0; i < server->device_count; i++)
        if (server->devices[i].backend->turn)
            server->devices[i].backend->turn(&server->devices[i], (int)record->word[0],
                                             (int)record->word[1]);
}

static void take_number(struct server *server, const struct wire_record *record)
{
    if (record->word[0] > DEVICES_MOST) {
        server_break(server, OMPRMA_ERR_PROTOCOL, "a device's number that cannot be");
        return;
    }
    for (int i = 0; i < server->device_count; i++)
        server->devices[i].number = (int)record->word[0] + i;
}

/* Commands about the worker as a whole. */
static enum command_step run_own(struct stream *stream, const struct wire_record *record)
{
    struct session *session = stream->session;
    struct server *server = session->server;

    if (record->code == WIRE_LOST)
        command_lose_peer(session, record);
    else if (record->code == WIRE_AWAKE && record->flags & WIRE_SPIN)
        server->limits.spin_until_ns = clock_ns() + (int64_t)record->word[0] * 1000;
    else if (record->code == WIRE_AWAKE)
        server->awake_until_ns = clock_ns() + (int64_t)record->word[0] * 1000;
    else if (record->code == WIRE_TURN)
        take_turn(server, record);
    else if (record->code == WIRE_NUMBER)
        take_number(server, record);
    else if (record->code == WIRE_EXIT)
        session->over = server->exiting = true;
    else
        server_break(server, OMPRMA_ERR_PROTOCOL, "a command that needs a device names none");
    return COMMAND_DONE;
}

static enum command_step run_well(struct stream *stream, const struct wire_record *record)
{
    switch (record->code) {
    case WIRE_WRITE:
        return run_write(stream, record);
    case WIRE_READ:
        return run_read(stream, record);
    case WIRE_LAUNCH:
        return run_launch(stream, record);
    case WIRE_REGION:
        return run_region(stream, record);
    case WIRE_COPY:
        return run_copy(stream, record);
    case WIRE_STORE:
    case WIRE_FETCH:
        return run_staged(stream, record);
    case WIRE_FILL:
        return run_fill(stream, record);
    case WIRE_WAIT:
        return run_wait(stream, record);
    case WIRE_FENCE:
    case WIRE_RESET: /* of a queue that is well */
        return COMMAND_DONE;
    default:
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a command that no device runs");
        return COMMAND_DONE;
    }
}

/* What takes time, and is no transfer with other processes: those overlap. */
static bool has_span(uint16_t code)
{
    return wire_is_launch(code) || code == WIRE_COPY || code == WIRE_STORE || code == WIRE_FETCH ||
           code == WIRE_FILL;
}

void command_tell_span(const struct stream *stream, const struct wire_record *record,
                       const struct backend_job *job)
{
    bool launch = wire_is_launch(record->code);
    int64_t begin = launch && job->began_ns ? job->began_ns : stream->began_ns;
    int64_t end = launch && job->ended_ns ? job->ended_ns : clock_ns();

    if (has_span(record->code))
        reply_span(stream, record->op, begin, end);
}

/* It is done, or the stream has failed by it. A read has its answer already. */
static void answer(struct stream *stream, const struct wire_record *record)
{
    uint32_t back_bytes = record->code == WIRE_REGION ? wire_region_brings(record) : 0;

    if (back_bytes > 0 && stream->failed == OMPRMA_OK)
        read_touched(stream, record->op, record->word[2], back_bytes);
    if (stream->failed != OMPRMA_OK)
        command_refuse(stream, record, stream->failed, stream->failed_text);
    else if (record->code == WIRE_FENCE)
        command_finish(stream, record, (uint64_t)clock_ns(), NULL, 0);
    else if (record->code != WIRE_READ && back_bytes == 0)
        command_finish(stream, record, 0, NULL, 0);
}

enum command_step command_run(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    bool traces = stream->session->traces;
    enum command_step step;

    if (!device)
        return run_own(stream, record);
    if (device->lost && stream->failed == OMPRMA_OK)
        stream_lose(stream, device);
    if (steps_hold_up(stream, record))
        return COMMAND_STALL;
    if (record->code >= WIRE_RECV && record->code <= WIRE_GET)
        return command_transfer(stream, record);
    if (stream->transfers)
        return COMMAND_STALL;
    if (stream->failed != OMPRMA_OK)
        return run_failed(stream, record);
    if (steps_take(stream, record))
        return steps_begin(stream, record);
    if (device->writes && !stream->begun && !stream->copied && !stream->stage)
        return COMMAND_STALL;
    switch (record->code) {
    case WIRE_GROW:
        return command_grow(stream, record);
    case WIRE_RELEASE:
        return command_release(stream, record);
    case WIRE_LOAD:
        return command_load(stream, record);
    case WIRE_ASK:
        return command_ask(stream, record);
    case WIRE_BENCH:
        bench_run(stream, record);
        return COMMAND_DONE;
    default:
        break;
    }
    if (traces && !stream->begun && !stream->copied && !stream->stage)
        stream->began_ns = clock_ns();
    step = run_well(stream, record);
    if (step != COMMAND_DONE)
        return step;
    if (traces)
        command_tell_span(stream, record, &stream->job);
    answer(stream, record);
    return COMMAND_DONE;
}
