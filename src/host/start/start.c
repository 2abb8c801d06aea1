/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* start.c: start and end. See start.h. Public functions of omprma.h. */
#define _GNU_SOURCE
#include "host/start/start.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/access.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/gpu_library.h"
#include "base/log.h"
#include "base/units.h"
#include "control/shm/channel.h"
#include "control/transport.h"
#include "host/choice/adapt.h"
#include "host/start/arrival.h"
#include "host/queue/background.h"
#include "host/start/sigabrt.h"
#include "host/start/sigpipe.h"
#include "host/start/starting.h"
#include "host/check/check.h"
#include "host/report/clocks.h"
#include "host/device/common.h"
#include "host/device/devices.h"
#include "host/check/findings.h"
#include "host/device/kernel_names.h"
#include "host/queue/incoming.h"
#include "host/queue/issue.h"
#include "host/start/supervisor.h"
#include "host/start/measure.h"
#include "host/start/phase.h"
#include "host/report/mark.h"
#include "host/report/placement.h"
#include "host/core/progress.h"
#include "host/core/told.h"
#include "host/core/attach_order.h"
#include "host/report/record.h"
#include "host/report/times.h"
#include "host/report/watchdog.h"
#include "host/check/redzones.h"
#include "report/report.h"

enum { FAR_NAP_NS = 50000 };
static const int64_t second_ns = 1000000000;

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static int references;
static bool ended;

int omprma_device_count(void)
{
    struct runtime *runtime = runtime_get();

    return runtime ? runtime->device_count : 0;
}

/* ---- making ---- */

/* The worker of one rank, and its devices behind those that there are. */
static omprma_status_t make_peer(struct runtime *runtime, int rank, int number,
                                 const struct world_peer *about)
{
    struct peer *peer;
    omprma_status_t status =
        peer_create(runtime, number, rank, &about->hello, &runtime->peers[rank]);

    if (status != OMPRMA_OK)
        return status;
    peer = runtime->peers[rank];
    peer->first_device = runtime->device_count;
    if (runtime->config.tag_output)
        status = peer_mark(peer);
    if (status != OMPRMA_OK)
        return status;
    for (int i = 0; i < about->hello.device_count; i++) {
        status =
            device_create(peer, i, &about->devices[i], &runtime->devices[runtime->device_count]);
        if (status != OMPRMA_OK)
            return status;
        runtime->device_count++;
        peer->device_count++;
    }
    return OMPRMA_OK;
}

static omprma_status_t make_devices(struct runtime *runtime, const struct world_peer *peers,
                                    int ranks, int head)
{
    omprma_status_t status = OMPRMA_OK;
    size_t count = 0;
    int number = 0;

    for (int rank = 0; rank < ranks; rank++)
        count += rank == head ? 0 : (size_t)peers[rank].hello.device_count;
    runtime->peers = calloc((unsigned)ranks, sizeof(*runtime->peers));
    runtime->devices = calloc(count + 1, sizeof(*runtime->devices));
    if (!runtime->peers || !runtime->devices)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %zu devices", count);
    for (int rank = 0; rank < ranks && status == OMPRMA_OK; rank++)
        if (rank != head)
            status = make_peer(runtime, rank, number++, &peers[rank]);
    runtime->has_devices = status == OMPRMA_OK;
    return status;
}

static omprma_status_t make_bells(struct runtime *runtime, const struct world_peer *peers)
{
    runtime->bells = calloc((size_t)runtime->world.size, sizeof(*runtime->bells));
    if (!runtime->bells)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d peers", runtime->world.size);
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (rank != runtime->world.rank && !world_is_elsewhere(&runtime->world, rank))
            runtime->bells[rank] = doorbell_open(&peers[rank].hello.bell, SHM_CHANNEL_BYTES);
    return OMPRMA_OK;
}

/* The transport waits for a worker inside a call, with the lock held, so nobody can go on. */
static void say_stuck(const void *data, int peer)
{
    const struct runtime *runtime = data;
    const struct peer *silent = runtime->peers[peer];

    log_write(LOG_ERROR,
              "%s (process %d) has not answered for %lld s, and %s waits for it inside a one-sided "
              "transfer, which cannot be called off; with --data two-sided the other devices could "
              "go on; OMPRMA_TIMEOUT sets the limit",
              peer_name(silent), silent->hello.bell.pid, (long long)runtime->config.timeout_s,
              runtime->world.transport->name);
}

