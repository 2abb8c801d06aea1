/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * pipeline.c: how commands of a queue begin and end. Each is an entry of its stream's list from
 * before it begins until it has been answered. Where the device keeps the order of a queue by
 * itself (backend.h: keeps_order) several are under way, and none waits until this side has seen
 * the end of the one before; everywhere else the list holds one. Commands end in their order: the
 * first failure fails the stream, and what is behind it is refused.
 *
 * An entry is in the list before its job begins, because a native launch runs its kernel in there,
 * without the lock: other threads then see that the stream is busy. If the device is lost
 * meanwhile, its entries are answered and taken away (pipeline_lose()), but their memory stays,
 * for the job still has it.
 */
#include "worker/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/output.h"
#include "worker/worker.h"

enum { COMMANDS_MOST = 64 /* under way in a stream */ };

/* ---- entries ---- */

static struct command *pipeline_take(struct stream *stream, const struct wire_record *record,
                                     const struct command_kind *kind)
{
    struct session *session = stream->session;
    struct command *command = session->spare_commands;

    if (command)
        session->spare_commands = command->next;
    else
        command = malloc(sizeof(*command));
    if (!command)
        return NULL;
    memset(&command->spent, 0, sizeof(*command) - offsetof(struct command, spent));
    command->next = NULL;
    command->stream = stream;
    command->kind = kind;
    command->record = *record;
    return command;
}

static void pipeline_append(struct stream *stream, struct command *command)
{
    if (stream->commands)
        stream->last_command->next = command;
    else
        stream->commands = command;
    stream->last_command = command;
    stream->command_count++;
}

/* Memory of the command, and messages that its job may read. */
static void give_memory(struct session *session, struct command *command)
{
    if (command->memory)
        bounce_give(session, command->memory);
    command->memory = NULL;
    while (command->spent) {
        struct channel_message *message = command->spent;

        command->spent = message->next;
        channel_drop(session->server->channel, message);
    }
}

/* Takes the first entry out of the list. A lost device may still use its memory. */
static void drop_first(struct stream *stream, bool lost)
{
    struct session *session = stream->session;
    struct command *command = stream->commands, **list;

    stream->commands = command->next;
    stream->command_count--;
    if (stream->behind == &command->job)
        stream->behind = NULL;
    if (!lost)
        give_memory(session, command);
    if (command->text)
        free(command->text);
    command->lost = lost;
    list = lost ? &session->lost_commands : &session->spare_commands;
    command->next = *list;
    *list = command;
}

void pipeline_keep(struct stream *stream, struct channel_message *message)
{
    message->next = stream->last_command->spent;
    stream->last_command->spent = message;
}

/* Small submits are not acknowledged. Once everything before one has ended, the program treats it
 * as done, so other queues of the device must wait for it from then on. */
static void count_writes(struct stream *stream)
{
    if (!stream->device) /* commands to the worker; a damaged message may have a write among them */
        return;
    for (struct command *command = stream->commands; command && command->record.code == WIRE_WRITE;
         command = command->next) {
        stream->device->writes += !command->counted;
        stream->writes += !command->counted;
        command->counted = true;
    }
}

/* ---- beginning ---- */

static bool may_queue(const struct stream *stream, const struct wire_record *record,
                      const struct command_kind *kind)
{
    return stream->device && stream->device->backend->keeps_order && kind->flags & COMMAND_QUEUES &&
           !(kind->alone && kind->alone(stream, record));
}

/* Nothing is given to the device behind what it would not begin. */
static bool fits_behind(const struct stream *stream, const struct wire_record *record,
                        const struct command_kind *kind)
{
    const struct command *last = stream->last_command;

    return !last->alone && last->job.status == OMPRMA_OK && stream->failed == OMPRMA_OK &&
           stream->command_count < COMMANDS_MOST && may_queue(stream, record, kind);
}

static bool may_begin(const struct stream *stream, const struct wire_record *record,
                      const struct command_kind *kind)
{
    if (stream->commands && !fits_behind(stream, record, kind))
        return false;
    if (stream->transfers && !(kind->flags & COMMAND_TRANSFERS))
        return false;
    if (stream->failed != OMPRMA_OK && !(kind->flags & COMMAND_ALWAYS))
        return true; /* it is refused */
    if (stream->device && command_others_write(stream, stream->device))
        return false;
    return !kind->ready || kind->ready(stream, record);
}

