/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * world.c: MPI's part of start-up and end. Only communicators and window are made collectively,
 * and not at all in a star.
 */
#define _GNU_SOURCE
#include "control/mpi/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/library/library.h"
#include "control/library/loaded.h"
#include "control/library/quick.h"
#include "control/shm/room.h"
#include "control/shm/single_copy.h"
#include "control/mpi/tags.h"
#include "control/mpi/yield.h"

omprma_status_t world_error(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown MPI error";
    int length = 0;

    MPI_Error_string(code, text, &length);
    return error_set(OMPRMA_ERR_MPI, "%s: %s", what, text);
}

/* Room for what any MPI library says: where two are in one process, the one that answers need not
 * be that of mpi.h, whose MPI_MAX_LIBRARY_VERSION_STRING may be less. */
enum { LIBRARY_TEXT_BYTES = 8192 };

void mpi_library(char *text, size_t bytes)
{
    char all[LIBRARY_TEXT_BYTES] = "";
    int length = 0;

    _Static_assert(LIBRARY_TEXT_BYTES >= MPI_MAX_LIBRARY_VERSION_STRING, "room for the text");
    MPI_Get_library_version(all, &length);
    snprintf(text, bytes, "%.*s", (int)strcspn(all, "\n"), all);
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' ';
}

static struct library mpi_which(void)
{
    char text[128];

    mpi_library(text, sizeof(text));
    return library_of(text);
}

/* One process says so: the application, for which omprma-run has done what workers do here. Where
 * MPI runs it is too late. */
void mpi_prepare(bool is_worker)
{
    struct library library = mpi_which();
    int running = 0;

    if (is_worker) {
        quick_rank(&quick_own);
        quirks_single_copy(&quick_own);
    }
    MPI_Initialized(&running);
    if (!running && library.kind == LIBRARY_OPENMPI)
        quirks_rank(&quick_own, &library, !is_worker);
}

/* `*level` is the thread level. */
static omprma_status_t start_library(struct world *world, int *level)
{
    char library[128];
    int running = 0, ended = 0, code;
    omprma_status_t status;

    mpi_library(library, sizeof(library));
    status = library_check(library, getenv(LIBRARY_LAUNCHER));
    if (status == OMPRMA_OK)
        status = loaded_check((const void *)(uintptr_t)&MPI_Init_thread);
    if (status != OMPRMA_OK)
        return status;
    unsetenv(LIBRARY_LAUNCHER); /* not for children */
    MPI_Finalized(&ended);
    if (ended)
        return error_set(OMPRMA_ERR_MPI, "MPI was already finalized in this process");
    MPI_Initialized(&running);
    if (running) {
        code = MPI_Query_thread(level);
        return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "MPI_Query_thread");
    }
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, level);
    if (code != MPI_SUCCESS) {
        quick_end();
        return error_set(OMPRMA_ERR_MPI, "MPI_Init_thread failed with code %d", code);
    }
    world->started_mpi = true;
    /* The default handler would end the job where something cannot be had. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (*level < MPI_THREAD_SERIALIZED)
        return error_set(
            OMPRMA_ERR_MPI, "MPI gives thread level %s, and MPI_THREAD_SERIALIZED is needed",
            *level < MPI_THREAD_FUNNELED ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
    return OMPRMA_OK;
}

/* ---- the bootstrap ---- */

static omprma_status_t say(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown MPI error";
    int length = 0;

    if (code == MPI_SUCCESS)
        return OMPRMA_OK;
    MPI_Error_string(code, text, &length);
    return error_set(OMPRMA_ERR_MPI, "%s", text);
}

/* The messages are so small that MPI sends them without waiting for a receiver. */
static omprma_status_t bootstrap_send(const void *data, size_t bytes, int to)
{
    return say(MPI_Send(data, (int)bytes, MPI_BYTE, to, START_TAG, MPI_COMM_WORLD));
}

