/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * record.c: whoever waits for a small region waits for what is done here, so the clock is read once
 * when something is appended and once when it ends; what is between costs nothing while the worker
 * runs. Names of kernels are looked up once for each, and kept in a small table by their address.
 */
#include "host/report/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/kernel_name.h"
#include "base/kernel_source.h"
#include "base/log.h"
#include "host/device/kernel_names.h"
#include "host/queue/queue.h"
#include "host/report/outfile.h"
#include "host/report/details.h"
#include "host/report/report.h"

enum { NAMES = 4096 /* that are found at once */, KERNELS = 4096, SOURCE_BYTES = 512 };

/* A text by what it was made of: an address that does not change, of a device or of this program.
 */
struct known_name {
    uint64_t key;
    uint32_t device, text;
};

struct recorder {
    struct observer observer; /* the first member */
    struct recording *recording;
    int64_t ended_ns; /* when something ended last */
    uint32_t free_count;
    uint32_t free[RECORDING_OPEN];
    struct known_name names[NAMES];
    uint32_t kernel_count;
    uint32_t kernels[KERNELS]; /* texts */
};

static struct recorder *recorder_of(struct observer *observer)
{
    return (struct recorder *)observer; /* its first member */
}

/* ---- names ---- */

static struct known_name *find_known(struct recorder *recorder, uint64_t key, uint32_t device)
{
    return &recorder->names[(key / 16 + key / 4096 + device) % NAMES];
}

/* Of a text that does not change. */
static uint32_t name_text(struct recorder *recorder, const char *text)
{
    uint64_t key = (uint64_t)(uintptr_t)text;
    struct known_name *known = find_known(recorder, key, UINT32_MAX);

    if (known->key != key || known->device != UINT32_MAX)
        *known = (struct known_name){key, UINT32_MAX, recording_text(recorder->recording, text)};
    return known->text;
}

/* With its source file, or "", behind it. */
static uint32_t make_kernel(struct recorder *recorder, const char *symbol)
{
    char source[SOURCE_BYTES];
    struct kernel_name name;
    uint32_t text = recording_text(recorder->recording, symbol);

    if (!kernel_name_split(symbol, &name) || !kernel_source_find(&name, source, sizeof(source)))
        source[0] = '\0';
    if (text && !recording_text(recorder->recording, source))
        return 0;
    if (text && recorder->kernel_count < KERNELS)
        recorder->kernels[recorder->kernel_count++] = text;
    return text;
}

/* The images that it belongs to may be gone at the end, and other processes do not have them. */
static uint32_t keep_kernel(struct recorder *recorder, const char *symbol)
{
    for (uint32_t i = 0; i < recorder->kernel_count; i++)
        if (strcmp(recording_words(recorder->recording, recorder->kernels[i]), symbol) == 0)
            return recorder->kernels[i];
    return make_kernel(recorder, symbol);
}

static uint32_t name_kernel(struct recorder *recorder, const struct operation *launch)
{
    const struct device *device = launch->queue->device;
    uint64_t key = launch->command.entry;
    uint32_t number = (uint32_t)device->number;
    struct known_name *known = find_known(recorder, key, number);

    if (known->key != key || known->device != number)
        *known = (struct known_name){
            key, number, keep_kernel(recorder, kernel_names_find(device, launch->command.entry))};
    return known->text;
}

/* ---- spans that are open ---- */

static struct span *span_at(const struct recorder *recorder, uint32_t slot)
{
    return &recorder->recording->open[slot - 1];
}

/* The slot of a new span, 0 if there is none. */
static uint32_t open_span(struct recorder *recorder, const struct omprma_queue *queue,
                          enum span_kind kind, int64_t now)
{
    struct recording *recording = recorder->recording;
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

    if (recorder->recording->traces)
        recording_keep(recorder->recording, span);
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
        recording_count(recorder->recording, region);
        close_span(recorder, queue->observed.region);
    }
    queue->observed = (struct observed_queue){0};
}

static uint64_t memory_in_use(const struct device *device)
{
    struct allocator_usage usage;

    allocator_usage(device->allocator, &usage);
    return usage.used_bytes;
}