/* A launch and, at once behind it, the small read of what it made. Who waits for the launch alone,
 * another queue for example, is late by the time of the read. */
static bool is_read_of_region(const struct stream *stream, const struct command *command)
{
    const struct command *before = stream->last_command;

    return command->record.code == WIRE_READ && stream->behind == &before->job &&
           before->record.code == WIRE_LAUNCH && !stream->session->traces;
}

/* A job has ended that nobody polls: the calling thread goes on with its stream. */
static void go_on(struct backend_job *job)
{
    struct command *command = (struct command *)((char *)job - offsetof(struct command, job));

    pipeline_end(command->stream, true);
    stream_run(command->stream);
}

/* The clock is not read for it: that takes longer than some kernels. */
static bool times_itself(const struct stream *stream, const struct command_kind *kind)
{
    return kind->flags & COMMAND_LAUNCHES && stream->device &&
           stream->device->backend->times_launches;
}

/* Not cleared at once: gcc would take longer for that than for all the rest of a command. */
static void reset_job(struct stream *stream, struct backend_job *job)
{
    job->device = stream->device;
    job->status = OMPRMA_OK;
    job->value = 0;
    job->behind = stream->behind;
    job->ends_with_next = job->over = false;
    job->ended = go_on;
    job->began_ns = job->ended_ns = 0;
}

static void pipeline_begin_job(struct stream *stream, struct command *command)
{
    struct backend_job *job = &command->job;
    bool over;

    reset_job(stream, job);
    command->more = false;
    over = command->kind->begin(stream, command) == BACKEND_OVER;
    if (command->lost) /* meanwhile: it is no longer in the list */
        return;
    job->over = over;
    if (!over)
        stream->behind = job;
    if (job->status != OMPRMA_OK) {
        command->code = error_code();
        command->text = strdup(error_text());
    }
}

/* An operation has ended, but transfers before it may go on. */
static void pass(struct stream *stream, uint32_t op)
{
    if (!stream->transfers)
        stream->done_op = op;
}

/* Answers, if somebody waits, that a command was not run. */
static void pipeline_refuse(const struct stream *stream, const struct wire_record *record)
{
    if (record->flags & WIRE_REPLY)
        reply_failure(stream, record->op, stream->failed,
                      stream->failed_text ? stream->failed_text : "");
}

/* True if it was refused. Others wait for a command under way to end and leave its memory. */
static bool lacks_memory(struct stream *stream, const struct wire_record *record,
                         const struct command_kind *kind)
{
    static const char text[] = "the worker has no memory for a command";

    if (stream->commands)
        return false;
    stream_fail(stream, OMPRMA_ERR_DEVICE_MEMORY, text);
    if (kind->flags & COMMAND_TRANSFERS) /* its other end may wait for ever */
        server_break(stream->session->server, OMPRMA_ERR_DEVICE_MEMORY, text);
    pipeline_refuse(stream, record);
    pass(stream, record->op);
    return true;
}

static bool pipeline_begin_command(struct stream *stream, const struct wire_record *record,
                                   const struct command_kind *kind, const struct wire_reader *ahead)
{
    struct command *command = pipeline_take(stream, record, kind);

    if (!command && !lacks_memory(stream, record, kind))
        return false;
    stream->reader = *ahead;
    if (!command)
        return true;
    command->alone = !may_queue(stream, record, kind);
    if (stream->session->traces && !stream->commands && !times_itself(stream, kind))
        stream->began_ns = clock_ns();
    if (stream->behind)
        stream->behind->ends_with_next = is_read_of_region(stream, command);
    pipeline_append(stream, command);
    pipeline_begin_job(stream, command);
    count_writes(stream);
    return true;
}

bool pipeline_begin(struct stream *stream, const struct wire_record *record,
                    const struct wire_reader *ahead)
{
    const struct command_kind *kind = command_kind_of(stream, record->code);

    stream->op = record->op;
    if (stream->device && stream->device->lost)
        stream_lose(stream);
    if (!may_begin(stream, record, kind))
        return false;
    if (stream->failed == OMPRMA_OK || kind->flags & COMMAND_ALWAYS)
        return pipeline_begin_command(stream, record, kind, ahead);
    stream->reader = *ahead;
    pipeline_refuse(stream, record);
    pass(stream, record->op);
    return true;
}