/* A call may wait for the target of a transfer, unless targets are passive. Even then MPI may
 * repeat a copy to a process that dies meanwhile for ever, which ends with the program unless that
 * goes on. */
static omprma_status_t make_one_sided(struct runtime *runtime)
{
    bool may_wait =
        !runtime->world.can.target_is_passive || runtime->config.on_loss == ON_LOSS_CONTINUE;
    int64_t limit_ns = runtime->config.timeout_s * second_ns;
    struct deadline *deadline = limit_ns && may_wait ? &runtime->deadline : NULL;

    if (deadline && !deadline_begin(deadline, limit_ns, say_stuck, runtime))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no thread can be made to watch calls of MPI");
    return runtime->world.transport->open_one_sided(&runtime->world, runtime->bells, deadline,
                                                    &runtime->one_sided);
}

static omprma_status_t choose_paths(struct runtime *runtime)
{
    struct world *world = &runtime->world;
    bool window = world->has_window, news;
    omprma_status_t status = world->transport->open_two_sided(world, &runtime->two_sided);

    if (status == OMPRMA_OK && window)
        status = make_one_sided(runtime);
    if (status != OMPRMA_OK)
        return status;
    if (!window && runtime->config.data == DATA_RMA)
        return error_set(OMPRMA_ERR_MPI, "--data rma: %s; use --data auto or two-sided%s%s",
                         world->why_no_window, world->other_osc ? ", or --osc " : "",
                         world->other_osc ? world->other_osc : "");
    if (!window)
        snprintf(runtime->choice, sizeof(runtime->choice), "two-sided: %s", world->why_no_window);
    else if (runtime->config.data == DATA_AUTO)
        snprintf(runtime->choice, sizeof(runtime->choice),
                 "per size by measurement, one-sided "
                 "component %s",
                 world->component);
    else
        snprintf(runtime->choice, sizeof(runtime->choice), "%s as asked, one-sided component %s",
                 runtime->config.data == DATA_RMA ? "rma" : "two-sided", world->component);
    news = !window && !world->star && !world->far && runtime->config.data == DATA_AUTO;
    log_write(news ? LOG_NOTE : LOG_CHOICE, "data path: %s", runtime->choice);
    if (world->between_hosts[0])
        log_write(LOG_CHOICE, "data between hosts: %s", world->between_hosts);
    return OMPRMA_OK;
}

/* Short control messages of workers on this host go through shared memory. Containers with names of
 * their own count as hosts, as for MPI. */
static void share_memory(struct runtime *runtime)
{
    int sharers = 0;

    for (int rank = 0; rank < runtime->world.size; rank++) {
        struct peer *peer = runtime->peers[rank];

        if (!peer || !peer->is_near || runtime->config.control == CONTROL_MPI)
            continue;
        peer->shares = true;
        shm_channel_share(runtime->channel, rank, doorbell_shared(runtime->bells[rank]), false);
        sharers++;
    }
    snprintf(runtime->control, sizeof(runtime->control),
             "through shared memory to %d worker%s, by %s to %d", sharers, units_plural(sharers),
             runtime->world.transport->name, runtime->world.size - 1 - sharers);
    log_write(LOG_CHOICE, "control messages: %s", runtime->control);
}

static bool all_have_bells(const struct runtime *runtime)
{
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (rank != runtime->world.rank && !runtime->bells[rank])
            return false;
    return true;
}

/* Workers are rung when the lock is released. */
static void ring_later(void *wakeups, struct doorbell *bell)
{
    wakeups_add_bell(wakeups, bell);
}

static omprma_status_t open_channel(struct runtime *runtime)
{
    const struct world *world = &runtime->world;
    const struct shm_options options = {
        .ranks = world->size,
        .own = runtime->bell,
        .bells = runtime->bells,
        .ring = ring_later,
        .data = &runtime->wakeups,
        .longest_ns = world->elsewhere || all_have_bells(runtime) ? INT64_MAX : FAR_NAP_NS,
        .descriptors = world->elsewhere != NULL,
        .is_awaited = !world_is_passive(world),
    };
    struct channel *inner;
    omprma_status_t status = world->transport->open_channel(world, &inner);

    return status == OMPRMA_OK ? shm_channel_create(inner, &options, &runtime->channel) : status;
}

