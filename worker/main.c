/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * main.c: omprma-worker, one device or several. Started beside the application by omprma-run,
 * mpirun or srun; serves until the application ends. Only puts the parts together.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/coming.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/slice.h"
#include "base/units.h"
#include "control/agent/join.h"
#include "control/direct/world.h"
#include "control/host.h"
#include "control/library/quick.h"
#include "control/shm/channel.h"
#include "control/shm/leftovers.h"
#include "control/transport.h"
#include "control/world.h"
#include "worker/agent.h"
#include "worker/free_memory.h"
#include "worker/gpu/kind.h"
#include "worker/input.h"
#include "worker/map.h"
#include "worker/native/image_file.h"
#include "worker/native/native.h"
#include "worker/native/team.h"
#include "worker/output.h"
#include "worker/quota.h"
#include "worker/server.h"
#include "worker/wrap.h"

/* Longest sleep when the application cannot ring, or when one-sided transfers of others may need
 * this process to enter MPI. */
enum { SHORT_NAP_NS = 800000 };

struct worker {
    struct config config;
    struct world world;
    struct server server;
    struct worker_device devices[WORLD_DEVICES_MOST];
    struct world_device descriptions[WORLD_DEVICES_MOST];
    struct place *place, *parts[WORLD_DEVICES_MOST]; /* of the worker; of devices, if several */
    int natives;                                     /* devices that are; they come first */
    bool silent;                                     /* another one tells why it ends */
    bool has_said;                                   /* it has done so itself */
    bool lends; /* its cores are used by other workers until it runs a region */
    struct doorbell *bell, *head_bell;
    struct doorbell **bells; /* by rank; only the head's is set */
    struct quota *quota;     /* of the slot's memory; NULL: no other program shares it */
    time_t since;            /* when it was started */
};

static struct worker worker;

/* Called from a signal handler when a kernel has crashed. */
static void wake_server(void)
{
    if (worker.server.channel)
        channel_wake(worker.server.channel);
}

/* Of one device. Where programs share the host, what its share was before any came. */
static uint64_t memory_limit(const struct place_description *description)
{
    int workers = worker.quota ? worker.world.slots : worker.world.local_count;
    uint64_t bytes = worker.quota ? quota_free_bytes(worker.quota) : description->memory_bytes;

    if (worker.config.memory)
        return (uint64_t)worker.config.memory;
    return bytes / 10 * 9 / (uint64_t)(workers * worker.natives);
}

/* The bytes of a device's first arena: less than `usual` where there is not so much. Other programs
 * that share the memory are to find some of it, too. */
static uint64_t first_arena(const struct native_options *options, uint64_t usual)
{
    uint64_t left = options->memory_bytes, held;

    if (options->quota) {
        held = quota_others(options->quota);
        left = held < options->quota_bytes ? (options->quota_bytes - held) / 4 : 0;
    }
    return usual <= left || left < 4096 ? usual : left & ~(uint64_t)4095;
}

/* Where application and workers share processors, a worker that was rung waits until the slice of
 * whoever polls there is over, some milliseconds. */
static void wish_short_slices(void)
{
    int code = slice_shorten();

    if (code)
        log_write(LOG_DETAIL, "short slices are not to be had: %s", strerror(code));
}

/* The main thread runs kernels where there is one device and one lane. */
static bool runs_on_main(const struct world_settings *settings)
{
    return worker.server.device_count == 1 && worker.natives == 1 && settings->lanes == 1;
}

/* For libomp, which reads the environment when it starts. A worker of several begins with the cores
 * of all, see WIRE_TURN, unless each was to have so many, or it has several devices or lanes, whose
 * threads could not be told apart. */
