/* mpi_world.c: see world.h. Roles, settings and descriptions go through one process (mpi_hub.h);
 * only communicators and window are made collectively, and not at all in a star. */
#define _GNU_SOURCE
#include "control/mpi_world.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "control/join.h"
#include "control/mpi_hub.h"
#include "control/mpi_yield.h"
#include "control/quick.h"
#include "control/single_copy.h"
#include "control/wire.h"

static uint32_t world_version(void)
{
    return (uint32_t)(OMPRMA_VERSION_MAJOR << 24 | OMPRMA_VERSION_MINOR << 16 |
                      OMPRMA_VERSION_PATCH << 8 | WIRE_VERSION);
}

omprma_status_t world_error(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown MPI error";
    int length = 0;

    MPI_Error_string(code, text, &length);
    return error_set(OMPRMA_ERR_MPI, "%s: %s", what, text);
}

void world_mpi_library(char *text, size_t bytes)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;

    MPI_Get_library_version(all, &length);
    snprintf(text, bytes, "%.*s", (int)strcspn(all, "\n"), all);
}

bool world_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
                                        "PMI_SIZE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return true;
    return false;
}

/* One process says so: the application. Where MPI runs it is too late. */
void world_prepare(enum world_role role)
{
    char library[128];
    int running = 0;

    MPI_Initialized(&running);
    world_mpi_library(library, sizeof(library));
    if (!running && strncmp(library, "Open MPI", 8) == 0)
        quirks_rank(&quick_own, quirks_openmpi_version(library), role == WORLD_HEAD);
}

/* `*level` is the thread level. */
static omprma_status_t join_start(struct world *world, int *level)
{
    int running = 0, ended = 0, code;

    MPI_Finalized(&ended);
    if (ended)
        return error_set(OMPRMA_ERR_MPI, "MPI was already finalized in this process");
    MPI_Initialized(&running);
    if (running) {
        code = MPI_Query_thread(level);
        return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "MPI_Query_thread");
    }
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, level);
    if (code != MPI_SUCCESS)
        return error_set(OMPRMA_ERR_MPI, "MPI_Init_thread failed with code %d", code);
    world->started_mpi = true;
    /* The default handler would end the job where something cannot be had. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (*level < MPI_THREAD_SERIALIZED)
        return error_set(OMPRMA_ERR_MPI,
                         "MPI gives thread level %d, at least %d "
                         "(MPI_THREAD_SERIALIZED) is needed",
                         *level, MPI_THREAD_SERIALIZED);
    return OMPRMA_OK;
}

/* A step of all together has failed here: the others do not know, and would wait. */
static omprma_status_t step_failed(struct world *world, int code, const char *what)
{
    world->torn = true;
    return world_error(code, what);
}

static omprma_status_t find_rank(struct world *world)
{
    int code = MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);

    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(MPI_COMM_WORLD, &world->size);
    return code == MPI_SUCCESS ? OMPRMA_OK : step_failed(world, code, "size of the job");
}

/* All tell rank 0 their roles and hear what follows from them. */
static int exchange_roles(struct world *world, const struct join_role *role,
                          struct join_answer *answer)
{
    struct join_role *roles = NULL;
    struct join_answer *answers = NULL;
    int code;

    if (world->rank == 0) {
        roles = calloc((size_t)world->size, sizeof(*roles));
        answers = calloc((size_t)world->size, sizeof(*answers));
        if (!roles || !answers)
            world_abort(world, EXIT_FAILURE);
    }
    code = hub_gather(world, 0, role, roles, sizeof(*role));
    if (code == MPI_SUCCESS && world->rank == 0)
        join_decide(roles, world->size, answers);
    if (code == MPI_SUCCESS)
        code = hub_scatter(world, 0, answers, answer, sizeof(*answer));
    free(roles);
    free(answers);
    return code;
}

/* The same for the processors that each may use, now that all are known to be of one version. */
static int exchange_places(struct world *world, const struct join_cpus *mine)
{
    struct join_cpus *cpus = NULL;
    struct join_place *places = NULL;
    int code;

    if (world->rank == 0) {
        cpus = calloc((size_t)world->size, sizeof(*cpus));
        places = calloc((size_t)world->size, sizeof(*places));
        if (!cpus || !places)
            world_abort(world, EXIT_FAILURE);
    }
    code = hub_gather(world, 0, mine, cpus, sizeof(*mine));
    if (code == MPI_SUCCESS && world->rank == 0)
        join_places(cpus, world->size, places);
    if (code == MPI_SUCCESS)
        code = hub_scatter(world, 0, places, &world->place, sizeof(world->place));
    free(cpus);
    free(places);
    return code;
}

