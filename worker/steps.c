/*
 * steps.c: commands of a queue that a device has been given one behind the other, where it keeps
 * their order by itself (backend.h: keeps_order): none waits until this side has seen the end of
 * the one before. They end here, in their order: the first failure fails the stream, and what is
 * behind it is refused. See session.h.
 */
#include "worker/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/output.h"
#include "worker/worker.h"

enum { STEPS_MOST = 64 /* of a stream */ };

/* ---- what goes ahead ---- */

static bool keeps_order(const struct worker_device *device)
{
    return device && device->backend->keeps_order;
}

/* Small submits of other queues are under way. */
static bool others_write(const struct stream *stream, const struct worker_device *device)
{
    return device->writes != (device == stream->device ? stream->writes : 0);
}

static bool is_one_fill(const struct wire_record *record)
{
    uint64_t bytes = record->word[2];

    return command_fill_is_sound(record) && record->word[3] <= COMMAND_PIECE / bytes;
}

static bool is_one_copy(const struct stream *stream, const struct wire_record *record)
{
    const struct server *server = stream->session->server;
    const struct worker_device *to_device;
    struct backend_copy copy;

    if (record->word[3] >= (uint64_t)server->device_count || record->word[2] > COMMAND_PIECE)
        return false;
    copy = command_copy_of(stream, record);
    to_device = copy.to_device;
    return to_device->backend == stream->device->backend && !to_device->lost &&
           !others_write(stream, to_device) && !backend_copy_overlaps(&copy);
}

/* What waits for another queue need not be given to the device when that has come so far. */
static bool wait_is_over(const struct stream *stream, const struct wire_record *record)
{
    const struct stream *other =
        stream_find(stream->session, (uint32_t)(record->word[0] >> 32), (uint32_t)record->word[0]);
    uint32_t op = (uint32_t)record->word[1];

    return other && stream_failure_of(other, op) == OMPRMA_OK &&
           (int32_t)(other->done_op - op) >= 0;
}

bool steps_take(const struct stream *stream, const struct wire_record *record)
{
    if (!keeps_order(stream->device) || stream->begun || stream->copied || stream->stage)
        return false;
    switch (record->code) {
    case WIRE_WRITE:
    case WIRE_LAUNCH:
        return true;
    case WIRE_REGION:
        return stream->device->backend->region != NULL;
    case WIRE_READ:
        return record->word[1] <= COMMAND_DATA_MOST;
    case WIRE_STORE:
    case WIRE_FETCH:
        return worker_device_staging(stream->device, record->word[1], record->word[2]) != NULL;
    case WIRE_FILL:
        return is_one_fill(record);
    case WIRE_COPY:
        return is_one_copy(stream, record);
    case WIRE_FENCE:
        return stream->steps != NULL;
    case WIRE_WAIT:
        return stream->steps && wait_is_over(stream, record);
    default:
        return false;
    }
}

/* The device would not begin it, or not all of it. */
static bool is_refused(const struct stream_step *step)
{
    return step->job.status != OMPRMA_OK;
}

bool steps_hold_up(const struct stream *stream, const struct wire_record *record)
{
    if (!stream->steps)
        return false;
    return stream->failed != OMPRMA_OK || is_refused(stream->last_step) ||
           stream->step_count == STEPS_MOST || !steps_take(stream, record);
}

/* ---- beginning ---- */

static struct stream_step *step_make(struct stream *stream, const struct wire_record *record)
{
    struct session *session = stream->session;
    struct stream_step *step = session->spare_steps;

    if (step)
        session->spare_steps = step->next;
    else
        step = malloc(sizeof(*step));
    if (!step)
        return NULL;
    memset(step, 0, offsetof(struct stream_step, launch));
    step->record = *record;
    step->job = (struct backend_job){.device = stream->device, .behind = stream->behind};
    return step;
}