static omprma_status_t prepare_threads(const struct world_settings *settings, int gpus)
{
    int count = worker.natives ? worker.natives : 1, threads;
    struct place *all = NULL;
    omprma_status_t status = OMPRMA_OK;

    worker.lends = worker.config.cores == 0 && worker.world.place.count > 1 && gpus == 0 &&
                   !worker.world.shares_slots && worker.natives == 1 && settings->lanes == 1;
    if (worker.lends)
        status = place_now(worker.place, 0, 1, &all);
    else if (worker.config.bind)
        place_bind(worker.place);
    if (status == OMPRMA_OK) {
        threads = place_threads(worker.lends ? all : worker.place, count);
        status = place_environment(worker.place, &threads);
    }
    if (worker.lends && worker.config.bind)
        team_inherit_cores();
    place_destroy(all);
    return status;
}

/* Makes device `index`, a native one, with its first arena. */
static omprma_status_t make_native(int index, const struct world_settings *settings)
{
    struct worker_device *device = &worker.devices[index];
    struct world_device *description = &worker.descriptions[index];
    int count = worker.natives;
    struct native_options options = {
        .place = worker.place,
        .bind = worker.config.bind,
        .lends = worker.lends,
        .path = worker.server.one_sided,
        .lanes = settings->lanes,
        .on_main = runs_on_main(settings),
        .huge_pages = worker.config.huge_pages,
        .shared = settings->map_arenas && worker.head_bell, /* each can open what the other has */
    };
    uint64_t bytes;
    omprma_status_t status = OMPRMA_OK;

    if (count > 1)
        status = place_part(worker.place, index, count, &worker.parts[index]);
    if (status != OMPRMA_OK)
        return status;
    if (count > 1)
        options.place = worker.parts[index];
    options.memory_bytes = memory_limit(place_describe(options.place));
    options.quota = worker.quota;
    options.quota_bytes = options.memory_bytes * (uint64_t)count;
    bytes = first_arena(&options, settings->arena_bytes);
    device->server = &worker.server;
    device->index = (uint16_t)index;
    status = native_open(device, &options);
    if (status == OMPRMA_OK)
        status = worker_device_begin(device, bytes, description);
    description->cores = place_describe(options.place)->cores;
    description->numa_node = place_describe(options.place)->numa_node;
    memcpy(description->model, place_describe(options.place)->cpu, sizeof(description->model));
    description->memory_limit = options.memory_bytes;
    return status;
}

/* Makes device `index` a GPU, with its first arena. */
static omprma_status_t make_gpu(const struct gpu_kind *kind, int index, int ordinal,
                                const struct world_settings *settings)
{
    struct worker_device *device = &worker.devices[index];
    struct world_device *description = &worker.descriptions[index];
    uint64_t bytes = settings->arena_bytes;
    omprma_status_t status;

    device->server = &worker.server;
    device->index = (uint16_t)index;
    device->shares =
        settings->map_arenas && worker.head_bell; /* each can open what the other has */
    status = kind->make(device, ordinal, (uint64_t)worker.config.memory);
    if (status != OMPRMA_OK)
        return status;
    kind->describe(device, description);
    if (bytes > description->memory_limit)
        bytes = description->memory_limit & ~(uint64_t)4095;
    status = worker_device_begin(device, bytes, description);
    if (status != OMPRMA_OK)
        device->backend->close(device);
    return status;
}

/* Makes GPUs the devices after the native ones. One that cannot be used is left out, as long as
 * there are others. */
static omprma_status_t make_gpus(const int gpus[GPU_LIBRARIES],
                                 const struct world_settings *settings)
{
    struct server *server = &worker.server;
    const struct world *world = &worker.world;
    omprma_status_t status = OMPRMA_OK;

    server->device_count = worker.natives;
    for (int kind = 0; kind < GPU_LIBRARIES; kind++)
        for (int i = 0; i < gpus[kind]; i++) {
            omprma_status_t made = make_gpu(gpu_kinds[kind], server->device_count,
                                            world->local_index + i * world->local_count, settings);

            if (made == OMPRMA_OK) {
                server->device_count++;
                continue;
            }
            log_write(LOG_CHOICE, "%s", error_text());
            status = made;
        }
    return server->device_count ? OMPRMA_OK : status;
}

