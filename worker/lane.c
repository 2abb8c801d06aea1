/*
 * lane.c: threads that run kernels. With one lane (the default) it is the serving thread itself, so
 * that a short kernel costs no hand-off. With more, each lane is a thread of its own and stays the
 * same thread, because every new thread that enters OpenMP builds a team of its own.
 */
#include "worker/server.h"

#include <stdlib.h>

#include "base/error.h"
#include "worker/crash.h"
#include "worker/kernel.h"
#include "worker/output.h"

void lane_call(struct server *server, struct stream *stream, const struct wire_record *record)
{
    struct wire_launch launch;
    omprma_status_t status = wire_open_launch(record, &launch);

    if (status != OMPRMA_OK) {
        stream_fail(stream, status, error_text());
        return;
    }

    /* Results of earlier commands must not wait for this kernel. */
    if (server->out || server->owe_ack)
        reply_flush(server);
    stream->running = true;
    service_kernel_begins(server);
    server_unlock(server);
    crash_enter_kernel(record->word[0]);
    /* A host kernel asks its own runtime for teams and threads, whatever the geometry says. */
    status = kernel_call(record->word[0], launch.arguments, launch.count);
    crash_leave_kernel();
    server_lock(server);
    service_kernel_ended(server);
    stream->running = false;
    server->kernels++;
    if (output_pending())
        reply_output(server);
    if (status != OMPRMA_OK)
        stream_fail(stream, status, error_text());
}

struct lane_start {
    struct server *server;
    int lane;
};

static void *lane_main(void *data)
{
    struct lane_start start = *(struct lane_start *)data;
    struct server *server = start.server;

    free(data);
    crash_thread();
    if (server->place)
        place_apply_lane(server->place, start.lane);
    server_lock(server);
    while (!server->exiting) {
        struct stream *stream = stream_take_ready(server);

        if (!stream) {
            /* No condition variable: the thread that it wakes would wait for the lock without
             * being counted as a contender, and who polls holds the lock nearly all the time. */
            server_unlock(server);
            while (sem_wait(&server->ready) != 0) /* interrupted by a signal */
                ;
            server_lock(server);
            continue;
        }
        stream_run(server, stream, true);
        reply_flush(server);
        channel_wake(server->channel); /* the serving thread may have to go on with others */
    }
    server_unlock(server);
    return NULL;
}

omprma_status_t lane_start(struct server *server)
{
    if (server->lanes <= 1)
        return OMPRMA_OK;
    server->lane_threads = calloc((size_t)server->lanes, sizeof(*server->lane_threads));
    if (!server->lane_threads)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d lanes", server->lanes);
    for (int i = 0; i < server->lanes; i++) {
        struct lane_start *start = malloc(sizeof(*start));

        if (!start)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for lane %d", i);
        *start = (struct lane_start){server, i};
        if (pthread_create(&server->lane_threads[i], NULL, lane_main, start) != 0) {
            free(start);
            server->lanes = i;
            return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start the thread of lane %d", i);
        }
    }
    return OMPRMA_OK;
}

void lane_stop(struct server *server)
{
    if (!server->lane_threads)
        return;
    server_lock(server);
    server->exiting = true;
    for (int i = 0; i < server->lanes; i++)
        sem_post(&server->ready);
    server_unlock(server);
    for (int i = 0; i < server->lanes && !server->lost; i++)
        pthread_join(server->lane_threads[i], NULL);
    free(server->lane_threads);
    server->lane_threads = NULL;
}
