/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * server.c: the loop of a worker: receive one message, run its commands, look at the streams that
 * wait for something, send the results. A loop that finds nothing polls for a while, then yields,
 * then sleeps until its doorbell rings. The same loop runs on the main thread and, while a kernel
 * keeps that busy, on the service thread; only one of them sleeps at a time.
 */
#define _GNU_SOURCE
#include "worker/server.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "control/agent/join.h"
#include "worker/input.h"
#include "worker/output.h"

enum {
    YIELD_NS = 1000000,        /* polls, yielding, for so long before it sleeps */
    CROWDED_YIELD_NS = 100000, /* the same where processors are shared: others need them */
    NAP_NS = 100000000,        /* longest sleep; messages end it earlier */
    SERVE_NAP_NS = 2000000 /* the same while a kernel runs, for the peer may not be able to ring,
                            * and while transfers are under way, which are watched */
};

omprma_status_t server_open(struct server *server, int head)
{
    omprma_status_t status;

    pthread_mutex_init(&server->lock.mutex, NULL);
    server->limits.yield_ns = server->world && server->world->crowded ? CROWDED_YIELD_NS : YIELD_NS;
    server->limits.yield_shared_ns = server->limits.yield_ns;
    status = session_open(server, &server->session);
    if (status == OMPRMA_OK)
        server->session->head = head;
    for (int i = 0; i < server->device_count && status == OMPRMA_OK; i++)
        status = server->devices[i].backend->start(&server->devices[i]);
    if (status == OMPRMA_OK)
        status = service_start(server);
    return status;
}

/* One look at the channel and at everything that waits. The lock is held; it is released while a
 * kernel runs. */
omprma_status_t server_step(struct server *server, bool main, bool *progressed)
{
    struct session *session = server->session;
    struct worker_device *device = main ? server->main_device : NULL;
    struct channel_message *message;
    omprma_status_t status = channel_receive(server->channel, &message);

    atomic_store_explicit(&server->steps,
                          atomic_load_explicit(&server->steps, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    doorbell_tell_look(server->bell);
    *progressed = message != NULL;
    if (status == OMPRMA_OK && message)
        status = stream_accept(session, message);
    if (status != OMPRMA_OK) {
        server_break(server, status, error_text());
        return error_set(server->broken, "%s", server->broken_text); /* the first reason */
    }
    *progressed |= datapath_progress(server->one_sided);
    if (session->active_first)
        *progressed |= stream_progress(session);
    if (device && device->backend->serve)
        *progressed |= device->backend->serve(device);
    if (!server->exiting && reply_is_due(session)) /* else last words come first */
        reply_flush(session);
    return server->broken == OMPRMA_OK ? OMPRMA_OK
                                       : error_set(server->broken, "%s", server->broken_text);
}

static void nap(struct server *server)
{
    server_unlock(server);
    waiting_nap();
    server_lock(server);
}

/* True if nobody else wanted the processor. */
static bool let_go(struct server *server)
{
    struct yield_history yields = server->yields;
    bool was_free;

    server_unlock(server);
    was_free = yield_lets_in(&yields, &server->lock);
    server_lock(server);
    server->yields = yields;
    return was_free;
}

/* Where whoever sleeps hears that a transfer gets on, if all that streams have to test are
 * transfers of that kind; else -1. */
static int transfers_descriptor(const struct server *server)
{
    uint32_t transfers;

    return server->channel->hears && stream_count_two_sided(server->session, &transfers)
               ? datapath_descriptor(server->two_sided, transfers)
               : -1;
}

/* What regions have written past stdio, and whether they have read. */
static void take_streams(void)
{
    input_look();
    output_drain_fds();
}

/* Sleeps until there is something to do. Looks once more after announcing it, so that a message
 * that came in between is not slept over. */
static void server_sleep(struct server *server, struct waiting *waiting, bool main)
{
    struct session *session = server->session;
    bool progressed = false;
    int also = -1;

    if (main && !service_stand_back(server)) { /* one sleeper at a time */
        let_go(server);
        return;
    }
    if (!session->active_first)
        take_streams();
    if (output_pending()) {
        reply_output(session);
        reply_flush(session);
    }
    channel_prepare(server->channel, true);
    if (server_step(server, main, &progressed) != OMPRMA_OK || progressed || server->exiting ||
        (session->active_first && (also = transfers_descriptor(server)) < 0) ||
        !datapath_prepare(server->one_sided)) {
        channel_prepare(server->channel, false);
        if (progressed)
            *waiting = (struct waiting){0};
        else
            waiting->shared |= !let_go(server);
        return;
    }
    if (!main)
        atomic_store(&server->service_sleeps, true);
    server_unlock(server);
    channel_sleep(server->channel, main && also < 0 ? NAP_NS : SERVE_NAP_NS, also);
    if (!main)
        atomic_store(&server->service_sleeps, false);
    server_lock(server);
}

void server_wait(struct server *server, struct waiting *waiting, bool main)
{
    bool hears = server->channel->hears, active = server->session->active_first != NULL;
    bool heard = hears && active && transfers_descriptor(server) >= 0;
    struct waiting_limits limits = server->limits;
    int64_t awake_until = active && !heard ? INT64_MAX : server->awake_until_ns;
    enum waiting_step step;
    int64_t now;

    if (hears)
        waiting_hears(&limits, heard);
    if (waiting_lock_is_wanted(&server->lock))
        let_go(server);
    step = waiting_next(waiting, &limits, &server->yields, awake_until, &now);
    if (step != WAITING_POLL)
        doorbell_tell_cpu(server->bell);
    if (step == WAITING_YIELD)
        waiting->shared |= !let_go(server);
    else if (step == WAITING_NAP)
        nap(server);
    else if (step == WAITING_SLEEP)
        server_sleep(server, waiting, main);
}

void server_follow_program(const struct server *server, omprma_status_t status)
{
    if (status == OMPRMA_ERR_CLOSED)
        world_abort(server->world, DIRECT_NO_PROGRAM);
}

void server_notice_faults(struct server *server)
{
    for (int i = 0; i < server->device_count; i++) {
        struct worker_device *device = &server->devices[i];
        const char *text = device->lost ? NULL : device->backend->fault(device);

        if (!text)
            continue;
        device->lost = server->lost = true;
        device->writes = 0;
        output_expect_stuck();
        take_streams();
        reply_output(server->session);
        stream_lose_device(server->session, device, text);
    }
}

omprma_status_t server_run(struct server *server)
{
    struct session *session = server->session;
    struct waiting waiting = {0};
    omprma_status_t status = OMPRMA_OK;

    prctl(PR_SET_TIMERSLACK, 1000); /* naps are short */
    server_lock(server);
    server->main_thread = pthread_self();
    while (!server->exiting && status == OMPRMA_OK) {
        bool progressed = false;

        if (!server->main_device)
            server_notice_faults(server);
        status = server_step(server, true, &progressed);
        if (progressed)
            waiting = (struct waiting){0};
        else
            server_wait(server, &waiting, true);
    }
    take_streams();
    reply_output(session);
    if (status == OMPRMA_OK)
        status = reply_flush(session);
    if (status == OMPRMA_OK)
        channel_drain(server->channel);
    server_unlock(server);
    return status;
}

void server_close(struct server *server)
{
    for (int i = 0; i < server->device_count; i++)
        server->devices[i].backend->stop(&server->devices[i]);
    service_stop(server);
    session_close(server->session);
    server->session = NULL;
    for (int i = 0; i < server->device_count; i++)
        worker_device_end(&server->devices[i]);
    pthread_mutex_destroy(&server->lock.mutex);
}
