/* world.c: see world.h. A fixed number of collectives, whatever the number of workers. */
#define _GNU_SOURCE
#include "control/world.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/wire.h"

/* Compared over all processes; see join_agree(). */
enum { AGREE_VERSION, AGREE_NOT_VERSION, AGREE_NOT_HEAD_RANK, AGREE_FIELDS };

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

bool world_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
                                        "PMI_SIZE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return true;
    return false;
}

static omprma_status_t join_start(struct world *world)
{
    int running = 0, ended = 0, level = MPI_THREAD_SINGLE, code;

    MPI_Finalized(&ended);
    if (ended)
        return error_set(OMPRMA_ERR_MPI, "MPI was already finalized in this process");
    MPI_Initialized(&running);
    if (running) {
        MPI_Query_thread(&level);
    } else {
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
        if (code != MPI_SUCCESS)
            return error_set(OMPRMA_ERR_MPI, "MPI_Init_thread failed with code %d", code);
        world->started_mpi = true;
    }
    if (level < MPI_THREAD_SERIALIZED)
        return error_set(OMPRMA_ERR_MPI,
                         "MPI gives thread level %d, at least %d "
                         "(MPI_THREAD_SERIALIZED) is needed",
                         level, MPI_THREAD_SERIALIZED);
    return OMPRMA_OK;
}

/* Finds the one head and compares versions, in two reductions. */
static omprma_status_t join_agree(struct world *world, enum world_role role)
{
    uint32_t mine[AGREE_FIELDS], most[AGREE_FIELDS];
    int heads = role == WORLD_HEAD, all_heads = 0, code;

    mine[AGREE_VERSION] = world_version();
    mine[AGREE_NOT_VERSION] = ~world_version();
    mine[AGREE_NOT_HEAD_RANK] = role == WORLD_HEAD ? ~(uint32_t)world->rank : 0;
    code = MPI_Allreduce(mine, most, AGREE_FIELDS, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&heads, &all_heads, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS)
        return world_error(code, "first exchange of roles");
    if (most[AGREE_VERSION] != ~most[AGREE_NOT_VERSION])
        return error_set(OMPRMA_ERR_VERSION,
                         "this process is omprma %s, others are of another "
                         "version: use one version everywhere",
                         OMPRMA_VERSION_STRING);
    if (all_heads != 1)
        return error_set(OMPRMA_ERR_NO_WORKERS,
                         "%d applications were started together; omprma "
                         "serves one application: start it with omprma-run",
                         all_heads);
    if (world->size < 2)
        return error_set(OMPRMA_ERR_NO_WORKERS, "no workers: start the program with "
                                                "omprma-run -n WORKERS PROGRAM");
    world->head = (int)~most[AGREE_NOT_HEAD_RANK];
    return OMPRMA_OK;
}

/* Which of its host's workers this one is. */
static omprma_status_t join_local(struct world *world, enum world_role role)
{
    MPI_Comm local;
    int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL,
                                   &local);
    int worker = role == WORLD_WORKER, before = 0, rank = 0, processes = 0;
    cpu_set_t allowed;

    if (code != MPI_SUCCESS)
        return world_error(code, "MPI_Comm_split_type");
    MPI_Exscan(&worker, &before, 1, MPI_INT, MPI_SUM, local);
    MPI_Allreduce(&worker, &world->local_count, 1, MPI_INT, MPI_SUM, local);
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &processes);
    world->local_index = rank == 0 ? 0 : before;
    CPU_ZERO(&allowed);
    world->crowded =
        sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && processes > CPU_COUNT(&allowed);
    MPI_Comm_free(&local);
    return OMPRMA_OK;
}

omprma_status_t world_join(struct world *world, enum world_role role)
{
    omprma_status_t status;

    memset(world, 0, sizeof(*world));
    world->control = world->data = MPI_COMM_NULL;
    world->window = MPI_WIN_NULL;
    world->component = "none";
    status = join_start(world);
    if (status != OMPRMA_OK)
        return status;
    /* The default handler would end the job where a window cannot be made. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->size);
    status = join_agree(world, role);
    if (status == OMPRMA_OK)
        status = join_local(world, role);
    return status;
}

/* All must have the window, or nobody uses it. */
static void open_window(struct world *world)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, code, good, all_good = 0;

    code = MPI_Win_create_dynamic(MPI_INFO_NULL, world->control, &world->window);
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &length);
        snprintf(world->why_no_window, sizeof(world->why_no_window), "%.*s",
                 (int)sizeof(world->why_no_window) - 1, text);
        world->window = MPI_WIN_NULL;
    }
    good = code == MPI_SUCCESS;
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, world->control);
    if (!all_good) {
        if (!world->why_no_window[0])
            snprintf(world->why_no_window, sizeof(world->why_no_window),
                     "another process could not create it");
        world->window = MPI_WIN_NULL; /* not freed: that is collective, and some have none */
        return;
    }
    MPI_Win_set_errhandler(world->window, MPI_ERRORS_RETURN);
    world->component = quirks_component(world->window);
}

omprma_status_t world_open(struct world *world, struct world_hello *hello, struct world_hello **all,
                           world_attach attach, void *data)
{
    struct world_hello *hellos = NULL;
    omprma_status_t status = OMPRMA_OK;
    int code, failed, any = 0;

    world->settings.head_rank = world->head;
    code = MPI_Bcast(&world->settings, (int)sizeof(world->settings), MPI_BYTE, world->head,
                     MPI_COMM_WORLD);
    if (code == MPI_SUCCESS && world->settings.lanes == 0)
        return error_set(OMPRMA_ERR_CLOSED, "the application could not start");
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup(MPI_COMM_WORLD, &world->control);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup(MPI_COMM_WORLD, &world->data);
    if (code != MPI_SUCCESS)
        return world_error(code, "start-up of communicators");
    open_window(world);
    world->quirks = quirks_for(quirks_openmpi_version(), world->component);
    if (attach)
        status = attach(world, hello, data);
    failed = status != OMPRMA_OK;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, world->control);
    if (any)
        return failed ? status
                      : error_set(OMPRMA_ERR_DEVICE_MEMORY, "a worker could not start; "
                                                            "its own message says why");
    if (world->window != MPI_WIN_NULL) {
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, world->window);
        if (code != MPI_SUCCESS)
            return world_error(code, "MPI_Win_lock_all");
    }
    if (all) {
        hellos = calloc((size_t)world->size, sizeof(*hellos));
        if (!hellos)
            world_abort(world, 1);
    }
    code = MPI_Gather(hello, (int)sizeof(*hello), MPI_BYTE, hellos, (int)sizeof(*hello), MPI_BYTE,
                      world->head, world->control);
    if (code != MPI_SUCCESS) {
        free(hellos);
        return world_error(code, "exchange of descriptions");
    }
    if (all)
        *all = hellos;
    return OMPRMA_OK;
}

void world_leave(struct world *world)
{
    if (world->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(world->window);
        MPI_Win_free(&world->window);
    }
    if (world->data != MPI_COMM_NULL)
        MPI_Comm_free(&world->data);
    if (world->control != MPI_COMM_NULL)
        MPI_Comm_free(&world->control);
    if (world->started_mpi)
        MPI_Finalize();
}

void world_abort(struct world *world, int code)
{
    (void)world;
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}
