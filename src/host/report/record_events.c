/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * record_events.c: whoever waits for a small region waits for what is done here, so the clock is
 * read once when something is appended and once when it ends; a thread that waits reads it while
 * the worker runs.
 */
#include "host/report/record_events.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/queue/queue.h"

static struct recorder *recorder_of(struct observer *observer)
{
    return (struct recorder *)observer; /* its first member */
}

/* ---- spans that are open ---- */

static struct span *span_at(const struct recorder *recorder, uint32_t slot)
{
    return &recorder->names.recording->open[slot - 1];
}

/* The slot of a new span, 0 if there is none. */
static uint32_t open_span(struct recorder *recorder, const struct omprma_queue *queue,
                          enum span_kind kind, int64_t now)
{
    struct recording *recording = recorder->names.recording;
    uint32_t slot;
    struct span *span;

    if (recorder->free_count == 0) {
        recording->missed++;
        return 0;
    }
    slot = recorder->free[--recorder->free_count];
    span = span_at(recorder, slot);
    *span = (struct span){.kind = kind,
                          .device = (uint32_t)queue->device->number,
                          .queue = queue->number,
                          .region = queue->observed.number,
                          .slot = queue->observed.region,
                          .with = -1,
                          .asked_ns = now};
    span->number = ++recording->spans ? recording->spans : ++recording->spans;
    return slot;
}

static void close_span(struct recorder *recorder, uint32_t slot)
{
    struct span *span = span_at(recorder, slot);

    if (recorder->names.recording->traces)
        recording_keep(recorder->names.recording, span);
    span->number = 0;
    recorder->free[recorder->free_count++] = slot;
}

/* ---- regions ---- */

/* NULL: it is over, or not known. */
static struct span *find_region(const struct recorder *recorder, uint32_t slot, uint32_t number)
{
    struct span *region = slot ? span_at(recorder, slot) : NULL;

    return region && region->number == number ? region : NULL;
}

static struct span *region_of_queue(const struct recorder *recorder,
                                    const struct omprma_queue *queue)
{
    return find_region(recorder, queue->observed.region, queue->observed.number);
}

/* What is appended from now on belongs to another region. A subqueue leaves that of its parent. */
static void leave_region(struct recorder *recorder, struct omprma_queue *queue)
{
    struct span *region = region_of_queue(recorder, queue);

    if (region && queue->is_programs) {
        if (!region->end_ns)
            region->end_ns = region->begin_ns;
        recording_count(recorder->names.recording, region);
        close_span(recorder, queue->observed.region);
    }
    queue->observed = (struct observed_queue){.ended = queue->observed.ended};
}

static uint64_t memory_in_use(const struct device *device)
{
    struct allocator_usage usage;

    allocator_usage(device->memory->allocator, &usage);
    return usage.used_bytes;
}

/* It is a retrieve, or the worker's part of one. */
static bool brings_back(const struct operation *operation)
{
    return operation->fills_host || operation->kind == OPERATION_READ ||
           (operation->kind == OPERATION_COMMAND && operation->command.code == WIRE_SEND);
}

/* What comes back behind a launch is of the same region, however early that has ended. */
static void enter_region(struct recorder *recorder, const struct operation *operation,
                         bool was_idle, int64_t now)
{
    struct omprma_queue *queue = operation->queue;
    struct span *region;
    uint32_t slot;

    if (was_idle && queue->observed.launched && !brings_back(operation))
        leave_region(recorder, queue);
    if (queue->observed.region || !queue->is_programs)
        return;
    slot = open_span(recorder, queue, SPAN_REGION, now);
    if (!slot)
        return;
    region = span_at(recorder, slot);
    region->name = recorded_text(&recorder->names, "data");
    region->begin_ns = now;
    if (recorder->names.recording->traces)
        region->memory = memory_in_use(queue->device);
    queue->observed.region = slot;
    queue->observed.number = region->number;
}

static void name_launch(struct recorder *recorder, const struct operation *launch)
{
    uint32_t name = recorded_kernel(&recorder->names, launch);
    struct span *region = region_of_queue(recorder, launch->queue);

    if (launch->span)
        span_at(recorder, launch->span)->name = name;
    if (!recorded_is_programs(&recorder->names, name))
        return;
    recorder->names.recording->device[launch->queue->device->number].stats.launches++;
    if (region && region->launches++ == 0)
        region->name = name;
    launch->queue->observed.launched = true;
}

/* ---- operations ---- */