static void enter_region(struct recorder *recorder, struct omprma_queue *queue, bool was_idle,
                         int64_t now)
{
    struct span *region;
    uint32_t slot;

    if (was_idle && queue->observed.launched)
        leave_region(recorder, queue);
    if (queue->observed.region || !queue->is_programs)
        return;
    slot = open_span(recorder, queue, SPAN_REGION, now);
    if (!slot)
        return;
    region = span_at(recorder, slot);
    region->name = name_text(recorder, "data");
    region->begin_ns = now;
    if (recorder->recording->traces)
        region->memory = memory_in_use(queue->device);
    queue->observed.region = slot;
    queue->observed.number = region->number;
}

static void name_launch(struct recorder *recorder, const struct operation *launch)
{
    uint32_t name = name_kernel(recorder, launch);
    struct span *region = region_of_queue(recorder, launch->queue);

    recorder->recording->device[launch->queue->device->number].stats.launches++;
    if (launch->span)
        span_at(recorder, launch->span)->name = name;
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

static bool is_launch(const struct operation *operation)
{
    return operation->kind == OPERATION_COMMAND &&
           (operation->command.code == WIRE_LAUNCH || operation->command.code == WIRE_REGION);
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
    enter_region(recorder, queue, was_idle, now);
    operation->region = queue->observed.region;
    operation->region_number = queue->observed.number;
    region = region_of_queue(recorder, queue);
    if (region)
        region->pending++;
    if (recorder->recording->traces)
        operation->span = open_span(recorder, queue, SPAN_COMMAND, now);
    if (is_launch(operation))
        name_launch(recorder, operation);
}

static void describe_command(struct recorder *recorder, const struct operation *operation,
                             struct span *span)
{
    static const char *const names[WIRE_COMMAND_END] = {
        [WIRE_GROW] = "attach arena", [WIRE_LOAD] = "load image", [WIRE_WAIT] = "wait in worker"};
    uint16_t code = operation->command.code;

    if (is_launch(operation)) {
        span->kind = SPAN_KERNEL;
        if (operation->fills_host)
            span->back = operation->host_bytes;
        return;
    }
    if (code == WIRE_WAIT)
        span->kind = SPAN_WAIT;
    span->name = name_text(recorder, code < WIRE_COMMAND_END && names[code] ? names[code]
                                                                            : wire_code_name(code));
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
        span->name = name_text(recorder, data_names[operation->data]);
        span->path = name_text(recorder, operation->by->name);
        *(operation->data == DATA_SUBMIT ? &span->to : &span->back) = operation->device_bytes;
    } else if (operation->kind == OPERATION_COMMAND) {
        describe_command(recorder, operation, span);
    } else if (operation->kind == OPERATION_WRITE) { /* the only one without data */
        span->name = name_text(recorder, "reset");
    } else {
        span->kind = SPAN_WAIT;
        span->name = name_text(recorder, name_wait(operation));
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

    if (region) {
        region->end_ns = recorder->ended_ns;
        region->failed |= operation->failure != NULL;
        region->pending--;
    }
    operation->region = 0;
    if (!operation->span)
        return;
    span_at(recorder, operation->span)->end_ns = recorder->ended_ns;
    span_at(recorder, operation->span)->failed = operation->failure;
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

static void see_ran(struct observer *observer, struct operation *operation, int64_t begin_ns,
                    int64_t end_ns)
{
    struct recorder *recorder = recorder_of(observer);
    struct span *span;

    if (!operation->span ||
        recorder->recording->device[operation->queue->device->number].first.within_ns < 0)
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

static void see_carried(struct observer *observer, const struct carried *carried)
{
    struct recorder *recorder = recorder_of(observer);
    const struct omprma_queue *queue = carried->queue;
    struct span *region = region_of_queue(recorder, queue);
    struct stats_cell *cell = &recorder->recording->device[queue->device->number]
                                   .stats.cell[carried->kind][carried->path];

    cell->operations++;
    cell->bytes += carried->bytes;
    cell->ns += carried->ns;
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
    region->wait_ns = wait->begin_ns;
    region->thread = own_thread();
}

/* A wait is over when what it was for ended last. */
static void see_idle(struct observer *observer, struct omprma_queue *queue,
                     const struct observed_wait *wait)
{
    struct recorder *recorder = recorder_of(observer);
    struct span *region = region_of_queue(recorder, queue);

    if (region && wait && wait->begin_ns && recorder->ended_ns > wait->begin_ns)
        region->waited_ns += recorder->ended_ns - wait->begin_ns;
    leave_region(recorder, queue);
}

/* ---- begin and end ---- */

struct recording *recording_of(const struct runtime *runtime)
{
    return runtime->recorder ? runtime->recorder->recording : NULL;
}

const struct stats *stats_of(const struct runtime *runtime, int device)
{
    return &runtime->recorder->recording->device[device].stats;
}

void record_clock(struct runtime *runtime, int rank, const struct trace_clock *clock)
{
    for (int i = 0; i < runtime->device_count; i++) {
        struct recorded_device *device = &runtime->recorder->recording->device[i];

        if (runtime->devices[i]->peer->rank != rank)
            continue;
        if (device->first.within_ns < 0)
            device->first = *clock;
        if (clock->within_ns >= 0)
            device->last = *clock;
    }
}

void record_pause(struct runtime *runtime)
{
    observer_remove(&runtime->observers, &runtime->recorder->observer);
}

void record_resume(struct runtime *runtime)
{
    observer_add(&runtime->observers, &runtime->recorder->observer);
}

/* Its pages are there when they are used. */
static struct recording *make_own(int devices)
{
    struct recording *own = mmap(NULL, recording_bytes(devices), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (own == MAP_FAILED)
        return NULL;
    recording_make(own, devices);
    return own;
}

static void describe_devices(const struct runtime *runtime, struct recording *recording)
{
    for (int i = 0; i < runtime->device_count; i++) {
        struct recorded_device *device = &recording->device[i];

        device->name = recording_text(recording, device_name(runtime->devices[i]));
        device->host = recording_text(recording, runtime->devices[i]->peer->hello.host);
        device->first.within_ns = device->last.within_ns = -1;
    }
    recording->choice = recording_text(recording, runtime->choice);
    recording->program = recording_text(recording, program_invocation_name);
    recording->origin_ns = clock_ns();
    recording->launch_ns = runtime->times.launch ? runtime->times.launch : recording->origin_ns;
    recording->device_count = runtime->device_count;
}

omprma_status_t record_open(struct runtime *runtime, struct recording *shared)
{
    struct recorder *recorder;
    bool traces = runtime->config.trace[0];

    if (!report_is_wanted(&runtime->config))
        return OMPRMA_OK;
    if (!shared && report_try(&runtime->config) != OMPRMA_OK)
        return OMPRMA_ERR_CONFIG;
    recorder = calloc(1, sizeof(*recorder));
    if (shared && shared->devices_most < runtime->device_count)
        shared = NULL;
    if (recorder)
        recorder->recording = shared ? shared : make_own(runtime->device_count);
    if (!recorder || !recorder->recording) {
        free(recorder);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to record what the program does");
    }
    recorder->recording->shared = shared != NULL;
    recorder->recording->traces = traces;
    for (uint32_t i = RECORDING_OPEN; i > 0; i--)
        recorder->free[recorder->free_count++] = i;
    describe_devices(runtime, recorder->recording);
    recorder->observer = (struct observer){
        .appended = see_appended,
        .issued = traces ? see_issued : NULL,
        .sent = traces ? see_sent : NULL,
        .ran = traces ? see_ran : NULL,
        .ended = see_ended,
        .waits = see_waits,
        .idle = see_idle,
        .carried = see_carried,
    };
    runtime->recorder = recorder;
    recorder->recording->begun = 1;
    record_resume(runtime);
    return OMPRMA_OK;
}

/* Without omprma-run. */
static void report_own(struct recorder *recorder, const struct config *config)
{
    if (recorder->recording->shared)
        return;
    recording_close(recorder->recording, clock_ns());
    report_all(recorder->recording, config);
    munmap(recorder->recording, recorder->recording->bytes);
}

void record_close(struct runtime *runtime)
{
    struct recorder *recorder = runtime->recorder;

    if (!recorder)
        return;
    record_pause(runtime);
    details_add(runtime, recorder->recording);
    recorder->recording->end_ns = clock_ns();
    report_own(recorder, &runtime->config);
    free(recorder);
    runtime->recorder = NULL;
}
