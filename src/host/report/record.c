/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * record.c: without omprma-run the memory is this process's own, and what is made of it is made
 * here.
 */
#include "host/report/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "control/direct/local_rank.h"
#include "host/core/device.h"
#include "host/report/chains.h"
#include "host/report/details.h"
#include "host/report/record_events.h"
#include "report/report.h"

struct recording *recording_of(const struct runtime *runtime)
{
    return runtime->recorder ? runtime->recorder->names.recording : NULL;
}

const struct stats *stats_of(const struct runtime *runtime, int device)
{
    return &runtime->recorder->names.recording->device[device].stats;
}

void record_clock(struct runtime *runtime, int rank, const struct trace_clock *clock)
{
    for (int i = 0; i < runtime->device_count; i++) {
        struct recorded_device *device = &runtime->recorder->names.recording->device[i];

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

_Static_assert((int)DATA_KINDS == RECORDING_KINDS && (int)PATH_COUNT == RECORDING_PATHS,
               "a recording has a place for each path of each kind");

/* Readers know no paths. */
static void name_paths(struct recording *recording)
{
    for (int kind = 0; kind < DATA_KINDS; kind++) {
        recording->kind[kind] = recording_text(recording, data_names[kind]);
        for (int path = 0; path < PATH_COUNT; path++)
            recording->path[kind][path] = recording_text(recording, paths_names[path]);
    }
    recording->path[DATA_EXCHANGE][PATH_INLINE] = recording_text(recording, "local");
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

/* Its pages now, and not one by one while regions run; where the kernel cannot, they come then. */
static void prepare_ring(struct recording *recording)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = 4096, begin = ((uintptr_t)recording->ring + page - 1) & ~(page - 1);
    size_t bytes = sizeof(recording->ring) & ~(page - 1);

    if (madvise((void *)begin, bytes - page, MADV_POPULATE_WRITE) != 0)
        log_write(LOG_DETAIL, "memory for the trace is taken when it is used: %s", strerror(errno));
#else
    (void)recording;
#endif
}

/* It has room for the devices, and is laid out as this version has it. */
static bool fits(const struct recording *shared, int devices)
{
    return shared->devices_most >= devices &&
           shared->bytes == recording_bytes(shared->devices_most);
}

omprma_status_t record_open(struct runtime *runtime, struct recording *shared)
{
    struct recorder *recorder;
    bool traces = runtime->config.trace[0];

    if (!report_is_wanted(&runtime->config))
        return OMPRMA_OK;
    if (shared && !fits(shared, runtime->device_count))
        shared = NULL;
    if (!shared && report_try(&runtime->config) != OMPRMA_OK)
        return OMPRMA_ERR_CONFIG;
    recorder = calloc(1, sizeof(*recorder));
    if (recorder)
        recorder->names.recording = shared ? shared : make_own(runtime->device_count);
    if (!recorder || !recorder->names.recording) {
        free(recorder);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to record what the program does");
    }
    recorder->names.recording->shared = shared != NULL;
    recorder->names.recording->traces = traces;
    if (rank_find() >= 0 && runtime->world.direct)
        snprintf(recorder->names.recording->who, sizeof(recorder->names.recording->who),
                 "rank %d, ", rank_find());
    name_paths(recorder->names.recording);
    describe_devices(runtime, recorder->names.recording);
    record_events_begin(recorder);
    runtime->recorder = recorder;
    if (traces)
        prepare_ring(recorder->names.recording);
    recorder->names.recording->begun = 1;
    record_resume(runtime);
    recorder->chains = chains_open(runtime, &recorder->names);
    return OMPRMA_OK;
}

/* Without omprma-run. */
static void report_own(struct recorder *recorder, const struct config *config)
{
    if (recorder->names.recording->shared)
        return;
    recording_close(recorder->names.recording, clock_ns());
    report_all(recorder->names.recording, config);
    munmap(recorder->names.recording, recorder->names.recording->bytes);
}

void record_losses(struct runtime *runtime)
{
    struct recording *recording = runtime->recorder ? runtime->recorder->names.recording : NULL;

    if (!recording)
        return;
    for (int i = 0; i < runtime->device_count; i++)
        recording->device[i].lost = !device_is_well(runtime->devices[i]);
    recording->repeated = atomic_load_explicit(&runtime->repeated, memory_order_relaxed);
    recording->graph = (struct recorded_graph){
        .regions = atomic_load_explicit(&runtime->graph.regions, memory_order_relaxed),
        .longest = atomic_load_explicit(&runtime->graph.longest, memory_order_relaxed),
        .least_bytes = atomic_load_explicit(&runtime->graph.least_bytes, memory_order_relaxed)};
}

void record_close(struct runtime *runtime)
{
    struct recorder *recorder = runtime->recorder;

    if (!recorder)
        return;
    record_pause(runtime);
    chains_close(runtime, recorder->chains);
    details_add(runtime, recorder->names.recording);
    recorder->names.recording->end_ns = clock_ns();
    report_own(recorder, &runtime->config);
    free(recorder);
    runtime->recorder = NULL;
}
