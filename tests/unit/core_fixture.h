/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * core_fixture.h: the application's side and its workers in one process, over the null channel and
 * paths. Kernels are plain functions of the test. Included after cmocka.h; all inline, for not
 * every test uses all of it.
 */
#ifndef OMPRMA_TESTS_CORE_FIXTURE_H
#define OMPRMA_TESTS_CORE_FIXTURE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "host/core/device.h"
#include "host/core/progress.h"
#include "host/queue/incoming.h"
#include "host/queue/issue.h"
#include "host/report/record.h"
#include "host/start/start.h"
#include "tests/null/null_channel.h"
#include "tests/null/null_path.h"
#include "tests/unit/draw.h"
#include "worker/native/native.h"
#include "worker/server.h"

enum { CORE_WORKERS_MOST = 4, CORE_DEVICES_MOST = 4, CORE_PIECE = 65536, CORE_DIRECT = 4096 };

/* How a core is made; zero is a sensible value of each. */
struct core_options {
    int workers, lanes;
    int devices; /* of each worker; 0: 1 */
    enum config_data data;
    unsigned delay;      /* see null_path.h; 0: 3, to make none say CORE_NO_DELAY */
    uint64_t arena;      /* bytes of the first one */
    bool shared;         /* arenas and staging memory are mapped by the program as well */
    uint64_t memory;     /* bytes of a device */
    uint64_t piece;      /* OMPRMA_PIECE; 0: CORE_PIECE */
    uint64_t fail_start; /* of the application's one-sided path */
    int most;            /* the same, see null_path.h */
    bool no_window;
    bool progress_thread;
    bool adapt, wrong_choice; /* see adapt.h */
    unsigned slow_sends;      /* least delay of the two-sided paths, see null_path.h */
    /* See null_path.h: of the application's one-sided path, of workers', of all two-sided ones. */
    uint64_t wrong_puts, wrong_gets, workers_wrong_puts, workers_wrong_gets, wrong_sends;
    uint64_t wrong_most;
    int wrong_peer;
    bool apart; /* each worker is on a host of its own */
    enum config_exchange exchange;
    /* Makes a device of another kind, or says that it does not. NULL: all are native. */
    bool (*make_other)(struct worker_device *device, int worker);
    const struct limits *limits; /* NULL: the usual ones */
    uint64_t staging;            /* most bytes of staging memory of a device; 0: as usual */
};

enum { CORE_NO_DELAY = UINT32_MAX };

struct core_worker {
    struct server server;
    struct worker_device devices[CORE_DEVICES_MOST];
    struct world_device about[CORE_DEVICES_MOST];
    pthread_t thread;
    omprma_status_t status;
    bool joined;
};

struct core {
    struct null_network *network;
    struct null_exchange *exchange;
    struct place *place;
    struct core_worker worker[CORE_WORKERS_MOST];
    int workers;
};

static struct core core;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        omprma_status_t status_ = (call);                                                          \
        if (status_ != OMPRMA_OK)                                                                  \
            fail_msg("%s: %s: %s", #call, omprma_status_string(status_), omprma_error());          \
    } while (0)

/* ---- kernels ---- */

static inline uint64_t sum_of(const void *data, uint64_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = UINT64_C(14695981039346656037);

    for (uint64_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    return sum;
}

static inline void kernel_sum(uint64_t from, uint64_t bytes, uint64_t to)
{
    *(uint64_t *)(uintptr_t)to = sum_of((void *)(uintptr_t)from, bytes);
}

static inline void kernel_add(uint64_t at, uint64_t bytes, uint64_t value)
{
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)(uintptr_t)at)[i] += (unsigned char)value;
}

static inline void kernel_count(uint64_t at)
{
    ++*(uint64_t *)(uintptr_t)at;
}

static inline void kernel_nap(uint64_t us)
{
    struct timespec pause = {.tv_sec = (time_t)(us / 1000000),
                             .tv_nsec = (long)(us % 1000000) * 1000};

    nanosleep(&pause, NULL);
}

/* A kernel that lasts until the test lets it end. */
struct gate {
    _Atomic bool entered, open;
};

static inline void kernel_gate(uint64_t at)
{
    struct gate *gate = (struct gate *)(uintptr_t)at;

    atomic_store(&gate->entered, true);
    while (!atomic_load(&gate->open))
        kernel_nap(100);
}

static inline omprma_addr_t kernel_at(void (*kernel)(void))
{
    return (omprma_addr_t)(uintptr_t)kernel;
}

#define KERNEL(function) kernel_at((void (*)(void))(function))

static inline omprma_status_t launch(omprma_queue_t *queue, omprma_addr_t kernel, uint64_t a,
                                     uint64_t b, uint64_t c)
{
    const uint64_t arguments[] = {a, b, c};

    return omprma_launch(queue, kernel, NULL, arguments, 3);
}

