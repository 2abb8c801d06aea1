/*
 * main.c: omprma-worker, one device. Started beside the application by omprma-run, mpirun or srun;
 * serves until the application ends. Only puts the parts together.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "control/mpi_channel.h"
#include "control/world.h"
#include "rma/rma.h"
#include "twosided/twosided.h"
#include "worker/crash.h"
#include "worker/output.h"
#include "worker/place.h"
#include "worker/server.h"

/* Longest sleep when the application cannot ring, or when one-sided transfers of others may need
 * this process to enter MPI. */
enum { SHORT_NAP_NS = 800000, SLICE_NS = 200000 };

struct worker {
    struct config config;
    struct world world;
    struct server server;
    struct place *place;
    struct doorbell *bell, *head_bell;
    struct doorbell **bells; /* by rank; only the head's is set */
};

static struct worker worker;

/* Called from a signal handler when a kernel has crashed. */
static void wake_server(void)
{
    if (worker.server.channel)
        channel_wake(worker.server.channel);
}

static uint64_t memory_limit(const struct place_description *description)
{
    if (worker.config.memory)
        return (uint64_t)worker.config.memory;
    return description->memory_bytes / 10 * 9 / (uint64_t)worker.world.local_count;
}

static void prepare_memory(void)
{
    struct memory *memory = &worker.server.memory;

    memory->path = worker.server.one_sided;
    memory->place = worker.place;
    memory->huge_pages = worker.config.huge_pages;
    memory->limit_bytes = memory_limit(place_describe(worker.place));
}

/* Where application and workers share processors, a worker that was rung waits until the slice of
 * whoever polls there is over, some milliseconds. Linux 6.12 and newer let a thread with a shorter
 * slice in before that; older ones ignore the wish. Threads made later inherit it. */
static void wish_short_slices(void)
{
    /* The kernel's struct sched_attr, whose header does not go together with <sched.h>. */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns, deadline_ns, period_ns;
    } attr = {.size = sizeof(attr)};

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0 || attr.policy != SCHED_OTHER)
        return;
    attr.slice_ns = SLICE_NS;
    if (syscall(SYS_sched_setattr, 0, &attr, 0) != 0)
        log_write(LOG_DETAIL, "short slices are not to be had: %s", strerror(errno));
}

/* Runs when the settings are known and the window is made: finds this worker's place and attaches
 * the first arena. */
static omprma_status_t attach(struct world *world, struct world_hello *hello, void *data)
{
    const struct place_description *description;
    uint64_t bytes = world->settings.arena_bytes;
    omprma_status_t status = OMPRMA_OK;

    (void)data;
    if (world->has_window)
        status = rma_create(world, NULL, &worker.server.one_sided);
    if (status == OMPRMA_OK)
        status = place_create(NULL, world->local_index, world->local_count, world->settings.lanes,
                              &worker.place);
    if (world->crowded)
        wish_short_slices();
    if (status == OMPRMA_OK)
        status = place_apply(worker.place, worker.config.bind);
    if (status == OMPRMA_OK)
        status = doorbell_create(&worker.bell, &hello->bell);
    if (status == OMPRMA_OK)
        status = doorbell_stay(worker.bell);
    if (status != OMPRMA_OK)
        return status;
    prepare_memory();
    if (bytes > worker.server.memory.limit_bytes)
        bytes = worker.server.memory.limit_bytes & ~(uint64_t)4095;
    status = memory_grow(&worker.server.memory, bytes, &hello->arena);
    if (status != OMPRMA_OK)
        return status;
    description = place_describe(worker.place);
    memcpy(hello->cpu, description->cpu, sizeof(hello->cpu));
    hello->cores = description->cores;
    hello->numa_node = description->numa_node;
    hello->memory_bytes = description->memory_bytes;
    hello->memory_limit = worker.server.memory.limit_bytes;
    hello->arena_bytes = bytes;
    return OMPRMA_OK;
}

static void close_connection(void)
{
    struct server *server = &worker.server;

    memory_close(&server->memory);
    datapath_destroy(server->one_sided);
    datapath_destroy(server->two_sided);
    channel_destroy(server->channel);
    world_leave(&worker.world);
    doorbell_close(worker.head_bell);
    doorbell_close(worker.bell);
}

