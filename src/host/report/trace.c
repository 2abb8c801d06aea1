/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * trace.c: see trace.h. Spans are kept in memory; a full buffer stops recording and says so.
 *
 * What a worker tells is kept by its clock. That is compared with this side's at the beginning and
 * at the end, by the fastest of some round trips; in between both are taken to run evenly.
 */
#include "host/report/trace.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/kernel_name.h"
#include "base/kernel_source.h"
#include "base/log.h"
#include "host/device/kernel_names.h"
#include "host/queue/queue.h"

enum {
    SPANS_MOST = 1 << 20,
    SOURCE_BYTES = 512,
    APART_NS = 10 /* least distance on a track: readers compute with rounded microseconds */
};

enum kind { KIND_REGION, KIND_KERNEL, KIND_TRANSFER, KIND_WAIT, KIND_MESSAGE, KIND_COMMAND, KINDS };

static const char *const kind_names[KINDS] = {
    [KIND_REGION] = "region", [KIND_KERNEL] = "kernel",   [KIND_TRANSFER] = "transfer",
    [KIND_WAIT] = "wait",     [KIND_MESSAGE] = "message", [KIND_COMMAND] = "command",
};

struct span {
    const char *name;              /* of a launch, and of its region: of the kernel */
    const char *path;              /* NULL: it says nothing */
    int64_t asked_ns;              /* it was appended */
    int64_t begin_ns, end_ns;      /* 0: not yet */
    uint64_t bytes;                /* 0: it says nothing */
    uint32_t region, queue, track; /* region: its span; tracks count from 1 */
    int device, with;              /* with: the other device of an exchange, else -1 */
    uint32_t launches;             /* of a region */
    uint32_t of;                   /* 0, or of what the worker told: the span that this side saw */
    enum kind kind;
    bool failed;
    bool told; /* the worker has, so this one is only what this side saw */
};

/* A kernel's name, and its source file or "". */
struct kernel {
    const char *name;
    char *source;
};

/* Of one worker. */
struct clocks {
    struct trace_clock first, last;
};

struct trace {
    struct observer observer; /* the first member */
    FILE *file;
    int64_t origin_ns;
    uint32_t count, capacity;
    uint64_t dropped;
    struct span *spans;
    void *kernels;         /* struct kernel, a tree of tsearch() */
    uint32_t processes;    /* in the file */
    struct clocks *clocks; /* of workers, by rank */
};

/* ---- clocks ---- */

/* A moment of the worker's by this side's clock. */
static int64_t bring_over(const struct clocks *clocks, int64_t there_ns)
{
    const struct trace_clock *first = &clocks->first, *last = &clocks->last;
    int64_t at = there_ns - first->ahead_ns;
    double part = 0;

    if (last->at_ns > first->at_ns)
        part = (double)(at - first->at_ns) / (double)(last->at_ns - first->at_ns);
    return at - (int64_t)(part * (double)(last->ahead_ns - first->ahead_ns));
}

void trace_clock(struct trace *trace, int rank, const struct trace_clock *clock)
{
    struct clocks *clocks = &trace->clocks[rank];

    if (clocks->first.within_ns < 0)
        clocks->first = *clock;
    if (clock->within_ns >= 0)
        clocks->last = *clock;
}

/* ---- memory ---- */

static void free_kernel(void *kernel)
{
    free(((struct kernel *)kernel)->source);
    free(kernel);
}

static void free_trace(struct trace *trace)
{
    tdestroy(trace->kernels, free_kernel);
    free(trace->clocks);
    free(trace->spans);
    free(trace);
}

/* ---- recording ---- */

static struct trace *trace_of(struct observer *observer)
{
    return (struct trace *)observer; /* its first member */
}

