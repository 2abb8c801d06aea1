/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.c: streams of the stand-in. Each is a thread that does what it is given some time later,
 * so that whoever does not wait sees old data; for who measures, it is done at once. See standin.h.
 */
#define _GNU_SOURCE
#include "standin.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct work {
    struct work *next;
    int (*work)(void *data);
    void *data;
    int64_t until_ns;  /* it is not over before; 0: when it is done */
    int64_t copied_ns; /* when copies before it are over */
};

struct stream {
    struct context *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct work *first, *last; /* `first` is being done */
    int waiting;               /* how many there are */
    uint64_t given, done;      /* how many there were */
    bool stop;
    unsigned seed;
    int64_t copied_ns; /* when its last copy by an engine, or what was done at once, is over */
    int64_t taken_ns;  /* when its last operation that takes so long is over */
};

struct event {
    struct stream *stream; /* NULL: it was not recorded */
    uint64_t at;           /* what the stream had been given */
    int64_t copied_ns;
};

/* ---- engines: copies that take their time, and no processor ---- */

static struct {
    pthread_mutex_t lock;
    int64_t free_ns[STREAM_ENGINES];
} engines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void stream_add_copy(struct stream *stream, int engine, size_t bytes)
{
    int64_t *free_ns = &engines.free_ns[engine], from = now_ns();

    pthread_mutex_lock(&stream->lock);
    pthread_mutex_lock(&engines.lock);
    if (from < stream->copied_ns)
        from = stream->copied_ns;
    *free_ns = (*free_ns > from ? *free_ns : from) + (int64_t)bytes / settings.gbps;
    stream->copied_ns = *free_ns;
    pthread_mutex_unlock(&engines.lock);
    pthread_mutex_unlock(&stream->lock);
}

static void wait_for_engine(int64_t copied_ns)
{
    while (now_ns() < copied_ns)
        sched_yield();
}

/* ---- operations that take so long ---- */

/* When the next one is over; 0: when it is done. */
static int64_t take_time(struct stream *stream)
{
    int64_t now;

    if (!settings.takes_us)
        return 0;
    now = now_ns();
    stream->taken_ns = (stream->taken_ns > now ? stream->taken_ns : now) + settings.takes_us * 1000;
    return stream->taken_ns;
}