static bool has_one(const struct runtime *runtime, const char *kind)
{
    bool found = false;

    for (int i = 0; i < runtime->device_count && !found; i++)
        found = strcmp(runtime->devices[i]->about.backend, kind) == 0;
    return found;
}

/* Who asks for GPUs does not want to compute on something else without a word. Which workers a rank
 * has is its own. */
static void say_no_gpu(const struct runtime *runtime)
{
    log_repeats(false);
    if (!getenv(CONFIG_GPUS_VARIABLE))
        return;
    for (int kind = 0; kind < GPU_LIBRARIES; kind++) {
        const struct gpu_library *library = &gpu_libraries[kind];

        if (runtime->config.backends & gpu_bit(library) && !has_one(runtime, library->kind))
            log_write(LOG_WARNING,
                      "no worker has an %s GPU that it can use, although %s asks for them; "
                      "omprma-info -v --gpus %s says why",
                      library->maker, getenv(CONFIG_GPUS_VARIABLE), library->kind);
    }
}

static omprma_status_t check_loss(const struct runtime *runtime)
{
    if (runtime->config.on_loss != ON_LOSS_CONTINUE || !runtime->world.can.ends_with_peer)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "--on-loss continue: this MPI library goes over UCX and ends a process whose "
                     "peer has died; take --transport direct, or --on-loss end");
}

static omprma_status_t connect_workers(struct runtime *runtime)
{
    struct world *world = &runtime->world;
    struct world_peer mine = {0}, *peers = NULL;
    omprma_status_t status = doorbell_create(&runtime->bell, 0, &mine.hello.bell);

    if (status == OMPRMA_OK && world->elsewhere)
        status = doorbell_use_descriptors(runtime->bell);
    if (status != OMPRMA_OK)
        return status;
    world->settings = (struct world_settings){
        .lanes = (int32_t)runtime->config.lanes,
        .verbose = (int32_t)runtime->config.verbose,
        .line_output = isatty(STDOUT_FILENO),
        .piece_bytes = (uint64_t)runtime->config.piece,
        .spin_us = (uint64_t)runtime->config.spin_us,
        .arena_bytes = (uint64_t)runtime->config.arena,
        .devices = runtime->config.devices,
        .timeout_s = (uint64_t)runtime->config.timeout_s,
        .backends = runtime->config.backends,
        .trace = report_is_wanted(&runtime->config) || times_wanted(),
        .map_by = (int32_t)runtime->config.map_by,
        .on_loss = (int32_t)runtime->config.on_loss,
        .network = (int32_t)runtime->config.network,
        .map_arenas = runtime->config.map_arenas && runtime->config.data == DATA_AUTO,
        .cores = runtime->config.cores,
        .bell = mine.hello.bell,
    };
    status = world_open(world, &mine, &peers, NULL, NULL);
    if (status == OMPRMA_OK)
        status = check_loss(runtime);
    if (status == OMPRMA_OK)
        status = make_bells(runtime, peers);
    if (status == OMPRMA_OK)
        status = open_channel(runtime);
    if (runtime->config.on_loss == ON_LOSS_CONTINUE)
        sigpipe_spare(runtime);
    if (status == OMPRMA_OK && world->can.ends_with_peer)
        sigabrt_explain(runtime);
    if (status == OMPRMA_OK)
        status = make_devices(runtime, peers, world->size, world->head);
    if (status == OMPRMA_OK)
        share_memory(runtime);
    if (status == OMPRMA_OK)
        status = choose_paths(runtime);
    if (status == OMPRMA_OK)
        placement_say(runtime);
    if (status == OMPRMA_OK)
        say_no_gpu(runtime);
    world_free_peers(peers, world->size);
    return status;
}

/* A copy is over. */
static void wake_sleeper(void *runtime)
{
    channel_wake(((struct runtime *)runtime)->channel);
}

static struct runtime *allocate(void)
{
    struct runtime *runtime = calloc(1, sizeof(*runtime));