static bool reserve(struct trace *trace)
{
    uint32_t capacity = trace->capacity ? 2 * trace->capacity : 1024;
    struct span *spans;

    if (trace->count < trace->capacity)
        return true;
    if (capacity > SPANS_MOST)
        return false;
    spans = realloc(trace->spans, capacity * sizeof(*spans));
    if (!spans)
        return false;
    trace->spans = spans;
    trace->capacity = capacity;
    return true;
}

/* Spans are known by their number, from 1. */
static struct span *span_at(const struct trace *trace, uint32_t number)
{
    return &trace->spans[number - 1];
}

/* What is appended from now on belongs to another region. */
static void leave_region(struct omprma_queue *queue)
{
    queue->observed = (struct observed_queue){0};
}

/* Its number, 0 if there is no room. */
static uint32_t add(struct trace *trace, const struct omprma_queue *queue, enum kind kind,
                    const char *name, int64_t now)
{
    if (!reserve(trace)) {
        trace->dropped++;
        return 0;
    }
    trace->spans[trace->count++] = (struct span){
        .name = name,
        .kind = kind,
        .device = queue->device->number,
        .queue = queue->number,
        .region = queue->observed.region,
        .with = -1,
        .asked_ns = now,
    };
    return trace->count;
}

static void enter_region(struct trace *trace, struct omprma_queue *queue, bool was_idle,
                         int64_t now)
{
    uint32_t *region = &queue->observed.region;

    if (was_idle && queue->observed.launched)
        leave_region(queue);
    if (*region || !queue->is_programs)
        return;
    *region = add(trace, queue, KIND_REGION, "data", now);
    if (*region)
        span_at(trace, *region)->begin_ns = now;
}

