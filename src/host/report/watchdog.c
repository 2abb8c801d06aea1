/*
 * watchdog.c: each look compares the count of what was issued and has ended with that of the last
 * look. While it stays the same, the time spent waiting is added up, and closer looks follow at
 * parts of the limit: does data get on, then, by a round of questions, does any worker run or move
 * something? After two rounds that were answered with no, the queues are described, each with what
 * its first operation waits for, and fail. A line is put together in a buffer of fixed size.
 */
#include "host/report/watchdog.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "host/device/kernel_names.h"
#include "host/queue/order.h"
#include "host/queue/queue.h"

enum {
    STEPS = 8,                /* closer looks per OMPRMA_TIMEOUT; */
    STEPS_ASKING = 4,         /* from this one on workers are asked */
    ROUNDS = 2,               /* of answers at least: what one worker sends may wake another */
    PAUSE_NS_MOST = 10000000, /* of the time between two looks so much counts */
    NS_PER_BYTE_MOST = 1000,  /* data is seen by the piece: what is under way has so long more */
    LINES_OF_QUEUE = 4,       /* operations that are described, of one queue, */
    LINES_MOST = 40           /* and altogether */
};

/* ---- what moves ---- */

static void start_over(struct runtime *runtime)
{
    struct watchdog *dog = &runtime->watchdog;

    dog->seen = runtime->moves;
    dog->quiet_ns = 0;
    dog->steps = dog->rounds = 0;
    dog->asked = false;
}

/* Data that this side moves: how far it is, and how much is on its way. */
static uint64_t add_data(const struct runtime *runtime, uint64_t *under_way)
{
    uint64_t moved = 0;

    *under_way = 0;
    for (int i = 0; i < runtime->device_count; i++) {
        const struct device *device = runtime->devices[i];

        for (uint32_t k = 0; k < device->queue_count; k++)
            for (const struct operation *o = device->queues[k]->active; o; o = o->next_active) {
                moved += o->move.transfer.issued + o->move.transfer.completed;
                *under_way += o->move.transfer.issued - o->move.transfer.completed;
            }
    }
    return moved;
}

/* Without memory to ask one of them, the next step asks again. */
static void ask_workers(struct runtime *runtime)
{
    runtime->watchdog.asked = true;
    for (int rank = 0; rank < runtime->world.size; rank++) {
        struct peer *peer = runtime->peers[rank];

        if (!peer || peer->lost)
            continue;
        if (peer_send_record(peer, NULL, true) != OMPRMA_OK)
            runtime->watchdog.asked = false;
        peer->question = peer->sent;
    }
}

enum answers { ANSWERS_MISSING, ANSWERS_QUIET, ANSWERS_BUSY };

static enum answers answers_of(const struct runtime *runtime)
{
    enum answers answers = ANSWERS_QUIET;

    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];

        if (!peer || peer->lost)
            continue;
        if ((int32_t)(peer->answer - peer->question) < 0)
            answers = ANSWERS_MISSING;
        else if (peer->busy)
            return ANSWERS_BUSY;
    }
    return answers;
}

/* True if workers do something, as far as they have said. */
static bool workers_move(struct runtime *runtime)
{
    struct watchdog *dog = &runtime->watchdog;
    enum answers answers = dog->asked ? answers_of(runtime) : ANSWERS_MISSING;

    dog->rounds += answers == ANSWERS_QUIET;
    return answers == ANSWERS_BUSY;
}

/* ---- what is stuck ---- */

/* Somebody needs something of the queue that does not come. What nobody has flushed or asked about
 * is left alone. */
static bool is_stuck(const struct omprma_queue *queue)
{
    const struct operation *next = queue->next;

    return !queue->device->lost && queue->unsettled > 0 &&
           (queue->waiters || queue->give_when_idle || queue->active ||
            queue->asked > queue->answered ||
            (next && (!next->message || next->message != queue->open)));
}

/* The next queue that is stuck, after `after`; from the first one on for NULL. */
static struct omprma_queue *next_stuck(const struct runtime *runtime,
                                       const struct omprma_queue *after)
{
    bool seen = !after;

    for (int i = 0; i < runtime->device_count; i++) {
        const struct device *device = runtime->devices[i];

        for (uint32_t k = 0; k < device->queue_count; k++) {
            struct omprma_queue *queue = device->queues[k];

            if (seen && is_stuck(queue))
                return queue;
            seen |= queue == after;
        }
    }
    return NULL;
}

