/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ompt_trace.c: see ompt_trace.h. Each full buffer is the tool's; the next record asks for one. */
#include "openmp/tool/ompt_trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <omprma_private/times.h>

#include "base/clock.h"
#include "openmp/abi/libomp.h"

enum { WANT_TARGET = 1, WANT_DATA_OP = 2, WANT_KERNEL = 4, WANT_ALL = 7 };

/* Of a device. A tool's handle is a pointer to it. */
struct tracer {
    int device;
    pthread_mutex_t lock; /* guards all of it; never held while a function of the tool's runs */
    atomic_bool runs;     /* neither stopped nor paused */
    bool started;
    unsigned wanted;
    ompt_buffer_request_t *request;
    ompt_buffer_complete_t *complete;
    char *buffer; /* NULL: none */
    size_t bytes, begin, end;
};

static struct {
    struct tracer *all;
    int count;
    double wall; /* omp_get_wtime() when our clock is 0 */
} traced;

static _Thread_local int calls;

void tool_call(int difference)
{
    calls += difference;
}

bool tool_is_called(void)
{
    return calls > 0;
}

/* ---- buffers -------------------------------------------------------------------------------- */

/* A buffer that goes back. The caller holds the lock, and calls `complete` without it. */
struct full {
    ompt_buffer_complete_t *complete; /* NULL: nothing is full */
    char *buffer;
    size_t begin, end;
};

static struct full buffer_take(struct tracer *tracer)
{
    struct full full = {NULL, tracer->buffer, tracer->begin, tracer->end};
    if (tracer->buffer)
        full.complete = tracer->complete;
    tracer->buffer = NULL;
    return full;
}

static void buffer_give(const struct tracer *tracer, const struct full *full)
{
    if (!full->complete)
        return;
    tool_call(+1);
    full->complete(tracer->device, full->buffer, full->end, full->begin, 1);
    tool_call(-1);
}

/* A new one, from the tool; too small for a record, or none. The caller holds the lock, which is
 * given up meanwhile: the tool may flush, pause, stop, or set what it likes. */
static struct full buffer_ask(struct tracer *tracer, size_t *bytes)
{
    ompt_buffer_request_t *request = tracer->request;
    struct full asked = {.complete = tracer->complete};
    void *buffer = NULL;
    *bytes = 0;
    pthread_mutex_unlock(&tracer->lock);
    tool_call(+1);
    request(tracer->device, &buffer, bytes);
    tool_call(-1);
    pthread_mutex_lock(&tracer->lock);
    asked.buffer = buffer;
    if (!buffer)
        asked.complete = NULL;
    return asked;
}

/* Returns what goes back: a buffer that is of no use, as it is too small, or has come too late. */
static struct full buffer_make(struct tracer *tracer)
{
    const size_t apart = _Alignof(struct ompt_record);
    size_t bytes;
    struct full asked = buffer_ask(tracer, &bytes);
    size_t begin = (apart - (uintptr_t)asked.buffer % apart) % apart;
    if (!asked.complete || bytes < begin + sizeof(struct ompt_record) || tracer->buffer ||
        !tracer->started)
        return asked;
    tracer->buffer = asked.buffer;
    tracer->bytes = bytes;
    tracer->begin = tracer->end = begin;
    return (struct full){0};
}

static bool buffer_has_room(const struct tracer *tracer)
{
    return tracer->buffer && tracer->bytes - tracer->end >= sizeof(struct ompt_record);
}

static unsigned want_of(int type)
{
    switch (type) {
    case OMPT_TARGET:
    case OMPT_TARGET_EMI:
        return WANT_TARGET;
    case OMPT_DATA_OP:
    case OMPT_DATA_OP_EMI:
        return WANT_DATA_OP;
    case OMPT_SUBMIT:
    case OMPT_SUBMIT_EMI:
        return WANT_KERNEL;
    default:
        return type == 0 ? WANT_ALL : 0;
    }
}

/* The record is lost if the tool gives no buffer, as it wants. */
static void record_put(struct tracer *tracer, const struct ompt_record *record)
{
    struct full full = {0}, useless = {0};
    if (tool_is_called()) /* it would ask for a buffer again */
        return;
    pthread_mutex_lock(&tracer->lock);
    bool wanted = tracer->started && (tracer->wanted & want_of(record->type));
    if (wanted && tracer->buffer && !buffer_has_room(tracer))
        full = buffer_take(tracer);
    if (wanted && !tracer->buffer)
        useless = buffer_make(tracer);
    if (wanted && tracer->started && buffer_has_room(tracer)) {
        memcpy(tracer->buffer + tracer->end, record, sizeof(*record));
        tracer->end += sizeof(*record);
    }
    pthread_mutex_unlock(&tracer->lock);
    buffer_give(tracer, &full);
    buffer_give(tracer, &useless);
}

/* ---- what a tool asks for ------------------------------------------------------------------- */