static omprma_status_t bootstrap_receive(void *data, size_t bytes, int from)
{
    return say(
        MPI_Recv(data, (int)bytes, MPI_BYTE, from, START_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static omprma_status_t find_rank(struct world *world)
{
    int code = MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);

    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(MPI_COMM_WORLD, &world->size);
    world->torn = code != MPI_SUCCESS; /* the others do not know, and would wait */
    world->bootstrap =
        (struct bootstrap){world->rank, world->size, bootstrap_send, bootstrap_receive};
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "size of the job");
}

omprma_status_t mpi_start(struct world *world)
{
    int level = MPI_THREAD_SINGLE;
    omprma_status_t status;

    world->mpi = malloc(sizeof(*world->mpi));
    if (!world->mpi)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start MPI");
    *world->mpi = (struct world_mpi){MPI_COMM_NULL, MPI_COMM_NULL, MPI_WIN_NULL, 0, NULL};
    status = start_library(world, &level);
    if (status != OMPRMA_OK)
        return status;
    world->serves_threads = world->started_mpi || level == MPI_THREAD_MULTIPLE;
    quick_connection();
    return find_rank(world);
}

/* ---- communicators and window ---- */

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

/* Who shares memory with this process. Collective. */
static int find_near(struct world *world)
{
    int *all = calloc((size_t)world->size, sizeof(*all)),
        *there = calloc((size_t)world->size, sizeof(*there));
    MPI_Group group = MPI_GROUP_NULL, group_here = MPI_GROUP_NULL;
    MPI_Comm here = MPI_COMM_NULL;
    int code =
        MPI_Comm_split_type(world->mpi->control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);

    world->mpi->near = calloc((size_t)world->size, sizeof(*world->mpi->near));
    if (code == MPI_SUCCESS && !(all && there && world->mpi->near))
        code = MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = MPI_Comm_group(world->mpi->control, &group);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_group(here, &group_here);
    for (int rank = 0; code == MPI_SUCCESS && rank < world->size; rank++)
        all[rank] = rank;
    if (code == MPI_SUCCESS)
        code = MPI_Group_translate_ranks(group, world->size, all, group_here, there);
    for (int rank = 0; code == MPI_SUCCESS && rank < world->size; rank++)
        world->mpi->near[rank] = there[rank] != MPI_UNDEFINED;
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    if (group_here != MPI_GROUP_NULL)
        MPI_Group_free(&group_here);
    if (here != MPI_COMM_NULL)
        MPI_Comm_free(&here);
    free(all);
    free(there);
    return code;
}

/* Why there is no window. `code`: of the call that was to make it, which may be another process's
 * failure. Collective. */
static int say_why(struct world *world, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "another process could not create it";
    int length, near = 0, result = find_near(world);
    uint64_t left;

    if (result != MPI_SUCCESS)
        return result;
    for (int rank = 0; rank < world->size; rank++)
        near += world->mpi->near[rank];
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    world->other_osc = "ucx";
    if (!single_copy_is_allowed())
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "processes may not copy each other's memory here (%s), as in containers without "
                 "SYS_PTRACE",
                 strerror(errno));
    else if (shm_room(&left) && left >> 20 < SHM_ROOM_ENOUGH_MIB)
        snprintf(
            world->why_no_window, sizeof(world->why_no_window),
            "MPI offers no dynamic window here: /dev/shm has only %llu KiB left, and %d MiB are "
            "enough (mount -o remount,size=1g /dev/shm; Docker: --shm-size 1g)",
            (unsigned long long)(left >> 10), SHM_ROOM_ENOUGH_MIB);
    else if (near < world->size)
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "MPI offers no dynamic window between these hosts, like Open MPI 4.1 over TCP "
                 "(%.*s); --osc ucx has one",
                 (int)sizeof(world->why_no_window) / 2, text);
    else
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "MPI offers no dynamic window here (%.*s)", (int)sizeof(world->why_no_window) / 2,
                 text);
    return MPI_SUCCESS;
}

/* What is known of this library with the window's component. */
static unsigned find_quirks(const struct world *world, const char *component)
{
    struct library library = mpi_which();
    unsigned quirks = quirks_for(&library, component);
    char text[128];

    mpi_library(text, sizeof(text));
    if (library.kind == LIBRARY_OTHER && world->rank == world->head)
        log_write(LOG_CHOICE,
                  "the MPI library is %s, of which omprma knows nothing: it is used with the care "
                  "that Open MPI 4.0 needs",
                  text);

    if ((quirks & QUIRK_ONE_THREAD) && !quirks_ucx_asserts_threads())
        quirks &= ~(unsigned)QUIRK_ONE_THREAD;
    if ((quirks & QUIRK_PEERS_END) && !quirks_has_ucx())
        quirks &= ~(unsigned)QUIRK_PEERS_END;
    return quirks;
}