/* ---- what waits for what ---- */

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
    const char *kernel;

    if (!wire_is_launch(o->command.code)) {
        add(line, "command \"%s\"", wire_code_name(o->command.code));
        return;
    }
    kernel = kernel_names_find(o->queue->device, o->command.entry);
    if (kernel[0] != '?')
        add(line, "launch of kernel %s", kernel);
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

/* What stands at the head of a queue, and what is to be issued next. Returns the number of lines.
 */
static int describe_queue(const struct omprma_queue *queue)
{
    int lines = 0;

    for (const struct operation *o = queue->first; o; o = o->next) {
        if (o->kind == OPERATION_MARK && !o->mark.completion)
            continue;
        if (lines < LINES_OF_QUEUE - 1 || o == queue->next || !o->next) {
            describe(o);
            lines++;
        }
    }
    return lines;
}

/* The queues that somebody wants something of. */
static void describe_all(const struct runtime *runtime)
{
    int lines = 0, left = 0;

    for (struct omprma_queue *queue = next_stuck(runtime, NULL); queue;
         queue = next_stuck(runtime, queue)) {
        if (lines < LINES_MOST)
            lines += describe_queue(queue);
        else
            left++;
    }
    if (left)
        log_write(LOG_ERROR, "  and %d further queues", left);
}

/* What is under way is left: MPI may still move it, so its memory is not used again. */
static void give_up(struct runtime *runtime)
{
    struct omprma_queue *queue;
    struct line line;

    runtime->unresponsive = true;
    while ((queue = next_stuck(runtime, NULL)) != NULL) {
        line.used = 0;
        add(&line,
            "%s, queue %u: nothing has moved for %lld s although no kernel runs: this is a defect "
            "of omprma or of MPI; please report it, with the lines above",
            device_name(queue->device), queue->number, (long long)runtime->config.timeout_s);
        atomic_store(&queue->device->keeps_memory, true);
        queue_lose(queue, OMPRMA_ERR_STUCK, line.text);
    }
}

/* ---- looking ---- */

/* A kernel may take any time, but nobody can see that a program which has printed all of its
 * results waits for one. */
static void say_end(struct runtime *runtime)
{
    if (!runtime->ending || runtime->watchdog.said_end)
        return;
    runtime->watchdog.said_end = true;
    log_write(LOG_ERROR, "the program has come to its end, and waits for kernels that still run; "
                         "Ctrl-C ends them:");
    describe_all(runtime);
}

/* Nothing was issued and nothing has ended since the last step. */
static void step(struct runtime *runtime, int64_t limit_ns)
{
    struct watchdog *dog = &runtime->watchdog;
    uint64_t under_way, moved = add_data(runtime, &under_way);

    if (dog->steps++ == 0)
        dog->moved = moved;
    if (moved != dog->moved || runtime->held_by_program) {
        start_over(runtime);
        return;
    }
    if (workers_move(runtime)) {
        say_end(runtime);
        start_over(runtime);
        return;
    }
    if (dog->steps > STEPS && dog->rounds >= ROUNDS &&
        dog->quiet_ns >= limit_ns + (int64_t)under_way * NS_PER_BYTE_MOST) {
        if (next_stuck(runtime, NULL)) {
            log_write(LOG_ERROR,
                      "nothing has moved for %lld s although no kernel runs; what waits for what:",
                      (long long)runtime->config.timeout_s);
            describe_all(runtime);
            give_up(runtime);
        }
        start_over(runtime);
    } else if (dog->steps >= STEPS_ASKING) {
        ask_workers(runtime);
    }
}

void watchdog_look(struct runtime *runtime, int64_t now)
{
    struct watchdog *dog = &runtime->watchdog;
    int64_t limit = runtime->config.timeout_s * INT64_C(1000000000);
    int64_t pause = now - dog->looked_ns;

    if (limit == 0)
        return;
    dog->looked_ns = now;
    if (runtime->moves != dog->seen) {
        start_over(runtime);
        return;
    }
    dog->quiet_ns += pause < PAUSE_NS_MOST ? pause : PAUSE_NS_MOST;
    if (dog->quiet_ns >= (dog->steps + 1) * (limit / STEPS))
        step(runtime, limit);
}