static int compare_kernels(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* With its name behind it. NULL: no memory. */
static struct kernel *make_kernel(const char *symbol)
{
    size_t bytes = strlen(symbol) + 1;
    struct kernel *kernel = malloc(sizeof(*kernel) + bytes);
    struct kernel_name name;
    char source[SOURCE_BYTES];

    if (!kernel)
        return NULL;
    *kernel = (struct kernel){.name = memcpy(kernel + 1, symbol, bytes)};
    if (kernel_name_split(symbol, &name) && kernel_source_find(&name, source, sizeof(source)))
        kernel->source = strdup(source);
    return kernel;
}

/* The image that it belongs to may be gone at the end. */
static const char *keep_name(struct trace *trace, const char *name)
{
    const struct kernel wanted = {.name = name};
    struct kernel *const *found = tfind(&wanted, &trace->kernels, compare_kernels);
    struct kernel *made = found ? NULL : make_kernel(name);

    if (made)
        found = tsearch(made, &trace->kernels, compare_kernels);
    if (!found && made)
        free_kernel(made);
    return found ? (*found)->name : "?";
}

/* NULL: not known. */
static const char *source_of(const struct trace *trace, const char *name)
{
    const struct kernel wanted = {.name = name};
    struct kernel *const *found = tfind(&wanted, &trace->kernels, compare_kernels);

    return found ? (*found)->source : NULL;
}

static void name_launch(struct trace *trace, const struct operation *launch)
{
    struct omprma_queue *queue = launch->queue;
    const char *name = keep_name(trace, kernel_names_find(queue->device, launch->command.entry));
    struct span *region;

    if (launch->span)
        span_at(trace, launch->span)->name = name;
    if (!queue->observed.region)
        return;
    region = span_at(trace, queue->observed.region);
    if (region->launches++ == 0)
        region->name = name;
    queue->observed.launched = true;
}

/* A span stands for what ends with the data: of a two-sided submit the command. */
static bool has_span(const struct operation *operation)
{
    return operation->kind != OPERATION_MARK &&
           (!operation_has_command(operation) || operation->fills_host);
}

static void see_appended(struct observer *observer, struct operation *operation, bool was_idle)
{
    struct trace *trace = trace_of(observer);
    int64_t now = clock_ns();

    if (!has_span(operation))
        return;
    enter_region(trace, operation->queue, was_idle, now);
    operation->span = add(trace, operation->queue, KIND_COMMAND, operation_name(operation), now);
    if (operation->kind == OPERATION_COMMAND && operation->command.code == WIRE_LAUNCH)
        name_launch(trace, operation);
}

static void describe_data(const struct operation *operation, struct span *span)
{
    span->kind = KIND_TRANSFER;
    span->name = data_names[operation->data];
    span->path = operation->by->name;
    span->bytes = operation->device_bytes;
}

static void describe_command(const struct operation *operation, struct span *span)
{
    static const char *const names[WIRE_COMMAND_END] = {
        [WIRE_GROW] = "attach arena", [WIRE_LOAD] = "load image", [WIRE_WAIT] = "wait in worker"};
    uint16_t code = operation->command.code;

    if (code == WIRE_LAUNCH) {
        span->kind = KIND_KERNEL;
        return;
    }
    if (code == WIRE_WAIT)
        span->kind = KIND_WAIT;
    span->name = code < WIRE_COMMAND_END && names[code] ? names[code] : wire_code_name(code);
}

static const char *name_wait(enum wait_use use)
{
    return use == WAIT_EVENT      ? "wait for event"
           : use == WAIT_EXCHANGE ? "wait for exchange"
                                  : "wait for order";
}

/* When it is issued all is known of it. */
static void describe(const struct operation *operation, struct span *span)
{
    if (operation->with)
        span->with = operation->with->number;
    if (operation->by) {
        describe_data(operation, span);
    } else if (operation->kind == OPERATION_COMMAND) {
        describe_command(operation, span);
    } else if (operation->kind == OPERATION_WRITE) { /* the only one without data */
        span->name = "reset";
    } else {
        span->kind = KIND_WAIT;
        span->name =
            operation->kind == OPERATION_WAIT ? name_wait(operation->wait.use) : "wait for program";
    }
    if (span->told)
        span->kind = KIND_COMMAND;
}

/* Its region ends with the last of its parts. */
static void end_span(struct trace *trace, uint32_t number, bool failed, int64_t now)
{
    struct span *span;

    if (number == 0)
        return;
    span = span_at(trace, number);
    span->end_ns = now;
    span->failed = failed;
    if (span->region)
        span_at(trace, span->region)->end_ns = now;
}

/* The spans of an operation and of the message that it closes. */
static void end_spans(struct trace *trace, struct operation *operation)
{
    int64_t now = clock_ns();

    end_span(trace, operation->span, operation->failure, now);
    end_span(trace, operation->message_span, operation->failure, now);
    operation->span = operation->message_span = 0;
}

static void begin_span(struct trace *trace, const struct operation *operation)
{
    struct span *span;

    if (!operation->span)
        return;
    span = span_at(trace, operation->span);
    if (span->begin_ns == 0)
        span->begin_ns = operation->kind == OPERATION_WRITE ? span->asked_ns : clock_ns();
    describe(operation, span);
}

/* Small submits end for this side when they leave, so they begin when they come. */
static void see_issued(struct observer *observer, struct operation *operation)
{
    begin_span(trace_of(observer), operation);
    if (operation->kind == OPERATION_WRITE)
        end_spans(trace_of(observer), operation);
}

static void see_ended(struct observer *observer, struct operation *operation)
{
    begin_span(trace_of(observer), operation); /* it may have ended before it was issued */
    end_spans(trace_of(observer), operation);
    if (operation->kind == OPERATION_MARK && operation->mark.completion)
        leave_region(operation->queue);
}

/* What this side saw moves to the commands; in its place comes what the worker did. */
static void see_ran(struct observer *observer, struct operation *operation, int64_t begin_ns,
                    int64_t end_ns)
{
    struct trace *trace = trace_of(observer);
    struct span *seen, *span;

    if (!operation->span || trace->clocks[operation->queue->device->peer->rank].first.within_ns < 0)
        return;
    if (!reserve(trace)) {
        trace->dropped++;
        return;
    }
    begin_span(trace, operation); /* all is known of it now */
    seen = span_at(trace, operation->span);
    span = &trace->spans[trace->count++];
    *span = *seen;
    span->of = operation->span;
    span->begin_ns = begin_ns;
    span->end_ns = end_ns;
    if (span->kind == KIND_COMMAND)
        span->kind = KIND_TRANSFER;
    seen->told = true;
    seen->kind = KIND_COMMAND;
}

/* A span that begins now; NULL: there is no room. */
static struct span *add_begun(struct trace *trace, const struct omprma_queue *queue, enum kind kind,
                              const char *name, uint32_t *number)
{
    int64_t now = clock_ns();

    *number = add(trace, queue, kind, name, now);
    if (!*number)
        return NULL;
    span_at(trace, *number)->begin_ns = now;
    return span_at(trace, *number);
}

static void see_sent(struct observer *observer, struct operation *last, uint32_t bytes)
{
    struct span *span =
        add_begun(trace_of(observer), last->queue, KIND_MESSAGE, "message", &last->message_span);

    if (span)
        span->bytes = bytes;
}

static void see_waits(struct observer *observer, struct omprma_queue *queue,
                      struct observed_wait *wait)
{
    add_begun(trace_of(observer), queue, KIND_WAIT, wait->what, &wait->span);
}

static void see_idle(struct observer *observer, struct omprma_queue *queue,
                     const struct observed_wait *wait)
{
    if (wait)
        end_span(trace_of(observer), wait->span, false, clock_ns());
    leave_region(queue);
}

/* ---- begin ---- */

omprma_status_t trace_open(struct runtime *runtime)
{
    struct trace *trace;

    if (!runtime->config.trace[0])
        return OMPRMA_OK;
    trace = calloc(1, sizeof(*trace));
    if (trace)
        trace->clocks = calloc((size_t)runtime->world.size, sizeof(*trace->clocks));
    if (!trace || !trace->clocks) {
        free(trace);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the trace");
    }
    trace->file = fopen(runtime->config.trace, "w");
    if (!trace->file) {
        free_trace(trace);
        return error_set(OMPRMA_ERR_CONFIG, "OMPRMA_TRACE: cannot write %s: %s",
                         runtime->config.trace, strerror(errno));
    }
    for (int rank = 0; rank < runtime->world.size; rank++)
        trace->clocks[rank].first.within_ns = trace->clocks[rank].last.within_ns = -1;
    trace->origin_ns = clock_ns();
    trace->processes = (uint32_t)runtime->device_count + 1;
    trace->observer = (struct observer){
        .each_step = true,
        .appended = see_appended,
        .issued = see_issued,
        .sent = see_sent,
        .ran = see_ran,
        .ended = see_ended,
        .waits = see_waits,
        .idle = see_idle,
    };
    runtime->trace = trace;
    trace_resume(runtime);
    return OMPRMA_OK;
}

void trace_pause(struct runtime *runtime)
{
    observer_remove(&runtime->observers, &runtime->trace->observer);
}

void trace_resume(struct runtime *runtime)
{
    observer_add(&runtime->observers, &runtime->trace->observer);
}

/* ---- tracks ---- */

/* What does not overlap shares a track, so that nothing on it has to nest. */
struct track {
    int device;
    enum kind kind;
    uint32_t number; /* among those of the same device and kind, from 0 */
    int64_t end_ns;
    uint32_t next; /* of the same device and kind; 0: none */
};

struct tracks {
    uint32_t count, capacity;
    struct track *track;
    uint32_t *first; /* by device and kind; 0: none */
};

static bool add_track(struct tracks *tracks, const struct track *track)
{
    uint32_t capacity = tracks->capacity ? 2 * tracks->capacity : 64;

    if (tracks->count == tracks->capacity) {
        struct track *more = realloc(tracks->track, capacity * sizeof(*more));

        if (!more)
            return false;
        tracks->track = more;
        tracks->capacity = capacity;
    }
    tracks->track[tracks->count++] = *track;
    return true;
}

/* Regions of all devices stand together, and count as of device -1. */
static int device_of(const struct span *span)
{
    return span->kind == KIND_REGION ? -1 : span->device;
}

/* In the order of their beginnings. False: no memory. */
static bool find_track(struct tracks *tracks, struct span *span)
{
    uint32_t *first = &tracks->first[(device_of(span) + 1) * KINDS + span->kind];
    uint32_t at = *first, last = 0, number = 0;

    for (; at; at = tracks->track[at - 1].next) {
        struct track *track = &tracks->track[at - 1];

        if (track->end_ns + APART_NS < span->begin_ns) {
            track->end_ns = span->end_ns;
            span->track = at;
            return true;
        }
        last = at;
        number++;
    }
    if (!add_track(tracks, &(struct track){.device = device_of(span),
                                           .kind = span->kind,
                                           .number = number,
                                           .end_ns = span->end_ns}))
        return false;
    span->track = tracks->count;
    *(last ? &tracks->track[last - 1].next : first) = span->track;
    return true;
}

/* ---- writing ---- */

/* What a line of the file is about; of one moment in this order. */
enum moment_kind { MOMENT_SPAN, MOMENT_ARROW, MOMENT_ARROW_END };

struct moment {
    int64_t at_ns;
    enum moment_kind kind;
    uint32_t span;
};

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->span < y->span ? -1 : x->span > y->span;
}