static int native_count(const struct world_settings *settings)
{
    int count = settings->devices ? (int)settings->devices : place_nodes(worker.place);

    if (!(settings->backends & 1 << BACKEND_NATIVE))
        return 0;
    return count < WORLD_DEVICES_MOST ? count : WORLD_DEVICES_MOST;
}

/* The error where the workers of this host have nothing else than its `all` GPUs. */
static omprma_status_t refuse_none(const struct world_settings *settings, int all)
{
    char kinds[GPU_WORDS_BYTES];

    return error_set(OMPRMA_ERR_CONFIG,
                     "%d workers share %d GPU%s of this host; start at most as many, or give them "
                     "native devices too: --backends native,%s",
                     worker.world.local_count, all, units_plural(all),
                     gpu_kinds_write(settings->backends, kinds));
}

/* GPUs of this host that are this worker's, by kind: the workers of a host take turns. A kind that
 * cannot be used is left out, as long as there is another. */
static omprma_status_t count_gpus(const struct world_settings *settings, int gpus[GPU_LIBRARIES])
{
    const struct world *world = &worker.world;
    int room = WORLD_DEVICES_MOST - worker.natives, first = room, all = 0;
    omprma_status_t status = OMPRMA_OK;

    for (int kind = 0; kind < GPU_LIBRARIES; kind++) {
        int there = 0, mine;
        omprma_status_t opened;

        if (!(settings->backends & gpu_bit(&gpu_libraries[kind])))
            continue;
        opened = gpu_kinds[kind]->open(&there);
        if (opened != OMPRMA_OK) {
            log_write(LOG_CHOICE, "no %s devices: %s", gpu_libraries[kind].interface, error_text());
            status = opened;
        }
        mine = (there - world->local_index + world->local_count - 1) / world->local_count;
        gpus[kind] = mine < room ? mine : room;
        room -= gpus[kind];
        all += there;
    }
    if (worker.natives || room < first)
        return OMPRMA_OK;
    return all ? refuse_none(settings, all) : status;
}

static omprma_status_t make_devices(struct world_peer *mine, const struct world_settings *settings)
{
    struct server *server = &worker.server;
    int gpus[GPU_LIBRARIES] = {0}, gpu_count = 0;
    omprma_status_t status;

    server->devices = worker.devices;
    worker.natives = native_count(settings);
    status = count_gpus(settings, gpus);
    for (int kind = 0; kind < GPU_LIBRARIES; kind++)
        gpu_count += gpus[kind];
    if (status == OMPRMA_OK)
        status = prepare_threads(settings, gpu_count);
    if (status == OMPRMA_OK)
        status = make_gpus(gpus, settings);
    for (int i = 0; i < worker.natives && status == OMPRMA_OK; i++)
        status = make_native(i, settings);
    if (runs_on_main(settings))
        server->main_device = server->devices;
    for (int i = 0; i < server->device_count; i++)
        worker.descriptions[i].apart = worker.world.far && !worker.world.has_window;
    mine->devices = worker.descriptions;
    mine->hello.device_count = server->device_count;
    return status;
}

/* One of those that the program decides for all. Somebody has set it otherwise on this host: one
 * worker says so. */
static void adopt(const char *name, const char *program, bool same)
{
    const char *here = getenv(name);

    if (!same && here && *here && worker.world.local_index == 0)
        log_write(LOG_WARNING,
                  "%s is %s on this host; %s holds for all workers, as the program has it: set it "
                  "there, or by an option of omprma-run",
                  name, here, program);
}

/* As the program counts its workers, from 0 on. */
static int own_number(void)
{
    int rank = worker.world.rank;

    return rank > worker.world.head ? rank - 1 : rank;
}