    if (!runtime) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start");
        return NULL;
    }
    pthread_mutex_init(&runtime->lock.mutex, NULL);
    runtime->hooks = (struct runtime_hooks){.look = incoming_look,
                                            .descriptor = incoming_descriptor,
                                            .watch = watchdog_look,
                                            .lost = incoming_lost,
                                            .tell_lost = supervisor_tell_lost};
    runtime->world.component = "none";
    runtime->limits = limits_usual;
    atomic_store(&runtime->background.asleep, true); /* there is none yet */
    copier_begin(&runtime->copier, wake_sleeper, runtime);
    return runtime;
}

static omprma_status_t finish_start(struct runtime *runtime)
{
    omprma_status_t status;

    runtime_set(runtime);
    status = measure_all(runtime);
    if (status == OMPRMA_OK) {
        runtime_lock(runtime);
        status = redzones_open(runtime);
        runtime_unlock(runtime);
    }
    if (status == OMPRMA_OK)
        status = record_open(runtime, supervisor_recording());
    if (status == OMPRMA_OK && runtime->recorder) {
        runtime_lock(runtime);
        clocks_compare(runtime);
        runtime_unlock(runtime);
    }
    if (status == OMPRMA_OK) {
        runtime_lock(runtime);
        status = times_open(runtime);
        runtime_unlock(runtime);
    }
    if (status == OMPRMA_OK && runtime->config.progress_thread)
        status = background_want(runtime, 1);
    access_start();
    return status;
}

static omprma_status_t give_up(struct runtime *runtime, omprma_status_t status);

omprma_status_t runtime_adopt(const struct config *config, struct channel *channel,
                              struct datapath *one_sided, struct datapath *two_sided,
                              const struct world_peer *peers, int workers,
                              const struct limits *limits)
{
    struct runtime *runtime = allocate();
    omprma_status_t status;

    if (!runtime)
        return OMPRMA_ERR_HOST_MEMORY;
    runtime->config = *config;
    runtime->channel = channel;
    runtime->one_sided = one_sided;
    runtime->two_sided = two_sided;
    runtime->world.size = workers + 1;
    runtime->limits = *limits;
    runtime->adopted = true;
    status = make_devices(runtime, peers, workers + 1, 0);
    if (status == OMPRMA_OK)
        status = finish_start(runtime);
    if (status == OMPRMA_OK)
        references = 1;
    return status == OMPRMA_OK || !runtime->has_devices ? status : give_up(runtime, status);
}

/* ---- ending ---- */

/* NULL is allowed. */
static void free_peer(struct peer *peer)
{
    if (!peer)
        return;
    told_free(peer);
    free(peer->mark);
    free(peer);
}

static void free_runtime(struct runtime *runtime)
{
    copier_end(&runtime->copier);
    adapt_end(runtime);
    for (int i = 0; i < runtime->device_count; i++) {
        kernel_names_forget(runtime->devices[i]);
        check_close(runtime->devices[i]);
        device_destroy(runtime->devices[i]);
    }
    common_memory_free(runtime);
    for (int rank = 0; runtime->peers && rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            attach_order_forget(runtime->peers[rank]);
    operation_pool_free(&runtime->operations);
    if (runtime->memory.sound == runtime->memory.count)
        free((void *)(uintptr_t)runtime->memory.base);
    datapath_destroy(runtime->one_sided);
    deadline_end(&runtime->deadline);
    datapath_destroy(runtime->two_sided);
    datapath_destroy(runtime->local);
    if (runtime->channel)
        channel_destroy(runtime->channel);
    for (int rank = 0; runtime->bells && rank < runtime->world.size; rank++)
        doorbell_close(runtime->bells[rank]);
    doorbell_close(runtime->bell);
    free(runtime->bells);
    for (int rank = 0; runtime->peers && rank < runtime->world.size; rank++)
        free_peer(runtime->peers[rank]);
    free(runtime->devices);
    free(runtime->peers);
    pthread_mutex_destroy(&runtime->lock.mutex);
}

static bool all_acknowledged(const void *data)
{
    const struct runtime *runtime = data;

    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];

        if (peer && !peer->lost && peer->acked != peer->sent)
            return false;
    }
    return true;
}

/* True if nothing is under way, and no callback is due or running. */
static bool is_settled(const struct runtime *runtime)
{
    for (int i = 0; i < runtime->device_count; i++)
        for (uint32_t k = 0; k < runtime->devices[i]->queue_count; k++)
            if (!queue_is_idle(runtime->devices[i]->queues[k]))
                return false;
    return !runtime->completions.first && !runtime->completions.running;
}