/* ---- the end ---- */

/* A transfer that somebody waits for ends with all others that are under way. */
static bool is_over(const struct stream *stream, struct command *command, bool look)
{
    if (command->kind->flags & COMMAND_TRANSFERS)
        return !stream->transfers || !(command->record.flags & WIRE_REPLY);
    return look ? worker_device_ended(&command->job) : command->job.over;
}

/* The job has failed: so has the stream, if that is the rule for such commands. */
static void pipeline_fail(struct stream *stream, const struct command *command)
{
    omprma_status_t status = command->job.status;

    if (command->text) {
        error_set(status, "%s", command->text);
        error_note_code(status, command->code);
    }
    if (!(command->kind->flags & COMMAND_FAILS_BY_ITSELF))
        stream_fail_error(stream, command->record.op, status);
}

/* When the command ran, by its job where the device knows. */
static void tell_span(const struct stream *stream, const struct command *command)
{
    const struct backend_job *job = &command->job;
    bool launches = command->kind->flags & COMMAND_LAUNCHES;

    reply_span(stream, command->record.op,
               launches && job->began_ns ? job->began_ns : stream->began_ns,
               launches && job->ended_ns ? job->ended_ns : clock_ns());
}

static void pipeline_answer(const struct stream *stream, const struct command *command)
{
    const struct wire_record *record = &command->record;
    const struct backend_job *job = &command->job;
    unsigned flags = command->kind->flags;

    if (flags & COMMAND_PRINTS && output_pending())
        reply_output(stream->session);
    if (flags & COMMAND_SPANS && stream->session->traces)
        tell_span(stream, command);
    if (stream->failed != OMPRMA_OK)
        pipeline_refuse(stream, record);
    else if (record->flags & WIRE_REPLY && job->status != OMPRMA_OK)
        reply_failure(stream, record->op, job->status, error_text());
    else if (record->flags & WIRE_REPLY || (flags & COMMAND_BRINGS && command->data_bytes))
        reply_append(stream, WIRE_DONE, record->op, job->value, command->data, command->data_bytes);
}

static void end_first(struct stream *stream)
{
    struct command *command = stream->commands;
    const struct command_kind *kind = command->kind;

    if (command->job.status == OMPRMA_OK && kind->end)
        kind->end(stream, command);
    if (command->job.status != OMPRMA_OK)
        pipeline_fail(stream, command);
    if (command->counted) {
        stream->device->writes--;
        stream->writes--;
    }
    pipeline_answer(stream, command);
    pass(stream, command->record.op);
    drop_first(stream, false);
    if (stream->session->traces && stream->commands &&
        !times_itself(stream, stream->commands->kind))
        stream->began_ns = clock_ns();
    count_writes(stream);
}

void pipeline_end(struct stream *stream, bool look)
{
    while (stream->commands && is_over(stream, stream->commands, look)) {
        struct command *command = stream->commands;

        if (!command->more || command->job.status != OMPRMA_OK) {
            end_first(stream);
            continue;
        }
        if (look) {
            stream->behind = NULL;
            pipeline_begin_job(stream, command);
        }
        return;
    }
}

void pipeline_lose(struct stream *stream)
{
    while (stream->commands) {
        const struct wire_record *record = &stream->commands->record;

        pipeline_refuse(stream, record);
        pass(stream, record->op);
        drop_first(stream, true);
    }
    stream->writes = 0; /* and of the lost device there are none any more */
}

bool pipeline_launches(const struct stream *stream)
{
    const struct command *command = stream->commands;

    while (command && !(command->kind->flags & COMMAND_LAUNCHES))
        command = command->next;
    return command != NULL;
}

void pipeline_free(struct stream *stream)
{
    while (stream->commands)
        drop_first(stream, false);
}

static void free_list(struct session *session, struct command **list)
{
    while (*list) {
        struct command *command = *list;

        *list = command->next;
        give_memory(session, command);
        free(command);
    }
}

void pipeline_free_spare(struct session *session)
{
    free_list(session, &session->spare_commands);
    free_list(session, &session->lost_commands);
}
