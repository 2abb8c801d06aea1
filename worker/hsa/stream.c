/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.c: streams and events. The runtime has neither for copies, only signals, which become 0
 * when what they stand for is over. A stream is a list of steps, each with a signal of its own and
 * begun so that it waits for the one before it (copy.c, launch.c). So its steps end in order, and
 * whoever asks looks at the first signal alone; an event is a number of steps. A step that is over
 * is used again only when the one behind it is over too, because that may look at its signal late.
 */
#include "worker/hsa/hsa.h"

#include <stdlib.h>
#include <string.h>

struct gpu_event_s {
    gpu_stream stream;
    uint64_t number; /* it is over when so many steps of the stream are */
};

/* ---- steps ---- */

static struct hsa_step *take_spare(struct hsa *hsa)
{
    struct hsa_step *step;

    pthread_mutex_lock(&hsa->lock);
    step = hsa->spare_steps;
    if (step)
        hsa->spare_steps = step->next;
    pthread_mutex_unlock(&hsa->lock);
    return step;
}

static void give_spare(struct hsa *hsa, struct hsa_step *step)
{
    if (!step)
        return;
    if (step->astray) {
        free(step);
        return;
    }
    pthread_mutex_lock(&hsa->lock);
    step->next = hsa->spare_steps;
    hsa->spare_steps = step;
    pthread_mutex_unlock(&hsa->lock);
}

static int make_step(const struct hsa *hsa, struct hsa_step **step)
{
    int code;

    *step = calloc(1, sizeof(**step));
    if (!*step)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    code = hsa->rocr->signal_create(1, 0, NULL, &(*step)->signal);
    if (code)
        free(*step);
    return code;
}

int rocr_step_take(struct hsa *hsa, struct hsa_step **step)
{
    int code = rocr_fault_code(hsa);

    if (code)
        return code;
    *step = take_spare(hsa);
    if (!*step)
        return make_step(hsa, step);
    hsa->rocr->signal_store_relaxed((*step)->signal, 1);
    **step = (struct hsa_step){.signal = (*step)->signal};
    return HSA_STATUS_SUCCESS;
}

static void give_block(const struct hsa *hsa, struct hsa_step *step)
{
    if (step->block)
        rocr_block_give(hsa->rocr, step->block, step->block_bytes);
    step->block = NULL;
}

void rocr_step_drop(struct hsa *hsa, struct hsa_step *step)
{
    give_block(hsa, step);
    give_spare(hsa, step);
}

void rocr_step_append(gpu_stream stream, struct hsa_step *step)
{
    if (stream->first)
        stream->last->next = step;
    else
        stream->first = step;
    stream->last = step;
    stream->begun++;
}

void rocr_steps_free(struct hsa *hsa)
{
    while (hsa->spare_steps) {
        struct hsa_step *step = hsa->spare_steps;

        hsa->spare_steps = step->next;
        hsa->rocr->signal_destroy(step->signal);
        free(step);
    }
}

/* ---- the end of steps ---- */

static void end_first(struct hsa *hsa, gpu_stream stream)
{
    struct hsa_step *step = stream->first;

    if (step->to)
        memcpy(step->to, step->block, step->to_bytes);
    if (!step->astray)
        give_block(hsa, step);
    give_spare(hsa, stream->held);
    stream->held = NULL;
    stream->first = step->next;
    stream->ended++;
    if (stream->first)
        stream->held = step;
    else
        give_spare(hsa, step);
}

/* Notes what has ended. */
static int look(struct hsa *hsa, gpu_stream stream)
{
    int code = rocr_fault_code(hsa);

    while (!code && stream->first) {
        hsa_signal_value_t value = hsa->rocr->signal_load_scacquire(stream->first->signal);

        if (value > 0)
            break;
        if (value < 0) /* only copies do that */
            code = rocr_fault_of_copy(hsa);
        else
            end_first(hsa, stream);
    }
    return code;
}

struct hsa_step *rocr_stream_last(struct hsa *hsa, gpu_stream stream, int *code)
{
    *code = look(hsa, stream);
    return stream->first ? stream->last : NULL;
}

static int query(struct hsa *hsa, gpu_stream stream, uint64_t number)
{
    int code = look(hsa, stream);

    return code ? code : stream->ended >= number ? HSA_STATUS_SUCCESS : ROCR_NOT_READY;
}

/* A GPU that is lost meanwhile shows after a part of a second. */
static int wait_for(struct hsa *hsa, gpu_stream stream, uint64_t number)
{
    const struct rocr *rocr = hsa->rocr;
    int code;

    while ((code = query(hsa, stream, number)) == ROCR_NOT_READY) {
        rocr_stream_let_go(&hsa->gpu, stream);
        rocr->signal_wait_scacquire(stream->first->signal, HSA_SIGNAL_CONDITION_LT, 1,
                                    rocr->ticks / 20, HSA_WAIT_STATE_BLOCKED);
    }
    return code;
}

/* ---- as worker/gpu knows them ---- */

int rocr_stream_create(const struct gpu *gpu, gpu_stream *stream)
{
    gpu_stream made = calloc(1, sizeof(*made));

    if (!made)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    made->number = atomic_fetch_add(&hsa_of(gpu)->streams_made, 1);
    *stream = made;
    return HSA_STATUS_SUCCESS;
}

/* What is in it uses memory that its owner frees next. */
int rocr_stream_destroy(const struct gpu *gpu, gpu_stream stream)
{
    int code = rocr_stream_wait(gpu, stream);

    if (!code) /* else the GPU is lost, and nothing is given back */
        free(stream);
    return code;
}

int rocr_stream_query(const struct gpu *gpu, gpu_stream stream)
{
    return query(hsa_of(gpu), stream, stream->begun);
}

int rocr_stream_wait(const struct gpu *gpu, gpu_stream stream)
{
    return wait_for(hsa_of(gpu), stream, stream->begun);
}

/* What waits for such a copy goes on. */
void rocr_stream_let_go(const struct gpu *gpu, gpu_stream stream)
{
    for (struct hsa_step *step = stream->first; step; step = step->next) {
        if (!step->other || step->astray || !rocr_fault_code(step->other))
            continue;
        step->astray = true;
        hsa_of(gpu)->rocr->signal_store_relaxed(step->signal, 0);
    }
}

int rocr_event_record(const struct gpu *gpu, gpu_event *event, gpu_stream stream)
{
    int code = rocr_fault_code(hsa_of(gpu));

    if (code)
        return code;
    if (!*event)
        *event = calloc(1, sizeof(**event));
    if (!*event)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    **event = (struct gpu_event_s){stream, stream->begun};
    return HSA_STATUS_SUCCESS;
}

int rocr_event_destroy(const struct gpu *gpu, gpu_event event)
{
    (void)gpu;
    free(event);
    return HSA_STATUS_SUCCESS;
}

int rocr_event_query(const struct gpu *gpu, gpu_event event)
{
    return query(hsa_of(gpu), event->stream, event->number);
}

int rocr_event_wait(const struct gpu *gpu, gpu_event event)
{
    return wait_for(hsa_of(gpu), event->stream, event->number);
}