static void adopt_settings(const struct world_settings *settings)
{
    static const char *const losses[] = {"end", "continue"}, *const maps[] = {"core", "numa",
                                                                              "node"};
    struct config *mine = &worker.config;
    char cores[24];

    snprintf(cores, sizeof(cores), "%lld", (long long)settings->cores);
    adopt("OMPRMA_CORES", cores, mine->cores == settings->cores);
    adopt("OMPRMA_MAP_BY", maps[settings->map_by], (int32_t)mine->map_by == settings->map_by);
    adopt("OMPRMA_ON_LOSS", losses[settings->on_loss], (int32_t)mine->on_loss == settings->on_loss);
    mine->cores = settings->cores;
    mine->map_by = settings->map_by;
    mine->on_loss = settings->on_loss;
    if (settings->on_loss == ON_LOSS_CONTINUE)
        signal(SIGPIPE, SIG_IGN); /* MPI may write to a worker that has died */
}

/* Where the run goes on without a worker that has died, it is told of the others' bells. */
static omprma_status_t open_one_sided(struct world *world)
{
    struct server *server = &worker.server;

    if (worker.config.on_loss == ON_LOSS_CONTINUE) {
        server->others = calloc((size_t)world->size, sizeof(*server->others));
        if (!server->others)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d peers", world->size);
    }
    return world->transport->open_one_sided(world, server->others, NULL, &server->one_sided);
}

/* Runs when the settings are known and the window is made: finds this worker's place and makes its
 * devices, each with its first arena. */
static omprma_status_t attach_devices(struct world *world, struct world_peer *mine)
{
    const struct place_wish wish = {
        .index = world->place.index,
        .count = world->place.count,
        .lanes = world->settings.lanes,
        .cores = (int)world->settings.cores,
        .by_numa = world->settings.map_by == MAP_BY_NUMA,
    };
    const struct place_description *description;
    struct world_hello *hello = &mine->hello;
    omprma_status_t status = OMPRMA_OK;

    adopt_settings(&world->settings);
    map_keep_apart(own_number(), world->size - 1);
    if (world->has_window)
        status = open_one_sided(world);
    if (status == OMPRMA_OK)
        status = place_create(NULL, &wish, &worker.place);
    /* The same holds for all of them: one says it. */
    worker.silent = status == OMPRMA_ERR_CONFIG && wish.index > 0;
    /* Programs that come later may crowd the host: all workers are alike, or some get more. */
    if (world->crowded || world->slots > 0)
        wish_short_slices();
    if (status == OMPRMA_OK)
        status = doorbell_create(&worker.bell, SHM_CHANNEL_BYTES, &hello->bell);
    if (status == OMPRMA_OK)
        status = doorbell_stay(worker.bell);
    if (status == OMPRMA_OK && world->elsewhere)
        status = doorbell_use_descriptors(worker.bell);
    if (!world_is_elsewhere(world, world->head))
        worker.head_bell = doorbell_open(&world->settings.bell, 0);
    if (status == OMPRMA_OK)
        status = make_devices(mine, &world->settings);
    if (status != OMPRMA_OK)
        return status;
    description = place_describe(worker.place);
    hello->memory_bytes = description->memory_bytes;
    hello->memory_group = free_memory_limit("");
    hello->place = world->place;
    hello->host_cores = description->all_cores;
    hello->lends = worker.lends;
    hello->numa_node = description->numa_node;
    hello->shared = description->shared;
    memcpy(hello->cpus, description->cpus, sizeof(hello->cpus));
    return OMPRMA_OK;
}

/* Says what has failed before the application hears that something has, and ends all processes. */
static omprma_status_t attach(struct world *world, struct world_peer *mine, void *data)
{
    omprma_status_t status = attach_devices(world, mine);

    (void)data;
    worker.has_said = status != OMPRMA_OK && !worker.silent;
    if (worker.has_said)
        log_write(LOG_ERROR, "%s", error_text());
    return status;
}