static int set_trace_ompt(struct tracer *tracer, unsigned enable, unsigned type)
{
    unsigned want = want_of((int)type);
    if (!want)
        return OMPT_SET_NEVER;
    pthread_mutex_lock(&tracer->lock);
    tracer->wanted = enable ? tracer->wanted | want : tracer->wanted & ~want;
    pthread_mutex_unlock(&tracer->lock);
    return OMPT_SET_ALWAYS;
}

static int start_trace(struct tracer *tracer, ompt_buffer_request_t *request,
                       ompt_buffer_complete_t *complete)
{
    if (!request || !complete)
        return 0;
    pthread_mutex_lock(&tracer->lock);
    tracer->request = request;
    tracer->complete = complete;
    tracer->started = true;
    atomic_store(&tracer->runs, true);
    pthread_mutex_unlock(&tracer->lock);
    return 1;
}

static int flush_trace(struct tracer *tracer)
{
    pthread_mutex_lock(&tracer->lock);
    bool right = tracer->started;
    struct full full = buffer_take(tracer);
    pthread_mutex_unlock(&tracer->lock);
    buffer_give(tracer, &full);
    return right;
}

static int pause_trace(struct tracer *tracer, int begins)
{
    pthread_mutex_lock(&tracer->lock);
    bool right = tracer->started;
    atomic_store(&tracer->runs, right && !begins);
    pthread_mutex_unlock(&tracer->lock);
    return right;
}

static int stop_trace(struct tracer *tracer)
{
    pthread_mutex_lock(&tracer->lock);
    bool right = tracer->started;
    struct full full = buffer_take(tracer);
    tracer->started = false;
    atomic_store(&tracer->runs, false);
    pthread_mutex_unlock(&tracer->lock);
    buffer_give(tracer, &full);
    return right;
}

static uint64_t get_device_time(struct tracer *tracer)
{
    (void)tracer;
    return (uint64_t)clock_ns();
}

static double translate_time(struct tracer *tracer, uint64_t time)
{
    (void)tracer;
    return traced.wall + (double)time * 1e-9;
}

static int advance_buffer_cursor(struct tracer *tracer, void *buffer, size_t bytes, uint64_t at,
                                 uint64_t *next)
{
    (void)tracer, (void)buffer;
    *next = at + sizeof(struct ompt_record);
    return *next + sizeof(struct ompt_record) <= bytes;
}

static int get_record_type(const void *buffer, uint64_t at)
{
    (void)at;
    return buffer ? OMPT_RECORD_OURS : OMPT_RECORD_INVALID;
}

static void *get_record_ompt(char *buffer, uint64_t at)
{
    return buffer + at;
}

/* Native records there are none. */
static int set_trace_native(struct tracer *tracer, int enable, int flags)
{
    (void)tracer, (void)enable, (void)flags;
    return OMPT_SET_NEVER;
}

static int get_device_num_procs(struct tracer *tracer)
{
    omprma_device_info_t info = {.cores = 1};
    omprma_device_info(tracer->device, &info);
    return info.cores;
}

ompt_function_t *trace_lookup(const char *name)
{
    static const struct {
        const char *name;
        ompt_function_t *function;
    } functions[] = {
        {"ompt_get_device_num_procs", (ompt_function_t *)get_device_num_procs},
        {"ompt_get_device_time", (ompt_function_t *)get_device_time},
        {"ompt_translate_time", (ompt_function_t *)translate_time},
        {"ompt_set_trace_ompt", (ompt_function_t *)set_trace_ompt},
        {"ompt_set_trace_native", (ompt_function_t *)set_trace_native},
        {"ompt_start_trace", (ompt_function_t *)start_trace},
        {"ompt_pause_trace", (ompt_function_t *)pause_trace},
        {"ompt_flush_trace", (ompt_function_t *)flush_trace},
        {"ompt_stop_trace", (ompt_function_t *)stop_trace},
        {"ompt_advance_buffer_cursor", (ompt_function_t *)advance_buffer_cursor},
        {"ompt_get_record_type", (ompt_function_t *)get_record_type},
        {"ompt_get_record_ompt", (ompt_function_t *)get_record_ompt},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].function;
    return NULL;
}

/* ---- devices -------------------------------------------------------------------------------- */

/* What omp_get_wtime() says when our clock is 0: by the fastest of some looks, for the thread may
 * lose its processor in one. libomp's has whole microseconds. */
static double wall_look(void)
{
    enum { ROUNDS = 8 };
    const double half_step = 0.5e-6;
    int64_t fastest = INT64_MAX;
    double wall = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t before = clock_ns();
        double seen = omp_get_wtime();
        int64_t after = clock_ns();
        if (after - before >= fastest)
            continue;
        fastest = after - before;
        wall = seen + half_step - 1e-9 * ((double)before + (double)fastest / 2);
    }
    return wall;
}

bool trace_open(int devices)
{
    traced.wall = omp_get_wtime ? wall_look() : 0;
    traced.all = calloc((size_t)devices, sizeof(*traced.all));
    for (int i = 0; traced.all && i < devices; i++) {
        traced.all[i].device = i;
        pthread_mutex_init(&traced.all[i].lock, NULL);
        traced.count = i + 1;
    }
    return traced.all != NULL;
}

void *trace_handle(int device)
{
    return &traced.all[device];
}

