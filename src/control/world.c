/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * world.c: start-up in steps that all processes take together. Roles, processors, settings and
 * descriptions go through one process (bootstrap.h), and join.h decides what follows from the
 * roles. What the library that connects the processes has to do in between stands behind
 * transport.h.
 */
#define _GNU_SOURCE
#include "control/world.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "control/bootstrap.h"
#include "control/direct/world.h"
#include "control/host.h"
#include "control/join.h"
#include "control/module.h"
#include "control/transport.h"
#include "control/wire.h"

static uint32_t world_version(void)
{
    return (uint32_t)(OMPRMA_VERSION_MAJOR << 24 | OMPRMA_VERSION_MINOR << 16 |
                      OMPRMA_VERSION_PATCH << 8 | WIRE_VERSION);
}

/* An error, with the step that it belongs to. */
static omprma_status_t in_step(omprma_status_t status, const char *step)
{
    return status == OMPRMA_OK ? status : error_set(status, "%s: %s", step, error_text());
}

/* A step of all together has failed here: the others do not know, and would wait. */
static omprma_status_t step_failed(struct world *world, omprma_status_t status, const char *step)
{
    world->torn = true;
    return in_step(status, step);
}

/* All tell rank 0 their roles and hear what follows from them. */
static omprma_status_t exchange_roles(struct world *world, const struct join_role *role,
                                      struct join_answer *answer)
{
    struct join_role *roles = NULL;
    struct join_answer *answers = NULL;
    omprma_status_t status;

    if (world->rank == 0) {
        roles = calloc((size_t)world->size, sizeof(*roles));
        answers = calloc((size_t)world->size, sizeof(*answers));
        if (!roles || !answers)
            world_abort(world, EXIT_FAILURE);
    }
    status = bootstrap_gather(&world->bootstrap, 0, role, roles, sizeof(*role));
    if (status == OMPRMA_OK && world->rank == 0)
        join_decide(roles, world->size, answers);
    if (status == OMPRMA_OK)
        status = bootstrap_scatter(&world->bootstrap, 0, answers, answer, sizeof(*answer));
    free(roles);
    free(answers);
    return status;
}

/* The same for the processors that each may use, now that all are known to be of one version. */
static omprma_status_t exchange_places(struct world *world, const struct join_cpus *mine)
{
    struct join_cpus *cpus = NULL;
    struct join_place *places = NULL;
    omprma_status_t status;

    if (world->rank == 0) {
        cpus = calloc((size_t)world->size, sizeof(*cpus));
        places = calloc((size_t)world->size, sizeof(*places));
        if (!cpus || !places)
            world_abort(world, EXIT_FAILURE);
    }
    status = bootstrap_gather(&world->bootstrap, 0, mine, cpus, sizeof(*mine));
    if (status == OMPRMA_OK && world->rank == 0)
        join_places(cpus, world->size, places);
    if (status == OMPRMA_OK)
        status =
            bootstrap_scatter(&world->bootstrap, 0, places, &world->place, sizeof(world->place));
    free(cpus);
    free(places);
    return status;
}

/* The host's slots are divided, whichever of them this program has. */
static void take_slot(struct world *world)
{
    world->place.index = world->local_index = world->slot;
    world->place.count = world->local_count = world->slots;
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

    mine.star = star;
    _Static_assert(sizeof(mine.host) == HOST_TEXT_BYTES, "text of a host");
    host_identity(mine.host);
    status = exchange_roles(world, &mine, &answer);
    if (status != OMPRMA_OK)
        return step_failed(world, status, "first exchange of roles");
    world->head = answer.head;
    world->star = answer.star;
    world->first = answer.first;
    world->local_index = answer.local_index;
    world->local_count = answer.local_workers;
    CPU_ZERO(&allowed);
    if (world->processes < answer.local_processes)
        world->processes = answer.local_processes;
    world->crowded = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
                     world->processes > CPU_COUNT(&allowed);
    status = judge(&answer);
    if (status != OMPRMA_OK)
        return status;
    cpus.first = answer.first;
    cpus.is_head = role == WORLD_HEAD;
    _Static_assert(sizeof(cpus.words) == sizeof(allowed), "processors");
    memcpy(cpus.words, &allowed, sizeof(allowed));
    status = exchange_places(world, &cpus);
    if (world->slots)
        take_slot(world);
    return status == OMPRMA_OK ? OMPRMA_OK : step_failed(world, status, "exchange of processors");
}

/* The head cannot go on: tells the workers, who leave. */
static omprma_status_t decline(struct world *world)
{
    world->settings = (struct world_settings){.head_rank = world->head};
    return bootstrap_spread(&world->bootstrap, world->head, &world->settings,
                            sizeof(world->settings));
}

/* Whatever thread of the program waits drives MPI, while another may be in MPI by itself. */
static omprma_status_t check_threads(struct world *world, enum world_role role)
{
    if (role != WORLD_HEAD || world->serves_threads)
        return OMPRMA_OK;
    decline(world);
    return error_set(OMPRMA_ERR_MPI,
                     "the program has started MPI with a thread level below MPI_THREAD_MULTIPLE, "
                     "which omprma needs beside it: ask for that in MPI_Init_thread, or call "
                     "omprma_init() before MPI is started, and leave starting it to omprma");
}