static void close_connection(void)
{
    struct server *server = &worker.server;

    for (int i = 0; i < server->device_count; i++)
        server->devices[i].backend->close(&server->devices[i]);
    for (int kind = 0; kind < GPU_LIBRARIES && !server->lost; kind++)
        gpu_kinds[kind]->close();
    datapath_destroy(server->one_sided);
    for (int rank = 0; server->others && rank < worker.world.size; rank++)
        doorbell_close(server->others[rank]);
    free(server->others);
    datapath_destroy(server->two_sided);
    datapath_destroy(server->neighbours);
    channel_destroy(server->channel);
    world_leave(&worker.world);
    doorbell_close(worker.head_bell);
    doorbell_close(worker.bell);
}

/* The run has gone on without a worker that is lost, and MPI would wait for that one. */
static bool misses_peers(void)
{
    return worker.config.on_loss == ON_LOSS_CONTINUE && worker.server.session->lost_peers;
}

static void leave_without_mpi(void) __attribute__((noreturn));
static void leave_without_mpi(void)
{
    if (!worker.server.lost) /* a kernel that crashed may hold stdout */
        fflush(NULL);
    leftovers_remove(leftovers_own_job(), worker.since);
    _exit(EXIT_SUCCESS);
}

/* The end after a crash, on whatever thread serves. Parked threads hold the images, their libraries
 * and perhaps locks: those are left alone. The application reports the crash. */
static void leave_lost(void)
{
    if (misses_peers())
        leave_without_mpi();
    close_connection();
    if (worker.world.mpi)
        quick_end();
    _exit(EXIT_SUCCESS);
}

static omprma_status_t open_channel(struct world *world, struct channel **channel)
{
    bool is_awaited = !world_is_passive(world);
    bool is_told = world->elsewhere || (worker.head_bell && !is_awaited);
    const struct shm_options options = {
        .ranks = world->size,
        .own = worker.bell,
        .bells = worker.bells,
        .longest_ns = is_told ? INT64_MAX : SHORT_NAP_NS,
        .descriptors = world->elsewhere != NULL,
        .is_awaited = is_awaited,
    };
    struct channel *inner;
    omprma_status_t status = world->transport->open_channel(world, &inner);

    return status == OMPRMA_OK ? shm_channel_create(inner, &options, channel) : status;
}

static omprma_status_t connect_head(void)
{
    struct world *world = &worker.world;
    struct server *server = &worker.server;
    omprma_status_t status;

    worker.bells = calloc((size_t)world->size, sizeof(*worker.bells));
    if (!worker.bells)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d peers", world->size);
    worker.bells[world->head] = worker.head_bell;
    status = open_channel(world, &server->channel);
    if (status == OMPRMA_OK && worker.head_bell)
        shm_channel_share(server->channel, world->head, doorbell_shared(worker.bell), true);
    if (status == OMPRMA_OK)
        status = world->transport->open_two_sided(world, &server->two_sided);
    server->world = world;
    server->bell = worker.bell;
    server->sees_program = worker.head_bell != NULL;
    server->leave_lost = leave_lost;
    server->limits.spin_ns = (int64_t)world->settings.spin_us * 1000;
    return status;
}

static void close_all(void)
{
    if (misses_peers())
        leave_without_mpi();
    if (worker.server.lost)
        leave_lost();
    server_close(&worker.server);
    close_connection();
    free(worker.bells);
    for (int i = 0; i < worker.server.device_count; i++)
        place_destroy(worker.parts[i]);
    place_destroy(worker.place);
}

/* Faults are to come to their handlers, and whom a kernel starts is to be waited for, also where
 * whoever started the worker has blocked or ignores signals. */
static void clear_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
}