/* Keeps the lane of a queue busy. */
static inline void core_close(omprma_queue_t *queue, struct gate *gate)
{
    atomic_store(&gate->entered, false);
    atomic_store(&gate->open, false);
    assert_ok(launch(queue, KERNEL(kernel_gate), (uint64_t)(uintptr_t)gate, 0, 0));
    assert_ok(omprma_queue_flush(queue));
    while (!atomic_load(&gate->entered))
        kernel_nap(100);
}

static inline void core_open(struct gate *gate)
{
    atomic_store(&gate->open, true);
}

/* ---- data ---- */

static inline void assert_all(const unsigned char *at, uint64_t bytes, int value)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (at[i] != value)
            fail_msg("byte %llu is %d, not %d", (unsigned long long)i, at[i], value);
}

static inline void draw_fill(struct draw *from, void *data, size_t bytes)
{
    unsigned char *at = data;
    uint64_t word = 0;

    for (size_t i = 0; i < bytes; i++, word >>= 8) {
        if (i % 8 == 0)
            word = draw(from);
        at[i] = (unsigned char)word;
    }
}

/* A size near one of the limits in the code, or any. */
static inline uint64_t draw_size(struct draw *from, uint64_t most)
{
    static const uint64_t limits[] = {
        1,        8,     64,         512,           4096, CORE_DIRECT, OMPRMA_COPIED_SUBMIT,
        15 << 10, 16384, CORE_PIECE, 3 * CORE_PIECE};
    uint64_t which = draw_below(from, sizeof(limits) / sizeof(limits[0]) + 3), bytes;

    if (which < sizeof(limits) / sizeof(limits[0]))
        bytes = limits[which] + draw_below(from, 3) - 1;
    else
        bytes = draw_below(from, UINT64_C(1) << draw_below(from, 19));
    return bytes < most ? bytes : most;
}

/* ---- up and down ---- */

static inline void *core_serve(void *data)
{
    struct core_worker *worker = data;

    worker->status = server_run(&worker->server);
    return NULL;
}

static inline bool core_runs_on_main(int devices, const struct core_options *o)
{
    return devices == 1 && o->lanes <= 1 && !o->make_other;
}

static inline void core_make_device(struct core_worker *worker, int index, int devices,
                                    const struct core_options *o)
{
    struct worker_device *device = &worker->devices[index];
    const struct native_options options = {
        .place = core.place,
        .memory_bytes = o->memory ? o->memory : 64 << 20,
        .lanes = o->lanes ? o->lanes : 1,
        .on_main = core_runs_on_main(devices, o),
        .any_address = true,
        .shared = o->shared,
        .huge_pages = o->shared,
    };

    device->server = &worker->server;
    device->index = (uint16_t)index;
    device->shares = o->shared;
    if (!o->make_other || !o->make_other(device, (int)(worker - core.worker)))
        assert_ok(native_open(device, &options));
    assert_ok(worker_device_begin(device, o->arena ? o->arena : 8 << 20, &worker->about[index]));
    worker->about[index].memory_limit = options.memory_bytes;
    if (o->staging && worker->about[index].staging_bytes > o->staging)
        worker->about[index].staging_bytes = o->staging;
}

static inline void core_start_worker(int number, const struct core_options *o,
                                     const struct null_path_options *path, struct world_peer *peer)
{
    struct core_worker *worker = &core.worker[number];
    struct server *server = &worker->server;
    struct null_path_options own = *path;
    int devices = o->devices ? o->devices : 1;

    memset(worker, 0, sizeof(*worker));
    own.seed += (uint64_t)number + 1;
    own.fail_start = 0;
    own.most = 0;
    server->devices = worker->devices;
    server->device_count = devices;
    assert_ok(null_channel_create(core.network, number + 1, &server->channel));
    own.wrong_out = o->workers_wrong_puts;
    own.wrong_in = o->workers_wrong_gets;
    if (!o->no_window)
        assert_ok(null_one_sided_create(&own, &server->one_sided));
    own.least_delay = o->slow_sends;
    own.wrong_out = 0;
    own.wrong_in = o->wrong_sends;
    assert_ok(null_two_sided_create(&own, core.exchange, number + 1, &server->two_sided));
    for (int i = 0; i < devices; i++)
        core_make_device(worker, i, devices, o);
    if (core_runs_on_main(devices, o))
        server->main_device = server->devices;
    snprintf(peer->hello.host, sizeof(peer->hello.host), o->apart ? "host%d" : "here", number);
    peer->hello.first = o->apart ? number : 0;
    peer->hello.device_count = devices;
    peer->devices = worker->about;
    assert_ok(server_open(server, 0));
    server->session->traces = getenv("OMPRMA_TRACE") != NULL;
    assert_int_equal(pthread_create(&worker->thread, NULL, core_serve, worker), 0);
}