static void sleep_until(int64_t ns)
{
    struct timespec until = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    if (ns)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* ---- the rest ---- */

/* What has failed stays: everything after it is dropped. */
static void do_work(struct context *context, struct work *work)
{
    int code;

    pthread_rwlock_rdlock(&context->work);
    code = context->fault;
    if (code == SUCCESS)
        code = work->work(work->data);
    pthread_rwlock_unlock(&context->work);
    if (code != SUCCESS)
        context_lose(context, code);
}

static void do_first(struct stream *stream)
{
    struct work *work = stream->first;

    pthread_mutex_unlock(&stream->lock);
    unsigned delay_us = settings.delay_us;
    if (delay_us)
        usleep((unsigned)rand_r(&stream->seed) % delay_us);
    sleep_until(work->until_ns);
    wait_for_engine(work->copied_ns);
    do_work(stream->context, work);
    free(work->data);
    pthread_mutex_lock(&stream->lock);
    stream->first = work->next;
    stream->waiting--;
    stream->done++;
    free(work);
    pthread_cond_broadcast(&stream->changed);
}

static void *run(void *data)
{
    struct stream *stream = data;

    prctl(PR_SET_TIMERSLACK, 1000);
    pthread_mutex_lock(&stream->lock);
    while (stream->first || !stream->stop) {
        if (stream->first)
            do_first(stream);
        else
            pthread_cond_wait(&stream->changed, &stream->lock);
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

/* For who measures: a GPU takes no processor of the host's, and nobody has to be woken. */
static int do_at_once(struct stream *stream, int (*function)(void *data), void *data)
{
    struct work work = {.work = function, .data = data};

    if (!data)
        return OUT_OF_MEMORY;
    do_work(stream->context, &work);
    free(data);
    pthread_mutex_lock(&stream->lock);
    work.until_ns = take_time(stream);
    if (work.until_ns > stream->copied_ns)
        stream->copied_ns = work.until_ns;
    pthread_mutex_unlock(&stream->lock);
    return SUCCESS;
}

int stream_add(struct stream *stream, int (*function)(void *data), void *data)
{
    struct work *work;

    if (settings_measure())
        return do_at_once(stream, function, data);
    work = calloc(1, sizeof(*work));
    if (!work || !data) {
        free(work);
        free(data);
        return OUT_OF_MEMORY;
    }
    work->work = function;
    work->data = data;
    pthread_mutex_lock(&stream->lock);
    if (stream->first)
        stream->last->next = work;
    else
        stream->first = work;
    stream->last = work;
    stream->given++;
    counts_most(++stream->waiting);
    work->copied_ns = stream->copied_ns;
    work->until_ns = take_time(stream);
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return SUCCESS;
}

EXPORT int cuStreamCreate(struct stream **out, unsigned flags)
{
    struct stream *stream;
    struct context *context;
    int code;

    ENTER;
    (void)flags;
    code = context_current(&context);
    if (code != SUCCESS)
        return code;
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return OUT_OF_MEMORY;
    stream->context = context;
    stream->seed = (unsigned)(uintptr_t)stream;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    if (pthread_create(&stream->thread, NULL, run, stream) != 0) {
        free(stream);
        return OUT_OF_MEMORY;
    }
    counts_add(&counts.streams, 1);
    *out = stream;
    return SUCCESS;
}

EXPORT int cuStreamDestroy_v2(struct stream *stream)
{
    ENTER;
    pthread_mutex_lock(&stream->lock);
    stream->stop = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    free(stream);
    counts_add(&counts.streams, -1);
    return SUCCESS;
}

EXPORT int cuStreamQuery(struct stream *stream)
{
    bool busy;

    ENTER;
    if (stream->context->fault)
        return stream->context->fault;
    pthread_mutex_lock(&stream->lock);
    busy = stream->first != NULL || (stream->copied_ns && now_ns() < stream->copied_ns);
    pthread_mutex_unlock(&stream->lock);
    return busy ? NOT_READY : stream->context->fault;
}

int stream_wait(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    while (stream->first)
        pthread_cond_wait(&stream->changed, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    wait_for_engine(stream->copied_ns);
    return stream->context->fault;
}

EXPORT int cuStreamSynchronize(struct stream *stream)
{
    ENTER;
    counts_add(&counts.synchronized, 1);
    return stream_wait(stream);
}

/* ---- events ---- */

EXPORT int cuEventCreate(struct event **out, unsigned flags)
{
    struct context *context;
    int code;

    ENTER;
    (void)flags;
    code = context_current(&context);
    if (code != SUCCESS)
        return code;
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return OUT_OF_MEMORY;
    counts_add(&counts.events, 1);
    return SUCCESS;
}

EXPORT int cuEventDestroy_v2(struct event *event)
{
    ENTER;
    free(event);
    counts_add(&counts.events, -1);
    return SUCCESS;
}

EXPORT int cuEventRecord(struct event *event, struct stream *stream)
{
    ENTER;
    if (stream->context->fault)
        return stream->context->fault;
    pthread_mutex_lock(&stream->lock);
    *event = (struct event){stream, stream->given, stream->copied_ns};
    pthread_mutex_unlock(&stream->lock);
    counts_add(&counts.recorded, 1);
    return SUCCESS;
}

EXPORT int cuEventQuery(const struct event *event)
{
    bool over;

    ENTER;
    if (!event->stream)
        return SUCCESS;
    if (event->stream->context->fault)
        return event->stream->context->fault;
    pthread_mutex_lock(&event->stream->lock);
    over = event->stream->done >= event->at;
    pthread_mutex_unlock(&event->stream->lock);
    if (!over || now_ns() < event->copied_ns)
        return NOT_READY;
    return event->stream->context->fault;
}

EXPORT int cuEventSynchronize(const struct event *event)
{
    ENTER;
    if (!event->stream)
        return SUCCESS;
    pthread_mutex_lock(&event->stream->lock);
    while (event->stream->done < event->at)
        pthread_cond_wait(&event->stream->changed, &event->stream->lock);
    pthread_mutex_unlock(&event->stream->lock);
    wait_for_engine(event->copied_ns);
    return event->stream->context->fault;
}