/* No JSON library, because this code runs inside the user's program, which may carry another
 * version of one. */
static void write_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned char)*text);
        else
            putc(*text, file);
}

static void write_function(FILE *file, const struct kernel_name *name)
{
    char function[512];

    snprintf(function, sizeof(function), "%.*s", (int)name->bytes, name->function);
    write_text(file, function);
}

/* "saxpy.c:42", or "main:42" where the file is not known; kernels that are no target regions as
 * they are called. */
static void write_name(const struct trace *trace, const char *symbol)
{
    const char *source, *base;
    struct kernel_name name;

    if (!kernel_name_split(symbol, &name)) {
        write_text(trace->file, symbol);
        return;
    }
    source = source_of(trace, symbol);
    base = source ? strrchr(source, '/') : NULL;
    if (source)
        write_text(trace->file, base ? base + 1 : source);
    else
        write_function(trace->file, &name);
    fprintf(trace->file, ":%d", name.line);
}

/* The symbol, and what it says. */
static void write_kernel(const struct trace *trace, const char *symbol)
{
    const char *source = source_of(trace, symbol);
    struct kernel_name name;

    fprintf(trace->file, ",\"kernel\":\"");
    write_text(trace->file, symbol);
    if (kernel_name_split(symbol, &name)) {
        fprintf(trace->file, "\",\"function\":\"");
        write_function(trace->file, &name);
    }
    if (source) {
        fprintf(trace->file, "\",\"source\":\"");
        write_text(trace->file, source);
        fprintf(trace->file, ":%d", name.line);
    }
    fprintf(trace->file, "\"");
}