/* MPI is not even loaded where sockets do. NULL: it cannot be had, and error_text() says why. */
static const struct transport *choose_transport(void)
{
    return direct_is_wanted() ? &transport_direct : transport_mpi_open();
}

void world_prepare(enum world_role role)
{
    const struct transport *transport = choose_transport();

    if (transport && transport->prepare)
        transport->prepare(role == WORLD_WORKER);
}

omprma_status_t world_join(struct world *world, enum world_role role, bool star)
{
    omprma_status_t status;

    streams_hold(); /* else they become connections of the library */
    memset(world, 0, sizeof(*world));
    world->component = "none";
    world->transport = choose_transport();
    if (!world->transport)
        return OMPRMA_ERR_CONFIG;
    status = world->transport->start(world);
    if (status == OMPRMA_OK)
        status = join_agree(world, role, star);
    return status == OMPRMA_OK ? check_threads(world, role) : status;
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
    omprma_status_t status;
    bool is_told = false; /* what is wrong says its own words */

    if (!hellos || !all || !bytes)
        world_abort(world, 1);
    status =
        bootstrap_gather(&world->bootstrap, world->head, &mine->hello, hellos, sizeof(*hellos));
    for (int rank = 0; rank < world->size && status == OMPRMA_OK; rank++) {
        peers[rank].hello = hellos[rank];
        if (rank == world->head)
            continue;
        status = expect_devices(&peers[rank], rank);
        is_told = status != OMPRMA_OK;
        all[rank] = peers[rank].devices;
        bytes[rank] = (size_t)hellos[rank].device_count * sizeof(*peers->devices);
    }
    if (status == OMPRMA_OK)
        status = bootstrap_collect(&world->bootstrap, world->head, NULL, 0, all, bytes);
    free(hellos);
    free(all);
    free(bytes);
    return is_told ? status : in_step(status, "exchange of descriptions");
}

static omprma_status_t describe(struct world *world, const struct world_peer *mine)
{
    omprma_status_t status =
        bootstrap_gather(&world->bootstrap, world->head, &mine->hello, NULL, sizeof(mine->hello));

    if (status == OMPRMA_OK)
        status = bootstrap_collect(&world->bootstrap, world->head, mine->devices,
                                   (size_t)mine->hello.device_count * sizeof(*mine->devices), NULL,
                                   NULL);
    return in_step(status, "exchange of descriptions");
}

void world_free_peers(struct world_peer *peers, int size)
{
    for (int rank = 0; peers && rank < size; rank++)
        free(peers[rank].devices);
    free(peers);
}

/* Whether any worker could not start. The words of this one's own failure stay. */
static omprma_status_t tell_any(struct world *world, omprma_status_t mine, bool *any)
{
    char text[ERROR_TEXT_BYTES];
    omprma_status_t status;

    snprintf(text, sizeof(text), "%s", error_text());
    status = bootstrap_any(&world->bootstrap, world->head, mine != OMPRMA_OK, any);
    if (mine != OMPRMA_OK)
        error_set(mine, "%s", text);
    return status;
}

omprma_status_t world_open(struct world *world, struct world_peer *mine, struct world_peer **all,
                           world_attach attach, void *data)
{
    struct world_peer *peers = NULL;
    omprma_status_t status, attached = OMPRMA_OK;
    bool any = false;

    world->settings.head_rank = world->head;
    status =
        bootstrap_spread(&world->bootstrap, world->head, &world->settings, sizeof(world->settings));
    if (status == OMPRMA_OK && world->settings.lanes == 0)
        return error_set(OMPRMA_ERR_CLOSED, "the application could not start");
    if (status != OMPRMA_OK)
        return in_step(status, "start-up of communicators");
    status = world->transport->connect(world);
    if (status != OMPRMA_OK)
        return status;
    if (attach)
        attached = attach(world, mine, data);
    status = tell_any(world, attached, &any);
    if (attached != OMPRMA_OK)
        return attached;
    world->told = any;
    if (any)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "a worker could not start; its own message says why");
    if (status != OMPRMA_OK)
        return in_step(status, "start-up of the window");
    status = world->transport->begin(world);
    if (status != OMPRMA_OK)
        return status;
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
    world->transport->started(world);
    return OMPRMA_OK;
}

void world_leave(struct world *world)
{
    if (!world->transport || world->transport->leave(world) == OMPRMA_OK)
        return;
    log_write(LOG_ERROR, "%s", error_text());
    fflush(NULL);
    world_abort(world, EXIT_FAILURE);
}

void world_abort(struct world *world, int code)
{
    if (world->transport)
        world->transport->abort(code);
    _exit(code);
}

void world_print_quirks(const struct world *world, const char *title, FILE *out)
{
    if (world->transport)
        world->transport->print_quirks(world, title, out);
}