/* The end after a crash, on whatever thread serves. Parked threads hold the images, their libraries
 * and perhaps locks: those are left alone. The application reports the crash. */
static void leave_lost(void)
{
    close_connection();
    _exit(EXIT_SUCCESS);
}

static omprma_status_t connect_head(void)
{
    struct world *world = &worker.world;
    struct server *server = &worker.server;
    omprma_status_t status;
    bool passive;

    worker.bells = calloc((size_t)world->size, sizeof(*worker.bells));
    if (!worker.bells)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d peers", world->size);
    worker.head_bell = doorbell_open(&world->settings.bell);
    worker.bells[world->head] = worker.head_bell;
    /* Within one host osc/rdma needs no help of the target; of others that is not known. */
    passive = !world->has_window || strcmp(world->component, "rdma") == 0;
    status = mpi_channel_create(world, worker.bell, worker.bells, worker.head_bell && passive,
                                SHORT_NAP_NS, &server->channel);
    if (status == OMPRMA_OK)
        status = twosided_create(world, &server->two_sided);
    server->world = world;
    server->place = worker.place;
    server->bell = worker.bell;
    server->head = world->head;
    server->lanes = world->settings.lanes;
    server->leave_lost = leave_lost;
    server->spin_ns = (int64_t)world->settings.spin_us * 1000;
    server->stall_ns = (int64_t)world->settings.timeout_s * INT64_C(1000000000);
    return status;
}

static void close_all(void)
{
    if (worker.server.lost)
        leave_lost();
    server_close(&worker.server);
    close_connection();
    free(worker.bells);
    place_destroy(worker.place);
}

static omprma_status_t start(void)
{
    struct world_hello hello = {0};
    char prefix[128];
    int real_stderr = STDERR_FILENO;
    omprma_status_t status = config_load(&worker.config);

    if (status != OMPRMA_OK)
        return status;
    log_open("omprma-worker", (int)worker.config.verbose);
    status = world_join(&worker.world, WORLD_WORKER, false);
    if (status != OMPRMA_OK)
        return status;
    gethostname(hello.host, sizeof(hello.host) - 1);
    snprintf(prefix, sizeof(prefix), "omprma-worker %d (%s)", worker.world.rank, hello.host);
    log_open(prefix, (int)worker.config.verbose);
    status = world_open(&worker.world, &hello, NULL, attach, NULL);
    if (status == OMPRMA_OK)
        status = connect_head();
    if (status == OMPRMA_OK)
        status = output_capture(worker.world.settings.line_output, &real_stderr);
    log_to(real_stderr);
    if (status == OMPRMA_OK)
        status = crash_install(wake_server);
    if (status == OMPRMA_OK)
        status = server_open(&worker.server);
    return status;
}

static int usage(const char *option)
{
    if (strcmp(option, "--version") == 0) {
        printf("omprma-worker %s\n", OMPRMA_VERSION_STRING);
        return EXIT_SUCCESS;
    }
    if (strcmp(option, "--help") == 0) {
        printf("Usage: omprma-worker\n"
               "One device of omprma. Started beside an application by omprma-run, or by hand:\n"
               "  mpirun -n 1 APPLICATION : -n WORKERS omprma-worker\n\nEnvironment:\n");
        config_print_help(stdout);
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "omprma-worker: unknown argument %s; it takes none, see --help\n", option);
    return 2;
}

int main(int argc, char **argv)
{
    omprma_status_t status;

    if (argc > 1)
        return usage(argv[1]);
    if (!world_launched()) {
        fprintf(stderr, "omprma-worker: it serves an application that is started with it: use "
                        "omprma-run -n WORKERS PROGRAM\n");
        return 2;
    }
    status = start();
    if (status == OMPRMA_ERR_CLOSED || status == OMPRMA_ERR_VERSION ||
        status == OMPRMA_ERR_NO_WORKERS) { /* all processes decided the same */
        if (status == OMPRMA_ERR_NO_WORKERS && worker.world.rank == 0)
            log_write(LOG_ERROR, "%s", error_text());
        world_leave(&worker.world);
        return EXIT_FAILURE;
    }
    if (status == OMPRMA_OK)
        status = server_run(&worker.server);
    if (status != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        world_abort(&worker.world, EXIT_FAILURE);
    }
    close_all();
    return EXIT_SUCCESS;
}