/* Process 1 stands for the program; those of devices follow. */
static int process_of(int device)
{
    return device + 2;
}

/* Some readers take a thread and a process of the same number for the same thing. */
static uint32_t thread_of(const struct trace *trace, uint32_t track)
{
    return trace->processes + track;
}

static void write_place(const struct trace *trace, const struct span *span, int64_t at_ns)
{
    int64_t ns = at_ns - trace->origin_ns;

    fprintf(trace->file, ",\"pid\":%d,\"tid\":%u,\"ts\":%lld.%03lld", process_of(device_of(span)),
            thread_of(trace, span->track), (long long)(ns / 1000), (long long)(ns % 1000));
}

static void write_span(const struct trace *trace, const struct span *span)
{
    FILE *file = trace->file;
    int64_t ns = span->end_ns - span->begin_ns;

    fprintf(file, ",\n{\"name\":\"");
    write_name(trace, span->name);
    fprintf(file, "\",\"cat\":\"%s\",\"ph\":\"X\"", kind_names[span->kind]);
    write_place(trace, span, span->begin_ns);
    fprintf(file, ",\"dur\":%lld.%03lld,\"args\":{\"queue\":%u", (long long)(ns / 1000),
            (long long)(ns % 1000), span->queue);
    if (span->kind == KIND_REGION)
        fprintf(file, ",\"device\":%d,\"launches\":%u", span->device, span->launches);
    if (span->kind == KIND_KERNEL)
        write_kernel(trace, span->name);
    if (span->of || span->told)
        fprintf(file, ",\"seen\":\"%s\"", span->of ? "worker" : "program");
    if (span->path)
        fprintf(file, ",\"path\":\"%s\"", span->path);
    if (span->bytes)
        fprintf(file, ",\"bytes\":%llu", (unsigned long long)span->bytes);
    if (span->with >= 0)
        fprintf(file, ",\"with\":%d", span->with);
    fprintf(file, "%s}}", span->failed ? ",\"failed\":true" : "");
}