static omprma_status_t judge(const struct join_answer *answer)
{
    switch ((enum join_verdict)answer->verdict) {
    case JOIN_VERSION:
        return error_set(OMPRMA_ERR_VERSION,
                         "this process is omprma %s, others are of another "
                         "version: use one version everywhere",
                         OMPRMA_VERSION_STRING);
    case JOIN_HEADS:
        return error_set(OMPRMA_ERR_NO_WORKERS,
                         "%d applications were started together; omprma "
                         "serves one application: start it with omprma-run",
                         answer->heads);
    case JOIN_ALONE:
        return error_set(OMPRMA_ERR_NO_WORKERS, "no workers: start the program with "
                                                "omprma-run -n WORKERS PROGRAM");
    case JOIN_STAR_RANK:
        return error_set(OMPRMA_ERR_NO_WORKERS,
                         "OMPRMA_EXCHANGE=application: the application is rank %d, but only as "
                         "rank 0 it can serve workers that cannot reach each other: start it with "
                         "omprma-run",
                         answer->head);
    case JOIN_GOES:
        break;
    }
    return OMPRMA_OK;
}

static omprma_status_t join_agree(struct world *world, enum world_role role, bool star)
{
    struct join_role mine = {.version = world_version(), .is_head = role == WORLD_HEAD};
    struct join_answer answer = {0};
    struct join_cpus cpus = {0};
    omprma_status_t status;
    cpu_set_t allowed;
    int code;

    mine.star = star;
    gethostname(mine.host, sizeof(mine.host) - 1);
    code = exchange_roles(world, &mine, &answer);
    if (code != MPI_SUCCESS)
        return step_failed(world, code, "first exchange of roles");
    world->head = answer.head;
    world->star = answer.star;
    world->local_index = answer.local_index;
    world->local_count = answer.local_workers;
    CPU_ZERO(&allowed);
    world->crowded = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
                     answer.local_processes > CPU_COUNT(&allowed);
    status = judge(&answer);
    if (status != OMPRMA_OK)
        return status;
    cpus.first = answer.first;
    cpus.is_head = role == WORLD_HEAD;
    _Static_assert(sizeof(cpus.words) == sizeof(allowed), "processors");
    memcpy(cpus.words, &allowed, sizeof(allowed));
    code = exchange_places(world, &cpus);
    return code == MPI_SUCCESS ? OMPRMA_OK : step_failed(world, code, "exchange of processors");
}

/* The head cannot go on: tells the workers, who leave. */
static int decline(struct world *world)
{
    world->settings = (struct world_settings){.head_rank = world->head};
    return hub_spread(world, world->head, &world->settings, sizeof(world->settings));
}

/* Whatever thread of the program waits drives MPI, while another may be in MPI by itself. */
static omprma_status_t check_level(struct world *world, enum world_role role, int level)
{
    if (role != WORLD_HEAD || world->started_mpi || level == MPI_THREAD_MULTIPLE)
        return OMPRMA_OK;
    decline(world);
    return error_set(OMPRMA_ERR_MPI,
                     "the program has started MPI with a thread level below MPI_THREAD_MULTIPLE, "
                     "which omprma needs beside it: ask for that in MPI_Init_thread, or call "
                     "omprma_init() before MPI is started, and leave starting it to omprma");
}

omprma_status_t world_join(struct world *world, enum world_role role, bool star)
{
    int level = MPI_THREAD_SINGLE;
    omprma_status_t status;

    streams_hold(); /* else they become connections of MPI's */
    memset(world, 0, sizeof(*world));
    world->component = "none";
    world->mpi = malloc(sizeof(*world->mpi));
    if (!world->mpi)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start MPI");
    *world->mpi = (struct world_mpi){MPI_COMM_NULL, MPI_COMM_NULL, MPI_WIN_NULL};
    status = join_start(world, &level);
    if (status != OMPRMA_OK)
        return status;
    quick_connection();
    status = find_rank(world);
    if (status == OMPRMA_OK)
        status = join_agree(world, role, star);
    return status == OMPRMA_OK ? check_level(world, role, level) : status;
}

