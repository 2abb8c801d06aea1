/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lane.c: threads that run kernels. Each lane stays the same thread, because every new thread that
 * enters OpenMP builds a team of its own. Launches wait in one list of the device; a lane takes the
 * first, releases the lock around the kernel, and goes on with that launch's queue itself. The main
 * thread is the lane of a device that has no other, and calls kernels directly (lane_call()).
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/device.h"
#include "worker/native/kernel.h"
#include "worker/native/native.h"
#include "worker/native/team.h"
#include "worker/server.h"

/* The device whose kernels this thread runs. */
static _Thread_local const struct native *own;

bool lane_is_own(const struct native *native)
{
    if (crash_happened(&native->crash, NULL))
        return false;
    return own == native || (native->options.on_main && server_on_main(native->device->server));
}

/* On the main thread, which is the only one that runs kernels, and from which threads that libomp
 * makes later have their cores: those that are there are bound, too. */
static void change_cores(struct native *native)
{
    int threads = place_threads(native->next, 1);

    if (native->options.bind)
        place_bind(native->next);
    if (place_environment(native->options.place, &threads) == OMPRMA_OK && threads > 0)
        team_resize(native, threads);
    if (native->options.bind)
        place_bind(native->next);
    place_destroy(native->next);
    native->next = NULL;
}

omprma_status_t lane_call(struct native *native, struct backend_job *job,
                          const struct backend_launch *launch)
{
    struct server *server = native->device->server;
    bool traces = server->session->traces;
    omprma_status_t status;
    void *limited = NULL;

    if (native->next)
        change_cores(native);
    /* Results of earlier commands must not wait for this kernel. */
    if (reply_is_due(server->session))
        reply_flush(server->session);
    if (native->options.on_main)
        service_kernel_begins(server);
    server_unlock(server);
    if (traces)
        job->began_ns = clock_ns();
    crash_enter_kernel(launch->kernel, &native->crash);
    /* A host kernel asks its own runtime for teams and threads; of the geometry only a limit
     * counts. */
    if (launch->with.geometry.threads[0])
        limited = team_limit(native, (int)launch->with.geometry.threads[0]);
    status = (launch->with.context ? kernel_call_context : kernel_call)(
        launch->kernel, launch->with.arguments, launch->with.count);
    team_unlimit(native, limited);
    crash_leave_kernel();
    if (traces)
        job->ended_ns = clock_ns();
    server_lock(server);
    if (native->options.on_main)
        service_kernel_ended(server);
    return status;
}

void lane_append(struct native *native, struct backend_job *job)
{
    job->next = NULL;
    if (native->first)
        native->last->next = job;
    else
        native->first = job;
    native->last = job;
    if (!native->options.on_main)
        sem_post(&native->ready);
}

bool lane_run_next(struct native *native)
{
    struct backend_job *job = native->first;
    omprma_status_t status;

    if (!job || crash_happened(&native->crash, NULL))
        return false;
    native->first = job->next;
    status = lane_call(native, job, job->handle);
    backend_end(job, status);
    return true;
}

struct lane_start {
    struct native *native;
    int lane;
};

static void *lane_main(void *data)
{
    struct lane_start start = *(struct lane_start *)data;
    struct native *native = start.native;
    struct server *server = native->device->server;

    free(data);
    own = native;
    crash_thread();
    if (native->options.place && native->options.bind)
        place_apply_lane(native->options.place, start.lane);
    server_lock(server);
    while (!native->stopping) {
        if (!native->device->lost && lane_run_next(native)) {
            reply_flush(server->session);
            channel_wake(server->channel); /* the serving thread may have to go on with others */
            continue;
        }
        /* No condition variable: the thread that it wakes would wait for the lock without being
         * counted as a contender, and who polls holds the lock nearly all the time. */
        server_unlock(server);
        while (sem_wait(&native->ready) != 0) /* interrupted by a signal */
            ;
        server_lock(server);
    }
    server_unlock(server);
    return NULL;
}

omprma_status_t lane_start(struct native *native)
{
    int lanes = native->options.lanes;

    if (native->options.on_main)
        return OMPRMA_OK;
    native->threads = calloc((size_t)lanes, sizeof(*native->threads));
    if (!native->threads)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d lanes", lanes);
    for (int i = 0; i < lanes; i++) {
        struct lane_start *start = malloc(sizeof(*start));

        if (!start)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for lane %d", i);
        *start = (struct lane_start){native, i};
        if (pthread_create(&native->threads[i], NULL, lane_main, start) != 0) {
            free(start);
            native->options.lanes = i;
            return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start the thread of lane %d", i);
        }
    }
    return OMPRMA_OK;
}

/* After a crash one thread is parked for ever, and nobody can tell which: none is waited for. */
void lane_stop(struct native *native)
{
    struct server *server = native->device->server;

    if (!native->threads)
        return;
    server_lock(server);
    native->stopping = true;
    for (int i = 0; i < native->options.lanes; i++)
        sem_post(&native->ready);
    server_unlock(server);
    if (native->device->lost)
        return;
    for (int i = 0; i < native->options.lanes; i++)
        pthread_join(native->threads[i], NULL);
    free(native->threads);
    native->threads = NULL;
}