/* From the moment when the part was asked for, in its region, to its beginning. */
static void write_arrow(const struct trace *trace, const struct moment *moment)
{
    const struct span *part = span_at(trace, moment->span);
    bool ends = moment->kind == MOMENT_ARROW_END;

    fprintf(trace->file, ",\n{\"name\":\"part\",\"cat\":\"part\",\"ph\":\"%s\",\"id\":%u",
            ends ? "f\",\"bp\":\"e" : "s", moment->span);
    write_place(trace, ends ? part : span_at(trace, part->region), moment->at_ns);
    fprintf(trace->file, "}");
}

/* Of another clock. */
static void write_clock(const struct runtime *runtime, int device)
{
    const struct clocks *clocks = &runtime->trace->clocks[runtime->devices[device]->peer->rank];
    int64_t first = clocks->first.within_ns, last = clocks->last.within_ns;

    if (first < 0 || (clocks->first.ahead_ns == 0 && clocks->last.ahead_ns == 0))
        return;
    fprintf(
        runtime->trace->file,
        ",\n{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"labels\":\"its clock "
        "brought to the program's to within %lld us\"}}",
        process_of(device), (long long)((first > last ? first : last) / 1000 + 1));
}

static void write_process(const struct runtime *runtime, int device)
{
    FILE *file = runtime->trace->file;
    const char *comma = device < 0 ? "" : ",";

    fprintf(file, "%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"",
            comma, process_of(device));
    write_text(file, device < 0 ? "program" : device_name(runtime->devices[device]));
    fprintf(file,
            "\"}},\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%d,\"args\":{"
            "\"sort_index\":%d}}",
            process_of(device), process_of(device));
    if (device >= 0)
        write_clock(runtime, device);
}

static void write_track(const struct trace *trace, uint32_t at, const struct track *track)
{
    FILE *file = trace->file;
    uint32_t tid = thread_of(trace, at);
    int pid = process_of(track->device);
    char number[16] = "";

    if (track->number)
        snprintf(number, sizeof(number), " %u", track->number + 1);
    fprintf(file,
            ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":"
            "\"%ss%s\"}}",
            pid, tid, kind_names[track->kind], number);
    fprintf(file,
            ",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":%d,\"tid\":%u,\"args\":{"
            "\"sort_index\":%u}}",
            pid, tid, (uint32_t)track->kind << 20 | track->number);
}