/* All of them have it, and all give it back, so that other threads may call MPI. */
static int refuse_window(struct world *world)
{
    world->other_osc = "rdma";
    snprintf(world->why_no_window, sizeof(world->why_no_window),
             "osc/%s of this Open MPI would end the process as soon as a second thread calls MPI "
             "(quirk one-thread)",
             world->component);
    world->component = "none";
    return MPI_Win_free(&world->mpi->window);
}

/* All must have the window, or nobody uses it. Making it is collective. */
static int open_window(struct world *world)
{
    struct world_mpi *mpi = world->mpi;
    int code, mine[2] = {0}, all[2] = {0}; /* there is one; it may stay */

    if (world->star) {
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "no window is made, because with OMPRMA_EXCHANGE=application workers need not "
                 "reach each other");
        return MPI_SUCCESS;
    }
    code = MPI_Win_create_dynamic(MPI_INFO_NULL, mpi->control, &mpi->window);
    mine[0] = code == MPI_SUCCESS;
    if (mine[0]) {
        world->component = component_of(mpi->window);
        mpi->quirks = find_quirks(world, world->component);
        mine[1] = !(mpi->quirks & QUIRK_ONE_THREAD);
    }
    int result = MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, mpi->control);
    if (result != MPI_SUCCESS)
        return result;
    if (all[0] && !all[1])
        return refuse_window(world);
    if (!all[0]) {
        mpi->window = MPI_WIN_NULL; /* not freed: that is collective, and some have none */
        mpi->quirks = 0;
        world->component = "none";
        return say_why(world, code);
    }
    world->has_window = true;
    return MPI_Win_set_errhandler(mpi->window, MPI_ERRORS_RETURN);
}

/* Within one host osc/rdma copies by itself, until 5.0; of other components it is not known. */
static void learn_properties(struct world *world)
{
    world->can.target_is_passive =
        strcmp(world->component, "rdma") == 0 && !(world->mpi->quirks & QUIRK_TARGET_POLLS);
    world->can.calls_wait = world->mpi->quirks & QUIRK_CALLS_WAIT;
    world->can.attach_needs_quiet = world->mpi->quirks & (QUIRK_TABLE_RACE | QUIRK_TABLE_RACE_NEAR);
    world->can.ends_with_peer = world->mpi->quirks & QUIRK_PEERS_END;
    world->can.may_be_slow = world->mpi->quirks & QUIRK_SLOW_LARGE;
}

void mpi_print_quirks(const struct world *world, const char *title, FILE *out)
{
    if (!world->mpi || !world->mpi->quirks)
        return;
    fprintf(out, "%s\n", title);
    quirks_print(world->mpi->quirks, out);
}

omprma_status_t mpi_connect(struct world *world)
{
    int code = open_communicators(world);

    if (code != MPI_SUCCESS)
        return world_error(code, "start-up of communicators");
    code = open_window(world);
    if (code != MPI_SUCCESS)
        return world_error(code, "start-up of the window");
    learn_properties(world);
    code = world->mpi->quirks & QUIRK_PUT_LEAK ? find_near(world) : MPI_SUCCESS;
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "start-up of the window");
}

omprma_status_t mpi_begin(struct world *world)
{
    int code =
        world->has_window ? MPI_Win_lock_all(MPI_MODE_NOCHECK, world->mpi->window) : MPI_SUCCESS;

    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "start-up of the window");
}

/* UCX waits inside its calls for peers to make progress, and those need the processor. */
void mpi_started(struct world *world)
{
    if (world->rank != world->head)
        quick_forget_hwloc();
    if (!world->started_mpi)
        return;
    mpi_yield_find(strcmp(world->component, "ucx") == 0);
    mpi_yield_allow(false);
}

/* ---- the end ---- */

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
    if (code == MPI_SUCCESS && world->started_mpi) {
        code = MPI_Finalize();
        quick_end();
    }
    return code;
}

omprma_status_t mpi_leave(struct world *world)
{
    int code;

    mpi_yield_allow(true);
    code = free_all(world);
    if (code != MPI_SUCCESS)
        return world_error(code, "leaving MPI");
    free(world->mpi->near);
    free(world->mpi);
    world->mpi = NULL;
    return OMPRMA_OK;
}

void mpi_abort(int code)
{
    int running = 0, ended = 0;

    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (running && !ended)
        MPI_Abort(MPI_COMM_WORLD, code);
}