/* What starting it says; where that fails, the workers have been let go, as core_stop() expects. */
static inline omprma_status_t core_try(const struct core_options *o)
{
    struct null_path_options path = {
        .piece_bytes = CORE_PIECE,
        .direct_bytes = CORE_DIRECT,
        .delay = o->delay == CORE_NO_DELAY ? 0
                 : o->delay                ? o->delay
                                           : 3,
        .seed = 20220817,
        .fail_start = o->fail_start,
        .most = o->most,
        .wrong_most = o->wrong_most,
        .wrong_peer = o->wrong_peer,
    };
    struct world_peer peers[CORE_WORKERS_MOST + 1] = {0};
    struct channel *channel;
    struct datapath *one_sided = NULL, *two_sided;
    struct config config;

    if (runtime_get())
        fail_msg("an earlier test has failed and left its core");
    assert_ok(config_load(&config));
    config.data = o->data;
    config.lanes = o->lanes ? o->lanes : 1;
    config.piece = o->piece ? (int64_t)o->piece : CORE_PIECE;
    config.progress_thread = o->progress_thread;
    config.adapt = o->adapt;
    config.wrong_choice = o->wrong_choice;
    config.exchange = o->exchange;
    core.workers = o->workers ? o->workers : 1;
    assert_ok(
        place_create("core:2 pu:1", &(struct place_wish){.count = 1, .lanes = 1}, &core.place));
    assert_ok(null_network_create(core.workers + 1, &core.network));
    core.exchange = null_exchange_create();
    assert_non_null(core.exchange);
    for (int i = 0; i < core.workers; i++)
        core_start_worker(i, o, &path, &peers[i + 1]);
    assert_ok(null_channel_create(core.network, 0, &channel));
    path.wrong_out = o->wrong_puts;
    path.wrong_in = o->wrong_gets;
    if (!o->no_window)
        assert_ok(null_one_sided_create(&path, &one_sided));
    path.least_delay = o->slow_sends;
    path.wrong_out = 0;
    path.wrong_in = o->wrong_sends;
    assert_ok(null_two_sided_create(&path, core.exchange, 0, &two_sided));
    return runtime_adopt(&config, channel, one_sided, two_sided, peers, core.workers,
                         o->limits ? o->limits : &limits_usual);
}

static inline void core_start(const struct core_options *o)
{
    assert_ok(core_try(o));
}

/* A worker that is told by nobody that the application ends. */
static inline void core_let_go(int number)
{
    struct server *server = &core.worker[number].server;

    server_lock(server);
    server->exiting = true;
    channel_wake(server->channel);
    server_unlock(server);
}

/* How a worker whose connection has failed has ended. */
static inline omprma_status_t core_ended(int number)
{
    struct core_worker *worker = &core.worker[number];
    omprma_status_t status;

    assert_int_equal(pthread_join(worker->thread, NULL), 0);
    worker->joined = true;
    status = worker->status;
    worker->status = OMPRMA_OK;
    return status;
}

static inline void core_stop(void)
{
    omprma_finalize();
    for (int i = 0; i < core.workers; i++) {
        struct server *server = &core.worker[i].server;

        if (!core.worker[i].joined)
            pthread_join(core.worker[i].thread, NULL);
        assert_int_equal(core.worker[i].status, OMPRMA_OK);
        server_close(server);
        datapath_destroy(server->one_sided);
        datapath_destroy(server->two_sided);
        datapath_destroy(server->neighbours);
        for (int k = 0; k < server->device_count; k++)
            server->devices[k].backend->close(&server->devices[k]);
        channel_destroy(server->channel);
    }
    null_exchange_destroy(core.exchange);
    null_network_destroy(core.network);
    place_destroy(core.place);
}

static inline struct device *core_device(int number)
{
    return runtime_get()->devices[number];
}

/* Its worker is lost to the program. */
static inline void core_lose(int number)
{
    runtime_lock(runtime_get());
    peer_lose(core_device(number)->peer, "it was a test");
    runtime_unlock(runtime_get());
}

/* The end where the first worker was lost. */
static inline void core_end_lost(omprma_queue_t *queue)
{
    omprma_queue_destroy(queue);
    core_let_go(0);
    core_stop();
}

/* The end of a test that did well: so must what it has left in queues of devices that are there. */
static inline void core_end(void)
{
    for (int i = 0; i < runtime_get()->device_count; i++) {
        const struct device *device = core_device(i);

        for (uint32_t k = 0; k < device->queue_count && !device->lost; k++)
            if (device->queues[k]->is_programs)
                assert_ok(omprma_queue_synchronize(device->queues[k]));
    }
    core_stop();
}