/* By this side's clock. However exact that is, it lies between what this side saw. */
static void place_told(const struct runtime *runtime, struct span *span)
{
    const struct trace *trace = runtime->trace;
    const struct span *seen = span_at(trace, span->of);
    const struct clocks *clocks = &trace->clocks[runtime->devices[span->device]->peer->rank];
    int64_t begin = bring_over(clocks, span->begin_ns), end = bring_over(clocks, span->end_ns);
    int64_t early = seen->begin_ns - begin, late = end - seen->end_ns;
    int64_t shift = early > 0 ? early : late > 0 ? -late : 0;

    begin += shift;
    end += shift;
    span->begin_ns = begin > seen->begin_ns ? begin : seen->begin_ns;
    span->end_ns = end < seen->end_ns ? end : seen->end_ns;
    span->failed = seen->failed;
    if (span->end_ns < span->begin_ns)
        span->end_ns = span->begin_ns;
}

/* What has begun and is not over ends now; what was not issued is left out. Arrows that leave
 * before a region that is not kept are too. Returns how many moments there are. */
static uint32_t list_moments(const struct runtime *runtime, struct moment *moments)
{
    struct trace *trace = runtime->trace;
    int64_t now = clock_ns();
    uint32_t count = 0;

    for (uint32_t i = 1; i <= trace->count; i++) {
        struct span *span = span_at(trace, i);

        if (span->begin_ns && !span->end_ns)
            end_span(trace, i, false, now);
        if (!span->begin_ns)
            continue;
        if (span->of)
            place_told(runtime, span);
        moments[count++] = (struct moment){span->begin_ns, MOMENT_SPAN, i};
        if (!span->region)
            continue;
        moments[count++] = (struct moment){span->asked_ns, MOMENT_ARROW, i};
        moments[count++] = (struct moment){span->begin_ns, MOMENT_ARROW_END, i};
    }
    qsort(moments, count, sizeof(*moments), compare_moments);
    return count;
}

static bool find_tracks(const struct trace *trace, const struct moment *moments, uint32_t count,
                        struct tracks *tracks)
{
    for (uint32_t i = 0; i < count; i++)
        if (moments[i].kind == MOMENT_SPAN && !find_track(tracks, span_at(trace, moments[i].span)))
            return false;
    return true;
}

static void write_all(const struct runtime *runtime, const struct moment *moments, uint32_t count,
                      const struct tracks *tracks)
{
    const struct trace *trace = runtime->trace;

    fprintf(trace->file, "{\"traceEvents\":[");
    for (int device = -1; device < runtime->device_count; device++)
        write_process(runtime, device);
    for (uint32_t i = 0; i < tracks->count; i++)
        write_track(trace, i + 1, &tracks->track[i]);
    for (uint32_t i = 0; i < count; i++)
        if (moments[i].kind == MOMENT_SPAN)
            write_span(trace, span_at(trace, moments[i].span));
        else
            write_arrow(trace, &moments[i]);
    fprintf(trace->file, "\n],\"displayTimeUnit\":\"ns\"}\n");
}

static void write_file(const struct runtime *runtime)
{
    struct trace *trace = runtime->trace;
    size_t lists = ((size_t)runtime->device_count + 1) * KINDS;
    struct tracks tracks = {.first = calloc(lists, sizeof(*tracks.first))};
    struct moment *moments = calloc(3 * (size_t)trace->count + 1, sizeof(*moments));
    uint32_t count = moments ? list_moments(runtime, moments) : 0;

    if (tracks.first && moments && find_tracks(trace, moments, count, &tracks))
        write_all(runtime, moments, count, &tracks);
    else
        log_write(LOG_ERROR, "trace: no memory to write %u spans", trace->count);
    free(moments);
    free(tracks.first);
    free(tracks.track);
}

void trace_close(struct runtime *runtime)
{
    struct trace *trace = runtime->trace;

    if (!trace)
        return;
    trace_pause(runtime);
    write_file(runtime);
    if (trace->dropped)
        log_write(LOG_ERROR, "trace: %llu spans after the first %u were not kept",
                  (unsigned long long)trace->dropped, trace->count);
    if (fclose(trace->file) != 0)
        log_write(LOG_ERROR, "trace: writing %s failed: %s", runtime->config.trace,
                  strerror(errno));
    free_trace(trace);
    runtime->trace = NULL;
}
