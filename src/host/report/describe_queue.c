/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * describe_queue.c: the operations at the head of the queue and the next one to be issued have a
 * line each, put together in a buffer of fixed size: what it is, and what it waits for.
 */
#include "host/report/describe_queue.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/kernel_name.h"
#include "base/log.h"
#include "host/device/kernel_names.h"
#include "host/queue/order.h"

enum { LINES_MOST = 4 /* but for what is next, and last */ };

struct line {
    char text[1000];
    size_t used;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    size_t room = sizeof(line->text) - line->used;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line->text + line->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used += (size_t)length < room ? (size_t)length : room - 1;
}

static void add_command(struct line *line, const struct operation *o)
{
    char words[KERNEL_NAME_WORDS];
    const char *kernel;

    if (!wire_is_launch(o->command.code)) {
        add(line, "command \"%s\"", wire_code_name(o->command.code));
        return;
    }
    kernel = kernel_names_find(o->queue->device, o->command.entry);
    if (kernel[0] != '?')
        add(line, "launch of kernel %s", kernel_name_words(kernel, words));
    else
        add(line, "launch of 0x%" PRIx64, o->command.entry);
}

static void add_operation(struct line *line, const struct operation *o)
{
    add(line, "operation %" PRIu64 ", ", o->ordinal);
    if (o->kind == OPERATION_COMMAND)
        add_command(line, o);
    else
        add(line, "%s", operation_name(o));
    if (o->device_bytes)
        add(line, " of %" PRIu64 " bytes at 0x%" PRIx64, o->device_bytes, o->device_at);
    if (o->with)
        add(line, ", exchange with device %d", o->with->number);
}

/* Another operation that one waits for. */
static void add_other(struct line *line, const struct operation *o)
{
    static const char *const states[] = {"not issued", "issued", "ended"};

    add(line, "device %d, queue %u, ", o->queue->device->number, o->queue->number);
    add_operation(line, o);
    add(line, " (%s)", o->kind == OPERATION_MARK ? "not reached" : states[o->state]);
}

static void explain_message(struct line *line, const struct operation *o)
{
    const struct omprma_queue *queue = o->queue;
    const struct peer *peer = queue->device->peer;

    if (queue->held && queue->sender) {
        add(line, "the other half of its exchange: ");
        add_other(line, queue->sender);
    } else if (queue->held) {
        add(line, "the other half of its exchange");
    } else if (o->message == queue->open) {
        add(line, "its message to be closed");
    } else if (!peer_may_send(peer)) {
        add(line, "room in the worker's window: %u messages are not acknowledged",
            peer->sent - peer->acked);
    } else if (!peer_has_room(peer, o->message->bytes)) {
        add(line, "room in the memory that it shares with the worker");
    } else {
        add(line, "nothing that is known; %u messages of the queue are not executed",
            queue->unanswered);
    }
}

/* The first one of its queue that is not issued. */
static void explain_next(struct line *line, const struct operation *o)
{
    const struct operation *other = order_blocker(o);

    if (!other)
        other = o->kind == OPERATION_WAIT ? o->wait.target : o->awaited;
    if (other)
        add_other(line, other);
    else if (operation_is_command(o))
        explain_message(line, o);
    else
        add(line, "nothing that is known; %u transfers of the queue are under way",
            o->queue->transfers);
}

static void explain_data(struct line *line, const struct operation *o)
{
    add(line, "its data, %" PRIu64 " of %" PRIu64 " bytes have moved", o->move.transfer.completed,
        o->move.transfer.bytes);
    if (o->move.command && !operation_has_ended(o->move.command))
        add(line, ", and the worker's half");
}

static void explain_issued(struct line *line, const struct operation *o)
{
    const struct omprma_queue *queue = o->queue;

    switch (o->kind) {
    case OPERATION_TRANSFER:
        explain_data(line, o);
        break;
    case OPERATION_WAIT:
        add_other(line, o->wait.target);
        break;
    case OPERATION_TASK:
        add(line, "%s", o->task.task->waits_for);
        break;
    case OPERATION_MARK:
        if (o->prev || queue->writes_first)
            add_other(line, o->prev ? o->prev : queue->writes_first);
        else
            add(line, "nothing that is known");
        break;
    default:
        add(line, "a result of the worker, which was %sasked for",
            queue->asked >= o->number ? "" : "not ");
    }
}

static void describe(const struct operation *o)
{
    const struct omprma_queue *queue = o->queue;
    struct line line = {.used = 0};

    add(&line, "  %s, queue %u: ", device_name(queue->device), queue->number);
    add_operation(&line, o);
    add(&line,
        o->state == OPERATION_APPENDED ? ", not issued, waits for " : ", issued, waits for ");
    if (o->state != OPERATION_APPENDED)
        explain_issued(&line, o);
    else if (o == queue->next)
        explain_next(&line, o);
    else
        add(&line, "its turn behind operation %" PRIu64, queue->next->ordinal);
    log_write(LOG_ERROR, "%s", line.text);
}

int describe_queue(const struct omprma_queue *queue)
{
    int lines = 0;

    for (const struct operation *o = queue->first; o; o = o->next) {
        if (o->kind == OPERATION_MARK && !o->mark.completion)
            continue;
        if (lines < LINES_MOST - 1 || o == queue->next || !o->next) {
            describe(o);
            lines++;
        }
    }
    return lines;
}