/* What was issued is finished, for it uses memory that the program and MPI still hold; and so is
 * what callbacks begin meanwhile. */
static void settle_all(struct runtime *runtime)
{
    runtime->ending = true;
    do {
        for (int i = 0; i < runtime->device_count; i++)
            for (uint32_t k = 0; k < runtime->devices[i]->queue_count; k++)
                queue_attend(runtime->devices[i]->queues[k]); /* the program may hold it */
        for (int i = 0; i < runtime->device_count; i++)
            for (uint32_t k = 0; k < runtime->devices[i]->queue_count; k++)
                queue_settle(runtime->devices[i]->queues[k]);
        runtime_unlock(runtime); /* which calls them */
        sched_yield();
        runtime_lock(runtime);
    } while (!is_settled(runtime));
}

/* The workers' last words (output that was written past stdio) come with the acknowledgement. */
static void say_goodbye(struct runtime *runtime)
{
    runtime_lock(runtime);
    settle_all(runtime);
    redzones_end(runtime);
    clocks_compare(runtime);
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank] && !runtime->peers[rank]->lost)
            peer_exit(runtime->peers[rank]);
    progress_wait(runtime, all_acknowledged, runtime);
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            peer_end_lines(runtime->peers[rank]);
    if (!runtime->unresponsive) /* a lost worker may never take what was sent to it */
        channel_drain(runtime->channel);
    runtime_unlock(runtime);
}

static const char *advice(const struct config *config)
{
    if (config->exchange == EXCHANGE_APPLICATION)
        return "if some host cannot be reached from here, name the network that reaches all: "
               "--mpi-arg "
               "--mca --mpi-arg btl_tcp_if_include --mpi-arg NETWORK";
    return "if hosts cannot reach each other, name the network that connects them, --mpi-arg --mca "
           "--mpi-arg btl_tcp_if_include --mpi-arg NETWORK, or set OMPRMA_EXCHANGE=application";
}

/* All together, so it takes connections between workers that may not have been used before. */
static void leave(struct runtime *runtime)
{
    struct phase phase;
    char step[64];

    snprintf(step, sizeof(step), "leaving %s", runtime->world.transport->name);
    phase_begin(&phase, "the end", advice(&runtime->config), step,
                runtime->config.timeout_s * second_ns);
    free_runtime(runtime); /* receives are taken back */
    world_leave(&runtime->world);
    phase_end(&phase);
}

/* A worker was lost when the program asked for nothing any more, so no call of its has failed. */
static void say_late_loss(const struct runtime *runtime)
{
    if (runtime->first_lost)
        log_write(LOG_ERROR, "when the program ended: %s", runtime->first_lost->lost_text);
}

/* MPI cannot be left in order when a worker is lost: all would wait for it. Then the others go
 * without, as this process does, and what MPI may still touch stays. */
static void stop(struct runtime *runtime)
{
    bool was_known = runtime->unresponsive;

    background_end(runtime);
    record_losses(runtime);
    say_goodbye(runtime);
    times_close(runtime);
    record_close(runtime);
    runtime_set(NULL);
    if (runtime->unresponsive && !runtime->adopted) {
        fflush(NULL);
        if (runtime->config.on_loss == ON_LOSS_CONTINUE)
            return;
        if (!was_known)
            say_late_loss(runtime);
        world_abort(&runtime->world, EXIT_FAILURE);
    }
    sigpipe_end();
    sigabrt_end();
    if (runtime->adopted)
        free_runtime(runtime);
    else
        leave(runtime);
    free(runtime);
}

void omprma_finalize(void)
{
    bool adopted;

    if (runtime_is_parents())
        return;
    pthread_mutex_lock(&start_lock);
    if (references > 0 && --references == 0 && runtime_get()) {
        ended = true;
        adopted = runtime_get()->adopted;
        stop(runtime_get());
        if (!adopted)
            findings_end();
    }
    pthread_mutex_unlock(&start_lock);
}

/* ---- starting ---- */

static void say_failure(const char *text)
{
    log_write(LOG_ERROR, "%s", text);
    supervisor_tell_said();
}