/* TEST() with a core of so many devices, each of a worker of its own; then what else core_options
 * say: CORE_TEST(name, 2, .delay = 20). */
#define CORE_TEST(name, device_count, ...)                                                         \
    static void name##_with_core(void);                                                            \
    TEST(name)                                                                                     \
    {                                                                                              \
        core_start(&(struct core_options){.workers = (device_count), __VA_ARGS__});                \
        name##_with_core();                                                                        \
        core_end();                                                                                \
    }                                                                                              \
    static void name##_with_core(void)

/* ---- ways ---- */

/* Counts from now on, for stats_of(). */
static inline void core_count(void)
{
    struct runtime *runtime = runtime_get();

    runtime_lock(runtime);
    runtime->config.stats = true;
    assert_ok(record_open(runtime, NULL));
    runtime_unlock(runtime);
}

/* Sends data up to `inline_most` in messages, and larger one-sided if `rma`, else two-sided. */
static inline void core_choose(int number, uint32_t inline_most, bool rma)
{
    struct device *device = core_device(number);

    runtime_lock(device->runtime);
    device->paths.inline_submit = device->paths.inline_retrieve = inline_most;
    device->paths.inline_retrieve_fused = inline_most;
    paths_set(&device->paths, PATHS_SUBMIT, rma ? 0 : COST_NEVER);
    paths_set(&device->paths, PATHS_RETRIEVE, rma ? 0 : COST_NEVER);
    device->runtime->exchange[0] = device->runtime->exchange[1] =
        (struct exchange_paths){.way = rma ? EXCHANGE_PUT : EXCHANGE_SEND};
    runtime_unlock(device->runtime);
}

/* How data goes from device to device from now on. */
static inline void core_exchange_by(enum config_exchange way)
{
    struct runtime *runtime = runtime_get();

    runtime_lock(runtime);
    runtime->exchange[0] = runtime->exchange[1] = (struct exchange_paths){.way = way};
    runtime_unlock(runtime);
}

/* Another way each time. */
static inline void core_choose_any(int number, struct draw *from)
{
    static const uint32_t limits[] = {0, 8, 512, 4096, 8192, 16384};
    struct device *device = core_device(number);

    runtime_lock(device->runtime);
    device->paths.inline_submit = limits[draw_below(from, 6)];
    device->paths.inline_retrieve = limits[draw_below(from, 6)];
    device->paths.inline_retrieve_fused = limits[draw_below(from, 6)];
    paths_set(&device->paths, PATHS_SUBMIT, COST_NEVER);
    paths_set(&device->paths, PATHS_RETRIEVE, COST_NEVER);
    if (device->runtime->one_sided && draw(from) & 1)
        paths_set(&device->paths, PATHS_SUBMIT, 0);
    if (device->runtime->one_sided && draw(from) & 1)
        paths_set(&device->paths, PATHS_RETRIEVE, 0);
    runtime_unlock(device->runtime);
}

/* Keeps a worker from taking messages, while data can still be put into its memory. */
static inline void core_hold(int number)
{
    server_lock(&core.worker[number].server);
}

static inline void core_release(int number)
{
    server_unlock(&core.worker[number].server);
}

static inline omprma_addr_t core_alloc(int number, uint64_t bytes)
{
    omprma_addr_t address = 0;

    assert_ok(omprma_alloc(number, bytes, &address));
    return address;
}

/* Pages that are not mapped, outside every arena. */
static omprma_addr_t core_hole;

static inline void core_no_wake(void)
{
}

/* In each test anew: cmocka sets handlers of its own before it. */
static inline void core_make_hole(void)
{
    assert_ok(crash_install(core_no_wake));
    if (core_hole)
        return;
    core_hole = (omprma_addr_t)(uintptr_t)mmap(NULL, 8 * CORE_PIECE, PROT_NONE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(core_hole != (omprma_addr_t)(uintptr_t)MAP_FAILED);
}

static inline omprma_queue_t *core_queue(int number)
{
    omprma_queue_t *queue = NULL;

    assert_ok(omprma_queue_create(number, &queue));
    return queue;
}

/* As if an idle queue had run `count` more operations. */
static inline void core_age(omprma_queue_t *queue, uint64_t count)
{
    runtime_lock(queue->device->runtime);
    queue->appended += count;
    queue->issued = queue->asked = queue->answered = queue->hazard = queue->appended;
    runtime_unlock(queue->device->runtime);
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, 0, 0)); /* and the worker knows it */
    assert_ok(omprma_queue_synchronize(queue));
}

static inline omprma_event_t *core_event(void)
{
    omprma_event_t *event = NULL;

    assert_ok(omprma_event_create(&event));
    return event;
}

#endif