/* A span stands for what ends with the data: of a two-sided submit the command. */
static bool has_span(const struct operation *operation)
{
    return operation->kind != OPERATION_MARK &&
           (!operation_has_command(operation) || operation->fills_host);
}

static void see_appended(struct observer *observer, struct operation *operation, bool was_idle)
{
    struct recorder *recorder = recorder_of(observer);
    struct omprma_queue *queue = operation->queue;
    struct span *region;
    int64_t now;

    if (!has_span(operation))
        return;
    now = clock_ns();
    enter_region(recorder, operation, was_idle, now);
    operation->region = queue->observed.region;
    operation->region_number = queue->observed.number;
    region = region_of_queue(recorder, queue);
    if (region)
        region->pending++;
    if (recorder->names.recording->traces)
        operation->span = open_span(recorder, queue, SPAN_COMMAND, now);
    if (operation_is_launch(operation))
        name_launch(recorder, operation);
}

static void describe_command(struct recorder *recorder, const struct operation *operation,
                             struct span *span)
{
    static const char *const names[WIRE_COMMAND_END] = {
        [WIRE_GROW] = "attach arena", [WIRE_LOAD] = "load image", [WIRE_WAIT] = "wait in worker"};
    uint16_t code = operation->command.code;

    if (operation_is_launch(operation)) {
        span->kind = SPAN_KERNEL;
        if (operation->fills_host)
            span->back = operation->host_bytes;
        return;
    }
    if (code == WIRE_WAIT)
        span->kind = SPAN_WAIT;
    span->name =
        recorded_text(&recorder->names,
                      code < WIRE_COMMAND_END && names[code] ? names[code] : wire_code_name(code));
}

static const char *name_wait(const struct operation *operation)
{
    if (operation->kind != OPERATION_WAIT)
        return "wait for program";
    return operation->wait.use == WAIT_EVENT      ? "wait for event"
           : operation->wait.use == WAIT_EXCHANGE ? "wait for exchange"
                                                  : "wait for order";
}

/* When it is issued all is known of it. */
static void describe(struct recorder *recorder, const struct operation *operation,
                     struct span *span)
{
    if (operation->with)
        span->with = operation->with->number;
    if (operation->by) {
        span->kind = SPAN_TRANSFER;
        span->name = recorded_text(&recorder->names, data_names[operation->data]);
        span->path = recorded_text(&recorder->names, operation->by->name);
        *(operation->data == DATA_SUBMIT ? &span->to : &span->back) = operation->device_bytes;
    } else if (operation->kind == OPERATION_COMMAND) {
        describe_command(recorder, operation, span);
    } else if (operation->kind == OPERATION_WRITE) { /* the only one without data */
        span->name = recorded_text(&recorder->names, "reset");
    } else {
        span->kind = SPAN_WAIT;
        span->name = recorded_text(&recorder->names, name_wait(operation));
    }
}

/* Of commands the worker tells. Whoever waits for them waits for this, too, so there is no look at
 * the clock. */
static void begin_span(struct recorder *recorder, const struct operation *operation)
{
    struct span *span;

    if (!operation->span)
        return;
    span = span_at(recorder, operation->span);
    if (span->begin_ns)
        return;
    span->begin_ns = operation_is_command(operation) ? span->asked_ns : clock_ns();
    describe(recorder, operation, span);
}

/* Its region ends with the last of its parts. */
static void end_part(struct recorder *recorder, struct operation *operation)
{
    struct span *region = find_region(recorder, operation->region, operation->region_number);
    struct span *span;

    if (region) {
        region->end_ns = recorder->ended_ns;
        region->failed |= operation->failure != NULL;
        region->pending--;
    }
    operation->region = 0;
    if (!operation->span)
        return;
    span = span_at(recorder, operation->span);
    span->end_ns = recorder->ended_ns;
    span->failed = operation->failure;
    if (operation->kind == OPERATION_WAIT)
        span->after = operation->wait.target->queue->observed.ended;
    else
        operation->queue->observed.ended = span->number;
    close_span(recorder, operation->span);
    operation->span = 0;
}

/* Small submits end for this side when they leave. */
static void see_issued(struct observer *observer, struct operation *operation)
{
    struct recorder *recorder = recorder_of(observer);

    begin_span(recorder, operation);
    if (operation->kind != OPERATION_WRITE || !operation->region)
        return;
    recorder->ended_ns = clock_ns();
    end_part(recorder, operation);
}

static void see_ended(struct observer *observer, struct operation *operation)
{
    struct recorder *recorder = recorder_of(observer);

    if (operation->region || operation->span) {
        recorder->ended_ns = clock_ns();
        begin_span(recorder, operation); /* it may have ended before it was issued */
        end_part(recorder, operation);
    }
    if (operation->kind == OPERATION_MARK && operation->mark.completion)
        leave_region(recorder, operation->queue);
}

