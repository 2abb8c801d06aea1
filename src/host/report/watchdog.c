/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watchdog.c: each look sees to the workers, and compares the count of what was issued and has
 * ended with that of the last look. While it stays the same, the time spent waiting is added up,
 * and closer looks follow at parts of the limit: does data get on, then, by a round of questions,
 * does any worker run or move something? After two rounds that were answered with no, the queues
 * are described, and fail. Of a pause between two looks a long one does not count for workers, and
 * but a little for what is added up.
 */
#include "host/report/watchdog.h"

#include <stdio.h>

#include "base/log.h"
#include "host/report/describe_queue.h"

enum {
    STEPS = 8,                /* closer looks per OMPRMA_TIMEOUT; */
    STEPS_ASKING = 4,         /* from this one on workers are asked */
    ROUNDS = 2,               /* of answers at least: what one worker sends may wake another */
    PAUSE_NS_MOST = 10000000, /* of the time between two looks so much counts; */
    ABSENT_NS = 1000000000,   /* nobody waits for so long, and does not look */
    NS_PER_BYTE_MOST = 1000,  /* data is seen by the piece: what is under way has so long more */
    LINES_MOST = 40           /* of operations that are described */
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

        if (!peer_listens(peer))
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

        if (!peer_listens(peer))
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
    char text[ERROR_TEXT_BYTES];

    runtime->unresponsive = true;
    while ((queue = next_stuck(runtime, NULL)) != NULL) {
        snprintf(
            text, sizeof(text),
            "%s, queue %u: nothing has moved for %lld s although no kernel runs: this is a defect "
            "of omprma or of MPI; please report it, with the lines above",
            device_name(queue->device), queue->number, (long long)runtime->config.timeout_s);
        atomic_store(&queue->device->memory->keeps, true);
        queue_keep_memory(queue, queue->device);
        queue_lose(queue, OMPRMA_ERR_STUCK, text);
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
    log_write(LOG_NOTE, "the program has come to its end, and waits for kernels that still run; "
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

/* 0: none. */
static int64_t limit_of(const struct runtime *runtime)
{
    return runtime->config.timeout_s * INT64_C(1000000000);
}

void watchdog_wait(struct runtime *runtime, int64_t waited_ns)
{
    struct watchdog *dog = &runtime->watchdog;
    int64_t limit_ns = limit_of(runtime);

    if (limit_ns == 0)
        return;
    if (runtime->moves != dog->seen) {
        start_over(runtime);
        return;
    }
    dog->quiet_ns += waited_ns;
    if (dog->quiet_ns >= (dog->steps + 1) * (limit_ns / STEPS))
        step(runtime, limit_ns);
}

/* Of a long pause: this process may have been stopped, by a terminal with its workers, or all of
 * this host. */
static void watch_peers(struct runtime *runtime, int64_t now, int64_t pause)
{
    int64_t absent = pause >= ABSENT_NS ? pause : 0;

    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            peer_watch(runtime->peers[rank], now, absent, limit_of(runtime));
}

void watchdog_look(struct runtime *runtime, int64_t now)
{
    struct watchdog *dog = &runtime->watchdog;
    int64_t pause = dog->looked_ns ? now - dog->looked_ns : 0;

    dog->looked_ns = now;
    watch_peers(runtime, now, pause);
    watchdog_wait(runtime, pause < PAUSE_NS_MOST ? pause : PAUSE_NS_MOST);
}