static int duplicate(MPI_Comm *comm)
{
    int code = MPI_Comm_dup(MPI_COMM_WORLD, comm);

    /* Not on the program's own, whose handler it has so far. */
    return code == MPI_SUCCESS ? MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN) : code;
}

/* Communicators of our own keep our messages apart from the program's and from each other, and have
 * an error handler of their own. In a star none can be made: tags keep messages apart (tags.h), and
 * where the program started MPI, its handler stays. */
static int open_communicators(struct world *world)
{
    struct world_mpi *mpi = world->mpi;
    int code;

    if (world->star) {
        mpi->control = mpi->data = MPI_COMM_WORLD;
        return MPI_SUCCESS;
    }
    code = duplicate(&mpi->control);
    return code == MPI_SUCCESS ? duplicate(&mpi->data) : code;
}

/* Open MPI's handle is a pointer, and tells its component. */
static const char *component_of(MPI_Win window)
{
    return quirks_component(sizeof(window) == sizeof(void *) ? (const void *)(uintptr_t)window
                                                             : NULL);
}

/* Why there is no window. */
static void say_why(struct world *world, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;

    if (!single_copy_is_allowed())
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "processes may not copy each other's memory here (%s), as in containers without "
                 "SYS_PTRACE",
                 strerror(errno));
    else if (MPI_Error_string(code, text, &length) == MPI_SUCCESS)
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "MPI offers no dynamic window here (%.*s)", (int)sizeof(world->why_no_window) / 2,
                 text);
}

/* All must have the window, or nobody uses it. Making it is collective. */
static int open_window(struct world *world)
{
    struct world_mpi *mpi = world->mpi;
    int code, good, all_good = 0;

    if (world->star) {
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "no window is made, because with OMPRMA_EXCHANGE=application workers need not "
                 "reach each other");
        return MPI_SUCCESS;
    }
    code = MPI_Win_create_dynamic(MPI_INFO_NULL, mpi->control, &mpi->window);
    if (code != MPI_SUCCESS) {
        say_why(world, code);
        mpi->window = MPI_WIN_NULL;
    }
    good = code == MPI_SUCCESS;
    code = MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, mpi->control);
    if (code != MPI_SUCCESS)
        return code;
    if (!all_good) {
        if (!world->why_no_window[0])
            snprintf(world->why_no_window, sizeof(world->why_no_window),
                     "MPI offers no dynamic window here (another process could not create it)");
        mpi->window = MPI_WIN_NULL; /* not freed: that is collective, and some have none */
        return MPI_SUCCESS;
    }
    world->has_window = true;
    world->component = component_of(mpi->window);
    return MPI_Win_set_errhandler(mpi->window, MPI_ERRORS_RETURN);
}

/* Room for what the worker of a rank says about its devices. */
static omprma_status_t expect_devices(struct world_peer *peer, int rank)
{
    int32_t count = peer->hello.device_count;

    if (count < 1 || count > WORLD_DEVICES_MOST)
        return error_set(OMPRMA_ERR_PROTOCOL, "the worker of rank %d says that it has %d devices",
                         rank, count);
    peer->devices = calloc((size_t)count, sizeof(*peer->devices));
    return peer->devices ? OMPRMA_OK
                         : error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d devices", count);
}

/* On the head: receives all descriptions. */
static omprma_status_t hear_of_peers(struct world *world, const struct world_peer *mine,
                                     struct world_peer *peers)
{
    size_t ranks = (size_t)world->size;
    struct world_hello *hellos = calloc(ranks, sizeof(*hellos));
    void **all = calloc(ranks, sizeof(*all));
    size_t *bytes = calloc(ranks, sizeof(*bytes));
    omprma_status_t status = OMPRMA_OK;
    int code;

    if (!hellos || !all || !bytes)
        world_abort(world, 1);
    code = hub_gather(world, world->head, &mine->hello, hellos, sizeof(*hellos));
    for (int rank = 0; rank < world->size && code == MPI_SUCCESS && status == OMPRMA_OK; rank++) {
        peers[rank].hello = hellos[rank];
        if (rank == world->head)
            continue;
        status = expect_devices(&peers[rank], rank);
        all[rank] = peers[rank].devices;
        bytes[rank] = (size_t)hellos[rank].device_count * sizeof(*peers->devices);
    }
    if (code == MPI_SUCCESS && status == OMPRMA_OK)
        code = hub_collect(world, world->head, NULL, 0, all, bytes);
    free(hellos);
    free(all);
    free(bytes);
    return code == MPI_SUCCESS ? status : world_error(code, "exchange of descriptions");
}