void trace_flush(void)
{
    for (int i = 0; i < traced.count; i++)
        flush_trace(&traced.all[i]);
}

void trace_close(void)
{
    for (int i = 0; i < traced.count; i++)
        stop_trace(&traced.all[i]);
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct carrier {
    struct carrier *next;
    struct omprma_times times;
};

struct traced_event {
    struct ompt_record record;
    struct carrier *carrier; /* NULL: none so far */
    struct carrier *before;  /* the block's newest when it was added */
    bool done, waits;        /* added; for the next one */
};

struct block_traced {
    struct tracer *tracer;
    const omprma_queue_t *queue;
    struct traced_event *events;
    size_t count, room;
    size_t unbound; /* the first event that may wait */
    struct carrier *carriers;
    struct ompt_record last; /* .type is 0: none */
};

static _Thread_local struct block_traced *present;

static struct omprma_times *times_for(const omprma_queue_t *queue)
{
    struct block_traced *block = present;
    struct carrier *carrier;
    if (!block || block->queue != queue || !(carrier = calloc(1, sizeof(*carrier))))
        return NULL;
    carrier->next = block->carriers;
    block->carriers = carrier;
    for (; block->unbound < block->count; block->unbound++) {
        struct traced_event *event = &block->events[block->unbound];
        if (!event->done) /* it is being issued: what comes is its own */
            break;
        if (event->waits)
            event->carrier = carrier;
    }
    return &carrier->times;
}

void trace_prepare(void)
{
    omprma_times_want(times_for);
}

struct block_traced *block_begin(int device)
{
    struct tracer *tracer = device >= 0 && device < traced.count ? &traced.all[device] : NULL;
    present = NULL;
    if (!tracer || !atomic_load_explicit(&tracer->runs, memory_order_relaxed))
        return NULL;
    present = calloc(1, sizeof(*present));
    if (present)
        present->tracer = tracer;
    return present;
}

struct block_traced *block_leave(void)
{
    struct block_traced *block = present;
    present = NULL;
    return block;
}

void block_queue(struct block_traced *block, const omprma_queue_t *queue)
{
    block->queue = queue;
}

size_t block_add(struct block_traced *block, const struct ompt_record *record)
{
    if (block->count == block->room) {
        size_t room = block->room ? 2 * block->room : 16;
        struct traced_event *longer = reallocarray(block->events, room, sizeof(*longer));
        if (!longer)
            return SIZE_MAX;
        block->events = longer;
        block->room = room;
    }
    block->events[block->count] =
        (struct traced_event){.record = *record, .before = block->carriers};
    block->events[block->count].record.time = (uint64_t)clock_ns();
    return block->count++;
}

static uint64_t *end_of(struct ompt_record *record)
{
    return record->type == OMPT_SUBMIT ? &record->record.kernel.end : &record->record.data_op.end;
}

void block_added(struct block_traced *block, size_t number, const struct ompt_record *record)
{
    if (number >= block->count)
        return;
    struct traced_event *event = &block->events[number];
    uint64_t begin = event->record.time;
    event->record = *record;
    event->record.time = begin;
    *end_of(&event->record) = (uint64_t)clock_ns();
    event->done = true;
    event->waits = event->before == block->carriers;
    if (!event->waits)
        event->carrier = block->carriers;
}

void block_note(struct block_traced *block, const struct ompt_record *record)
{
    size_t number = block_add(block, record);
    if (number < block->count)
        block->events[number].done = true;
    if (number < block->count && record->type != OMPT_TARGET)
        *end_of(&block->events[number].record) = block->events[number].record.time;
}

/* Data beside a kernel goes before it, or comes after it. */
static void event_time(struct traced_event *event)
{
    const struct omprma_times *times = event->carrier ? &event->carrier->times : NULL;
    bool back = event->record.type == OMPT_DATA_OP &&
                (event->record.record.data_op.type & ~OMPT_ASYNC) == OMPT_FROM;
    if (!times || times->end_ns == 0)
        return;
    bool ran = times->ran_ns != 0, beside = times->kernel && event->record.type == OMPT_DATA_OP;
    int64_t begin = ran ? times->ran_ns : times->begin_ns, end = times->end_ns;
    if (beside && ran) {
        begin = back ? times->ran_end_ns : times->begin_ns;
        end = back ? times->end_ns : times->ran_ns;
    } else if (ran) {
        end = times->ran_end_ns;
    }
    event->record.time = (uint64_t)begin;
    *end_of(&event->record) = (uint64_t)end;
}

void block_last(struct block_traced *block, const struct ompt_record *record)
{
    block->last = *record;
}

void block_end(struct block_traced *block)
{
    for (size_t i = 0; i < block->count; i++) {
        event_time(&block->events[i]);
        record_put(block->tracer, &block->events[i].record);
    }
    if (block->last.type) {
        block->last.time = (uint64_t)clock_ns();
        record_put(block->tracer, &block->last);
    }
    for (struct carrier *next, *each = block->carriers; each; each = next) {
        next = each->next;
        free(each);
    }
    free(block->events);
    free(block);
}