/* Start-up has failed, and not for all alike: lets the workers go. */
static omprma_status_t give_up(struct runtime *runtime, omprma_status_t status)
{
    char text[ERROR_TEXT_BYTES];

    snprintf(text, sizeof(text), "%s", error_text());
    ended = true;
    if (runtime->has_devices) {
        if (runtime->unresponsive && !runtime->adopted)
            say_failure(text); /* stopping ends all processes */
        stop(runtime);
        return error_set(status, "%s", text);
    }
    if (!runtime->world.told)
        say_failure(text);
    world_abort(&runtime->world, EXIT_OWN);
}

static omprma_status_t connect_and_measure(struct runtime *runtime, struct phase *phase)
{
    int64_t limit_ns = runtime->config.timeout_s * second_ns;
    omprma_status_t status;

    phase_next(phase, "connecting the workers", limit_ns);
    runtime->times.connect = clock_ns();
    status = connect_workers(runtime);
    if (status != OMPRMA_OK)
        return status;
    phase_next(phase, "measuring", limit_ns);
    runtime->times.measure = clock_ns();
    status = finish_start(runtime);
    runtime->times.ready = clock_ns();
    return status;
}

static omprma_status_t start(void)
{
    struct runtime *runtime = allocate();
    struct phase phase;
    omprma_status_t status, config_status;
    int64_t limit_s = CONFIG_START_LEAST_S;
    char config_text[ERROR_TEXT_BYTES];
    bool joined;

    if (!runtime)
        return OMPRMA_ERR_HOST_MEMORY;
    supervisor_times(&runtime->times.launch, &runtime->times.program);
    runtime->times.join = clock_ns();
    config_status = config_load(&runtime->config);
    snprintf(config_text, sizeof(config_text), "%s", error_text());
    log_open("", config_status == OMPRMA_OK ? (int)runtime->config.verbose : 0);
    config_warn();
    if (config_status == OMPRMA_OK)
        limit_s = config_start_limit_s(&runtime->config);
    if (supervisor_is_shared())
        mark_files(&runtime->config);
    world_prepare(WORLD_HEAD);
    phase_begin(&phase, "start-up", advice(&runtime->config), "meeting the workers",
                limit_s * second_ns);
    arrival_begin();
    status =
        world_join(&runtime->world, WORLD_HEAD, runtime->config.exchange == EXCHANGE_APPLICATION);
    supervisor_tell_connected();
    joined = status == OMPRMA_OK;
    if (joined && config_status == OMPRMA_OK)
        status = connect_and_measure(runtime, &phase);
    arrival_end();
    phase_end(&phase);
    if (runtime->world.torn)
        return give_up(runtime, status);
    if (!joined) { /* all processes found the same: they leave together */
        ended = true;
        world_leave(&runtime->world);
        return status;
    }
    if (config_status != OMPRMA_OK) {
        world_open(&runtime->world, &(struct world_peer){0}, NULL, NULL, NULL); /* lanes is 0 */
        world_leave(&runtime->world);
        ended = true;
        return error_set(config_status, "%s", config_text);
    }
    return status == OMPRMA_OK ? OMPRMA_OK : give_up(runtime, status);
}

omprma_status_t omprma_init(void)
{
    omprma_status_t status = OMPRMA_OK;
    int other = 0;

    if (runtime_is_parents())
        return runtime_absent();
    pthread_mutex_lock(&start_lock);
    if (references > 0)
        references++;
    else if (ended)
        status = error_set(OMPRMA_ERR_CLOSED, "omprma has ended in this process and cannot start "
                                              "again");
    else if (!world_launched())
        status = error_set(OMPRMA_ERR_NO_WORKERS, "no workers: start the program with "
                                                  "omprma-run -n WORKERS PROGRAM");
    else if (!supervisor_claim(&other))
        status = error_set(OMPRMA_ERR_NO_WORKERS,
                           "the workers of this omprma-run serve one program, and that is, or was, "
                           "process %d: start each offloading program of a script with an "
                           "omprma-run of its own",
                           other);
    else {
        starting_set(true);
        status = start();
        starting_set(false);
    }
    log_repeats(false); /* what a rank says later is its own */
    if (status == OMPRMA_OK && references == 0)
        references = 1;
    pthread_mutex_unlock(&start_lock);
    return status;
}