static omprma_status_t start(void)
{
    struct world_peer mine = {0};
    char who[128];
    int real_stderr = STDERR_FILENO;
    omprma_status_t status = config_load(&worker.config);

    if (status != OMPRMA_OK)
        return status;
    log_open("a worker", (int)worker.config.verbose);
    image_file_keep(worker.config.keep_images);
    world_prepare(WORLD_WORKER);
    worker.since = time(NULL);
    status = world_join(&worker.world, WORLD_WORKER, false);
    if (status != OMPRMA_OK)
        return status;
    host_name(mine.hello.host);
    mine.hello.first = worker.world.first;
    mine.hello.local_index = worker.world.local_index;
    snprintf(who, sizeof(who), "worker %d (%s)", own_number(), mine.hello.host);
    log_open(who, (int)worker.config.verbose);
    status = world_open(&worker.world, &mine, NULL, attach, NULL);
    if (status == OMPRMA_OK)
        status = connect_head();
    if (status == OMPRMA_OK)
        status = output_capture(worker.world.settings.line_output, &real_stderr);
    if (status == OMPRMA_OK)
        input_begin();
    log_to(real_stderr);
    if (status == OMPRMA_OK)
        status = crash_install(wake_server);
    if (status == OMPRMA_OK)
        status = server_open(&worker.server, worker.world.head);
    if (status == OMPRMA_OK)
        worker.server.session->stall_ns =
            (int64_t)worker.world.settings.timeout_s * INT64_C(1000000000);
    if (status == OMPRMA_OK)
        worker.server.session->traces = worker.world.settings.trace;
    return status;
}

static int usage(const char *option)
{
    if (strcmp(option, "--version") == 0) {
        printf("omprma-worker %s\n", OMPRMA_VERSION_STRING);
        return EXIT_SUCCESS;
    }
    if (strcmp(option, "--help") == 0 || strcmp(option, "--help=all") == 0) {
        printf("Usage: omprma-worker\n"
               "One or more devices of omprma. Started beside an application by omprma-run, or by "
               "hand:\n"
               "  mpirun -n 1 APPLICATION : -n WORKERS omprma-worker\n\nEnvironment:\n");
        config_print_help(stdout);
        return EXIT_SUCCESS;
    }
    log_write(LOG_ERROR, "omprma-worker: unknown argument %s; it takes none, see --help", option);
    return 2;
}

int main(int argc, char **argv)
{
    const char *session;
    omprma_status_t status;

    if ((argc == 5 || argc == 7) && strcmp(argv[1], DIRECT_AGENT_OPTION) == 0)
        return agent_run(argv[2], argv[3], argv[4], argv[5], argc == 7 ? argv[6] : NULL);
    if (argc == 2 && strcmp(argv[1], DIRECT_FAR_OPTION) == 0)
        return agent_run_far();
    session = argc == 3 && strcmp(argv[1], DIRECT_SESSION_OPTION) == 0 ? argv[2] : wrap_session();
    if (session)
        prctl(PR_SET_NAME, "omprma-worker"); /* it was started by another name of the file */
    if (argc > 1 && (!session || !direct_take_session(session)))
        return usage(argv[1]);
    if (argc == 1 && !(session && direct_take_session(session)) && !world_launched()) {
        log_write(LOG_ERROR, "omprma-worker serves a program that is started with it: use "
                             "omprma-run -n WORKERS PROGRAM");
        return 2;
    }
    clear_signals();
    if (wrap_enter(session, direct_session_number()) != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        return EXIT_FAILURE;
    }
    coming_say();
    if (quota_join(&worker.quota) != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        return EXIT_FAILURE;
    }
    status = start();
    if (status == OMPRMA_ERR_CLOSED || status == OMPRMA_ERR_VERSION ||
        status == OMPRMA_ERR_NO_WORKERS) { /* all processes decided the same */
        if (status == OMPRMA_ERR_NO_WORKERS && worker.world.rank == 0)
            log_write(LOG_ERROR, "%s", error_text());
        world_leave(&worker.world);
        /* Of CLOSED the application says why, and what follows. */
        return status == OMPRMA_ERR_CLOSED ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (status == OMPRMA_OK)
        status = server_run(&worker.server);
    server_follow_program(&worker.server, status);
    if (status != OMPRMA_OK) {
        if (worker.silent)
            sleep(1); /* the one that speaks is not to be killed before it has */
        else if (!worker.has_said)
            log_write(LOG_ERROR, "%s", error_text());
        world_abort(&worker.world, EXIT_FAILURE);
    }
    close_all();
    return EXIT_SUCCESS;
}