static omprma_status_t make_stage(const struct stream *stream, struct stream_step *step,
                                  uint64_t bytes)
{
    step->stage = stage_take(stream->session, stream->device, bytes);
    return step->stage ? OMPRMA_OK
                       : error_set(OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory for a copy");
}

static enum backend_step begin_read(const struct stream *stream, struct stream_step *step)
{
    struct backend_job *job = &step->job;
    struct backend_copy copy = command_copy_of(stream, &step->record);

    job->status = make_stage(stream, step, copy.bytes);
    copy.to = (uint64_t)(uintptr_t)step->stage;
    return job->status == OMPRMA_OK ? job->device->backend->copy(job->device, job, &copy)
                                    : BACKEND_OVER;
}

static enum backend_step begin_launch(struct stream_step *step)
{
    struct backend_job *job = &step->job;

    job->status = wire_open_launch(&step->record, &step->launch.with);
    step->launch.kernel = step->record.word[0];
    return job->status == OMPRMA_OK ? job->device->backend->launch(job->device, job, &step->launch)
                                    : BACKEND_OVER;
}

static omprma_status_t open_region(const struct stream *stream, struct stream_step *step,
                                   struct wire_region *region)
{
    omprma_status_t status = wire_open_region(&step->record, region);

    if (status == OMPRMA_OK && region->back_bytes > COMMAND_DATA_MOST)
        status = error_set(OMPRMA_ERR_PROTOCOL, "a region brings more than a message holds");
    if (status == OMPRMA_OK)
        status = wire_open_launch(&region->launch, &step->launch.with);
    if (status == OMPRMA_OK && region->back_bytes > 0)
        status = make_stage(stream, step, region->back_bytes);
    step->launch.kernel = step->record.word[0];
    return status;
}

static enum backend_step begin_region(const struct stream *stream, struct stream_step *step)
{
    struct backend_job *job = &step->job;
    struct backend_copy write = {.what = "submit", .to_device = job->device};
    struct backend_copy read = {.what = "retrieve", .from_device = job->device};
    struct wire_region region;

    job->status = open_region(stream, step, &region);
    if (job->status != OMPRMA_OK)
        return BACKEND_OVER;
    write.to = region.to;
    write.from = (uint64_t)(uintptr_t)region.data;
    write.bytes = region.bytes;
    read.to = (uint64_t)(uintptr_t)step->stage;
    read.from = region.from;
    read.bytes = region.back_bytes;
    return job->device->backend->region(job->device, job, write.bytes ? &write : NULL,
                                        &step->launch, read.bytes ? &read : NULL);
}

static enum backend_step begin(const struct stream *stream, struct stream_step *step)
{
    struct worker_device *device = stream->device;
    const struct wire_record *record = &step->record;
    struct backend_copy copy;
    struct backend_fill fill;

    switch (record->code) {
    case WIRE_READ:
        return begin_read(stream, step);
    case WIRE_LAUNCH:
        return begin_launch(step);
    case WIRE_REGION:
        return begin_region(stream, step);
    case WIRE_FILL:
        fill = command_fill_of(record);
        return device->backend->fill(device, &step->job, &fill);
    case WIRE_WRITE:
    case WIRE_STORE:
    case WIRE_FETCH:
    case WIRE_COPY:
        copy = command_copy_of(stream, record);
        return device->backend->copy(device, &step->job, &copy);
    default: /* there is nothing for the device to do */
        return BACKEND_OVER;
    }
}

/* Nobody is told of the end of small submits. So who knows that what was before them has ended
 * takes them for done, and other queues of the device have to wait for them from then on. */
static void count_writes(struct stream *stream)
{
    for (struct stream_step *step = stream->steps; step && step->record.code == WIRE_WRITE;
         step = step->next) {
        stream->device->writes += !step->counted;
        stream->writes += !step->counted;
        step->counted = true;
    }
}

static void note_failure(struct stream_step *step)
{
    step->code = error_code();
    step->text = strdup(error_text());
}

/* A launch and, at once behind it, the small read of what it made. Who waits for the launch alone,
 * another queue for example, is late by the time of the read. */
static bool is_read_of_region(const struct stream *stream, const struct wire_record *record)
{
    const struct stream_step *before = stream->last_step;

    return record->code == WIRE_READ && stream->behind == &before->job &&
           before->record.code == WIRE_LAUNCH && !stream->session->traces;
}

enum command_step steps_begin(struct stream *stream, const struct wire_record *record)
{
    struct stream_step *step;

    if (others_write(stream, stream->device))
        return COMMAND_STALL;
    step = step_make(stream, record);
    if (!step) {
        if (stream->steps)
            return COMMAND_STALL; /* when some have ended there is memory for it */
        stream_fail(stream, OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory for a command");
        command_refuse(stream, record, stream->failed, stream->failed_text);
        return COMMAND_DONE;
    }
    if (stream->session->traces && !stream->steps)
        stream->began_ns = clock_ns();
    if (stream->behind)
        stream->behind->ends_with_next = is_read_of_region(stream, record);
    step->job.over = begin(stream, step) == BACKEND_OVER;
    if (!step->job.over)
        stream->behind = &step->job;
    if (is_refused(step))
        note_failure(step);
    if (stream->steps)
        stream->last_step->next = step;
    else
        stream->steps = step;
    stream->last_step = step;
    stream->step_count++;
    count_writes(stream);
    return COMMAND_DONE;
}

void steps_keep(struct stream *stream, struct channel_message *message)
{
    message->next = stream->last_step->spent;
    stream->last_step->spent = message;
}

/* ---- the end ---- */

/* Bytes that its answer brings. */
static uint32_t brings(const struct wire_record *record)
{
    if (record->code == WIRE_REGION)
        return wire_region_brings(record);
    return record->code == WIRE_READ ? (uint32_t)record->word[1] : 0;
}

static void free_stage(struct session *session, struct stream_step *step)
{
    if (step->stage)
        stage_give(session, step->stage, brings(&step->record));
    step->stage = NULL;
}

/* Takes the first step out of the list, and what it has kept with it. `used`: the device may still
 * use its memory. */
static void step_drop(struct stream *stream, bool used)
{
    struct session *session = stream->session;
    struct stream_step *step = stream->steps, **list;

    stream->steps = step->next;
    stream->step_count--;
    if (stream->behind == &step->job)
        stream->behind = NULL;
    while (step->spent) {
        struct channel_message *message = step->spent;

        step->spent = message->next;
        channel_drop(session->server->channel, message);
    }
    if (!used)
        free_stage(session, step);
    free(step->text);
    list = used ? &session->lost_steps : &session->spare_steps;
    step->next = *list;
    *list = step;
}

static void fail_at(struct stream *stream, const struct stream_step *step)
{
    if (step->text) {
        error_set(step->job.status, "%s", step->text);
        error_note_code(step->job.status, step->code);
    }
    stream_fail_error(stream, step->record.op, step->job.status);
}

/* What a kernel has printed precedes its result. */
static void answer(const struct stream *stream, const struct stream_step *step)
{
    const struct wire_record *record = &step->record;
    uint32_t bytes = brings(record);

    if (wire_is_launch(record->code) && output_pending())
        reply_output(stream->session);
    if (stream->session->traces)
        command_tell_span(stream, record, &step->job);
    if (stream->failed != OMPRMA_OK)
        command_refuse(stream, record, stream->failed, stream->failed_text);
    else if (bytes > 0)
        reply_append(stream, WIRE_DONE, record->op, bytes, step->stage, bytes);
    else
        command_finish(stream, record, record->code == WIRE_FENCE ? (uint64_t)clock_ns() : 0, NULL,
                       0);
}

static void end_first(struct stream *stream)
{
    struct stream_step *step = stream->steps;

    stream->op = step->record.op;
    if (step->job.status != OMPRMA_OK && stream->failed == OMPRMA_OK)
        fail_at(stream, step);
    stream->device->writes -= step->counted;
    stream->writes -= step->counted;
    answer(stream, step);
    stream->done_op = step->record.op;
    stream->began_ns = stream->session->traces ? clock_ns() : 0; /* of the next */
    step_drop(stream, false);
    count_writes(stream);
}

bool steps_settle(struct stream *stream)
{
    bool moved = false;

    while (stream->steps && worker_device_ended(&stream->steps->job)) {
        end_first(stream);
        moved = true;
    }
    return moved;
}

void steps_lose(struct stream *stream)
{
    while (stream->steps) {
        const struct stream_step *step = stream->steps;

        command_refuse(stream, &step->record, stream->failed, stream->failed_text);
        stream->done_op = step->record.op;
        step_drop(stream, true);
    }
    stream->writes = 0; /* and of the lost device there are none any more */
}

bool steps_launch(const struct stream *stream)
{
    const struct stream_step *step = stream->steps;

    while (step && !wire_is_launch(step->record.code))
        step = step->next;
    return step != NULL;
}

void steps_free(struct stream *stream)
{
    while (stream->steps)
        step_drop(stream, false);
}

static void free_list(struct session *session, struct stream_step **list)
{
    while (*list) {
        struct stream_step *step = *list;

        *list = step->next;
        free_stage(session, step);
        free(step);
    }
}

void steps_free_spare(struct session *session)
{
    free_list(session, &session->spare_steps);
    free_list(session, &session->lost_steps);
}