/* As long as it took, whatever the worker's clock says. */
static void count_kernel(const struct recorder *recorder, const struct operation *operation,
                         int64_t ns)
{
    struct span *region = find_region(recorder, operation->region, operation->region_number);

    if (!operation_is_launch(operation) || ns < 0)
        return;
    recorder->names.recording->device[operation->queue->device->number].kernel_ns += ns;
    if (region)
        region->kernel_ns += ns;
}

static void see_ran(struct observer *observer, struct operation *operation, int64_t begin_ns,
                    int64_t end_ns)
{
    struct recorder *recorder = recorder_of(observer);
    struct span *span;

    count_kernel(recorder, operation, end_ns - begin_ns);
    if (!operation->span ||
        recorder->names.recording->device[operation->queue->device->number].first.within_ns < 0)
        return;
    span = span_at(recorder, operation->span);
    span->ran_ns = begin_ns;
    span->ran_end_ns = end_ns;
}

static void see_sent(struct observer *observer, struct operation *last, uint32_t bytes)
{
    if (last->span)
        span_at(recorder_of(observer), last->span)->message = bytes;
}

/* Some data of the region was on its way for so long, until now. Transfers overlap. */
static void cover_data(struct span *region, int64_t ns)
{
    int64_t now = clock_ns(), from = now - ns;

    if (from < region->data_to_ns)
        from = region->data_to_ns;
    if (from < region->begin_ns)
        from = region->begin_ns;
    region->data_ns += now - from;
    region->data_to_ns = now;
}

static void see_carried(struct observer *observer, const struct carried *carried)
{
    struct recorder *recorder = recorder_of(observer);
    const struct omprma_queue *queue = carried->queue;
    struct span *region = region_of_queue(recorder, queue);
    struct stats_cell *cell = &recorder->names.recording->device[queue->device->number]
                                   .stats.cell[carried->kind][carried->path];

    cell->operations++;
    cell->bytes += carried->bytes;
    cell->ns += carried->ns;
    cell->timed_bytes += carried->ns ? carried->bytes : 0;
    if (carried->to) {
        struct stats_cell *given = &recorder->names.recording->device[carried->to->number].given;
        given->operations++;
        given->bytes += carried->bytes;
    }
    if (region && carried->ns > 0)
        cover_data(region, carried->ns);
    if (region && carried->kind == DATA_SUBMIT)
        region->to += carried->bytes;
    if (region && carried->kind == DATA_RETRIEVE)
        region->back += carried->bytes;
}

/* ---- waits ---- */

static uint32_t own_thread(void)
{
    static _Thread_local uint32_t thread;

    if (!thread)
        thread = (uint32_t)gettid();
    return thread;
}

/* Of a queue in which nothing is there is no region, and no wait. */
static void see_waits(struct observer *observer, struct omprma_queue *queue,
                      struct observed_wait *wait)
{
    struct span *region = region_of_queue(recorder_of(observer), queue);

    if (!region)
        return;
    wait->begin_ns = clock_ns();
    region->waits_ns = wait->begin_ns;
    if (!region->wait_ns)
        region->wait_ns = wait->begin_ns;
    region->thread = own_thread();
}

/* A wait is over when what it was for ended last. */
static void see_waited(struct observer *observer, struct omprma_queue *queue,
                       const struct observed_wait *wait)
{
    const struct recorder *recorder = recorder_of(observer);
    struct span *region = region_of_queue(recorder, queue);

    if (!region)
        return;
    region->waits_ns = 0;
    if (wait->begin_ns && recorder->ended_ns > wait->begin_ns)
        region->waited_ns += recorder->ended_ns - wait->begin_ns;
}

static void see_idle(struct observer *observer, struct omprma_queue *queue)
{
    leave_region(recorder_of(observer), queue);
}

/* ---- begin ---- */

void record_events_begin(struct recorder *recorder)
{
    bool traces = recorder->names.recording->traces;

    for (uint32_t i = RECORDING_OPEN; i > 0; i--)
        recorder->free[recorder->free_count++] = i;
    recorder->observer = (struct observer){
        .appended = see_appended,
        .issued = see_issued,
        .sent = traces ? see_sent : NULL,
        .ran = see_ran,
        .ended = see_ended,
        .waits = see_waits,
        .waited = see_waited,
        .idle = see_idle,
        .carried = see_carried,
    };
}