static omprma_status_t describe(struct world *world, const struct world_peer *mine)
{
    int code = hub_gather(world, world->head, &mine->hello, NULL, sizeof(mine->hello));

    if (code == MPI_SUCCESS)
        code = hub_collect(world, world->head, mine->devices,
                           (size_t)mine->hello.device_count * sizeof(*mine->devices), NULL, NULL);
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "exchange of descriptions");
}

void world_free_peers(struct world_peer *peers, int size)
{
    for (int rank = 0; peers && rank < size; rank++)
        free(peers[rank].devices);
    free(peers);
}

omprma_status_t world_open(struct world *world, struct world_peer *mine, struct world_peer **all,
                           world_attach attach, void *data)
{
    struct world_peer *peers = NULL;
    omprma_status_t status = OMPRMA_OK;
    char library[128];
    bool any = false;
    int code;

    world->settings.head_rank = world->head;
    code = hub_spread(world, world->head, &world->settings, sizeof(world->settings));
    if (code == MPI_SUCCESS && world->settings.lanes == 0)
        return error_set(OMPRMA_ERR_CLOSED, "the application could not start");
    if (code == MPI_SUCCESS)
        code = open_communicators(world);
    if (code != MPI_SUCCESS)
        return world_error(code, "start-up of communicators");
    code = open_window(world);
    if (code != MPI_SUCCESS)
        return world_error(code, "start-up of the window");
    world_mpi_library(library, sizeof(library));
    world->quirks = quirks_for(quirks_openmpi_version(library), world->component);
    if (attach)
        status = attach(world, mine, data);
    code = hub_any(world, world->head, status != OMPRMA_OK, &any);
    if (status != OMPRMA_OK)
        return status;
    if (any)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "a worker could not start; its own message says why");
    if (code == MPI_SUCCESS && world->has_window)
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, world->mpi->window);
    if (code != MPI_SUCCESS)
        return world_error(code, "start-up of the window");
    if (all) {
        peers = calloc((size_t)world->size, sizeof(*peers));
        if (!peers)
            world_abort(world, 1);
    }
    status = all ? hear_of_peers(world, mine, peers) : describe(world, mine);
    if (status != OMPRMA_OK) {
        world_free_peers(peers, world->size);
        return status;
    }
    if (all)
        *all = peers;
    /* UCX waits inside its calls for peers to make progress, and those need the processor. */
    if (world->started_mpi) {
        mpi_yield_find(strcmp(world->component, "ucx") == 0);
        mpi_yield_allow(false);
    }
    return OMPRMA_OK;
}

static int free_communicator(MPI_Comm *comm)
{
    return *comm != MPI_COMM_NULL && *comm != MPI_COMM_WORLD ? MPI_Comm_free(comm) : MPI_SUCCESS;
}

/* All of it is collective: after what fails, the others wait for this process. */
static int free_all(struct world *world)
{
    struct world_mpi *mpi = world->mpi;
    int code = MPI_SUCCESS;

    if (world->has_window)
        code = MPI_Win_unlock_all(mpi->window);
    if (code == MPI_SUCCESS && world->has_window)
        code = MPI_Win_free(&mpi->window);
    if (code == MPI_SUCCESS && mpi)
        code = free_communicator(&mpi->data);
    if (code == MPI_SUCCESS && mpi)
        code = free_communicator(&mpi->control);
    if (code == MPI_SUCCESS && world->started_mpi)
        code = MPI_Finalize();
    return code;
}

void world_leave(struct world *world)
{
    int code;

    mpi_yield_allow(true);
    code = free_all(world);
    if (code != MPI_SUCCESS) {
        world_error(code, "leaving MPI");
        log_write(LOG_ERROR, "%s", error_text());
        fflush(NULL);
        world_abort(world, EXIT_FAILURE);
    }
    free(world->mpi);
    world->mpi = NULL;
}

void world_abort(struct world *world, int code)
{
    int running = 0, ended = 0;

    (void)world;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (running && !ended)
        MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}
