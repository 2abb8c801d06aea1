/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * world.c: The program is rank 0 and asks the agent; its workers are ranks 1 and up, in the order
 * in which the agent names them. What follows is the start-up of any transport, over the sockets
 * for messages. Where workers listen for each other's data all are told when all are there.
 */
#define _GNU_SOURCE
#include "control/direct/world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "control/agent/join.h"
#include "control/datapath.h"
#include "control/direct/local_rank.h"
#include "control/shm/single_copy.h"

enum { END_MS = 500 }; /* how long the agent may take to reap a worker */

/* What the agent has told a worker in its command line; slots is 0 in the program. */
static struct session {
    int messages, data, slot, slots, rank, size;
    struct direct_agent place;
    char join[DIRECT_DIGITS + 1];
} session;

/* What a program tells its workers first. */
struct introduction {
    int32_t processes; /* that the host is to expect */
    int32_t alone;     /* no other program is there */
    int32_t far;       /* the program runs on another host */
};

/* What each process is, for the others. */
struct about {
    int32_t pid;
    int32_t far; /* on another host than the program */
    struct direct_agent place;
    char name[PACKET_NAME_BYTES];
};

/* The bootstrap's functions have no argument for it. */
static struct world_direct *own;

bool direct_is_wanted(void)
{
    const char *join = getenv(DIRECT_JOIN_VARIABLE);

    return session.slots || (join && *join);
}

bool direct_take_session(const char *text)
{
    int end = 0;

    _Static_assert(DIRECT_DIGITS == 32, "digits are read below");
    return sscanf(text, "%d,%d,%d,%d,%d,%d,%u,%u,%32[0-9a-f]%n", &session.messages, &session.data,
                  &session.slot, &session.slots, &session.rank, &session.size,
                  &session.place.address, &session.place.port, session.join, &end) == 9 &&
           text[end] == '\0' && session.messages > 2 && session.data > 2 && session.slot >= 0 &&
           session.slot < session.slots && session.rank > 0 && session.rank < session.size;
}

int direct_session_number(void)
{
    return session.rank - 1;
}

/* ---- the bootstrap ---- */

/* An error, with the process that it is about. */
static omprma_status_t about_peer(omprma_status_t status, int rank)
{
    if (status == OMPRMA_OK)
        return status;
    return session.slots ? error_set(OMPRMA_ERR_CLOSED, "the program has ended")
                         : error_set(status, "worker %d: %s", rank - 1, error_text());
}

static omprma_status_t bootstrap_send(const void *data, size_t bytes, int to)
{
    return about_peer(link_send(&own->messages[to], data, bytes), to);
}

static omprma_status_t bootstrap_receive(void *data, size_t bytes, int from)
{
    return about_peer(link_receive(&own->messages[from], data, bytes), from);
}

/* ---- joining ---- */

static omprma_status_t make(struct world *world, int size, int rank)
{
    size_t ranks = (size_t)size;
    struct world_direct *direct = calloc(1, sizeof(*direct));

    if (!direct)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start");
    world->direct = own = direct;
    world->rank = rank;
    world->size = size;
    world->serves_threads = true;
    world->bootstrap = (struct bootstrap){rank, size, bootstrap_send, bootstrap_receive};
    direct->agent = direct->listener = direct->ucx_events = -1;
    direct->messages = calloc(ranks, sizeof(*direct->messages));
    direct->data = calloc(ranks, sizeof(*direct->data));
    direct->pids = calloc(ranks, sizeof(*direct->pids));
    direct->names = calloc(ranks, sizeof(*direct->names));
    direct->agents = calloc(ranks, sizeof(*direct->agents));
    direct->far = calloc(ranks, sizeof(*direct->far));
    direct->ended = calloc(ranks, sizeof(*direct->ended));
    if (!direct->messages || !direct->data || !direct->pids || !direct->names || !direct->agents ||
        !direct->far || !direct->ended) {
        world->size = 0;
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start");
    }
    for (int i = 0; i < size; i++)
        direct->messages[i].fd = direct->data[i].fd = -1;
    return OMPRMA_OK;
}

static omprma_status_t start_worker(struct world *world)
{
    struct introduction introduction = {0};
    omprma_status_t status = make(world, session.size, session.rank);

    if (status != OMPRMA_OK)
        return status;
    own->messages[0].fd = session.messages;
    own->data[0].fd = session.data;
    fcntl(session.messages, F_SETFD, FD_CLOEXEC); /* what regions start is not to keep them open */
    fcntl(session.data, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* for Yama; fails where there is none */
    status = bootstrap_receive(&introduction, sizeof(introduction), 0);
    world->processes = introduction.processes;
    world->shares_slots = !introduction.alone;
    world->far = introduction.far;
    world->slot = session.slot;
    world->slots = session.slots;
    return status;
}

static omprma_status_t connect_agent(int *agent)
{
    const char *join = getenv(DIRECT_JOIN_VARIABLE);
    char name[PACKET_NAME_BYTES];
    size_t form = strlen(DIRECT_JOIN_FORM);

    if (!join || strncmp(join, DIRECT_JOIN_FORM, form) != 0 || strlen(join + form) != DIRECT_DIGITS)
        return error_set(OMPRMA_ERR_NO_WORKERS,
                         "%s is not as omprma-run %s sets it: use one version of omprma, and start "
                         "the program by omprma-run",
                         DIRECT_JOIN_VARIABLE, OMPRMA_VERSION_STRING);
    snprintf(name, sizeof(name), "%s%s", DIRECT_NAME, join + form);
    *agent = packet_connect(name);
    if (*agent >= 0)
        return OMPRMA_OK;
    if (errno == EPERM)
        return error_set(OMPRMA_ERR_NO_WORKERS,
                         "the omprma-run that %s names belongs to another user",
                         DIRECT_JOIN_VARIABLE);
    return error_set(OMPRMA_ERR_NO_WORKERS,
                     "no workers on this host: the omprma-run that %s names has ended, or has none "
                     "here (%s); name this host in its --hosts",
                     DIRECT_JOIN_VARIABLE, strerror(errno));
}

static bool names(const char *variable, const char *name)
{
    size_t length = strlen(name);

    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static bool is_own(const char *variable)
{
    return names(variable, DIRECT_JOIN_VARIABLE) ||
           (strncmp(variable, "OMPRMA_INTERNAL_", 16) == 0 &&
            !names(variable, DIRECT_LIBOMP_VARIABLE));
}

/* Settings of this process, for its workers. Returns their bytes. */
static size_t list_settings(char *text, size_t room)
{
    static const char *const prefixes[] = {"OMP_", "KMP_", "OMPRMA_", "LIBOMPTARGET_"};
    size_t used = 0;

    for (char **variable = environ; *variable; variable++)
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
            size_t bytes = strlen(*variable) + 1;

            if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) != 0 || is_own(*variable))
                continue;
            if (used + bytes > room) {
                log_write(LOG_WARNING, "workers do not get %.*s: settings have more than %zu bytes",
                          (int)strcspn(*variable, "="), *variable, room);
                continue;
            }
            memcpy(text + used, *variable, bytes);
            used += bytes;
        }
    return used;
}

static omprma_status_t agent_is_gone(void)
{
    return error_set(OMPRMA_ERR_NO_WORKERS, "the agent of omprma-run has ended: %s",
                     errno ? strerror(errno) : "it says nothing");
}

/* A setting that is wrong is said elsewhere. */
static int32_t wished_share(void)
{
    struct config config;

    return config_load(&config) == OMPRMA_OK ? config.share : DIRECT_SHARE_DEFAULT;
}

/* Says who asks. An agent that turns programs away may not read all of it; its reply says why. */
static void ask(int agent)
{
    static char settings[DIRECT_ENVIRONMENT_MOST];
    const int outputs[DIRECT_REQUEST_DESCRIPTORS] = {STDOUT_FILENO, STDERR_FILENO};
    struct local_rank place = local_rank_find();
    struct direct_request request = {
        .magic = DIRECT_MAGIC,
        .version = DIRECT_VERSION,
        .share = wished_share(),
        .local_rank = place.rank,
        .local_size = place.size,
        .environment_bytes = (uint32_t)list_settings(settings, sizeof(settings)),
    };

    if (!getcwd(request.folder, sizeof(request.folder)))
        request.folder[0] = '\0';
    packet_send_with(agent, &request, sizeof(request), outputs, DIRECT_REQUEST_DESCRIPTORS);
    if (request.environment_bytes)
        packet_send(agent, settings, request.environment_bytes);
}

/* That it has not read all comes first, as an error, and the reply after that. */
static ssize_t receive_reply(int agent, struct direct_reply *reply)
{
    ssize_t bytes;

    errno = 0;
    bytes = packet_receive(agent, reply, sizeof(*reply));
    return bytes < 0 && errno == ECONNRESET ? packet_receive(agent, reply, sizeof(*reply)) : bytes;
}

/* That of another version has another size. */
static omprma_status_t hear(int agent, struct direct_reply *reply)
{
    ssize_t bytes = receive_reply(agent, reply),
            head = sizeof(reply->magic) + sizeof(reply->version);

    if (bytes < head || (reply->version == DIRECT_VERSION && bytes != (ssize_t)sizeof(*reply)))
        return agent_is_gone();
    reply->text[sizeof(reply->text) - 1] = '\0';
    if (reply->magic != DIRECT_MAGIC || reply->version != DIRECT_VERSION)
        return error_set(OMPRMA_ERR_VERSION,
                         "this process is omprma %s, and the agent of omprma-run is of another "
                         "version: use one version everywhere",
                         OMPRMA_VERSION_STRING);
    if (reply->refused || reply->sessions < 1)
        return error_set(OMPRMA_ERR_NO_WORKERS, "%s", reply->text);
    return OMPRMA_OK;
}

static void note_place(struct world *world, int rank, bool far)
{
    own->far[rank] = far;
    if (far)
        world->elsewhere = own->far;
}

static omprma_status_t take_worker(struct world *world, int rank)
{
    struct introduction introduction;
    struct direct_session worker;
    int sockets[DIRECT_SESSION_DESCRIPTORS], count = 0;

    errno = 0;
    if (packet_receive_with(own->agent, &worker, sizeof(worker), sockets,
                            DIRECT_SESSION_DESCRIPTORS, &count) != (ssize_t)sizeof(worker))
        return agent_is_gone();
    if (count != DIRECT_SESSION_DESCRIPTORS) {
        if (count == 1)
            close(sockets[0]);
        return error_set(OMPRMA_ERR_NO_WORKERS,
                         "no sockets to workers could be had: more files must be allowed to be "
                         "open (ulimit -n)");
    }
    own->messages[rank].fd = sockets[0];
    own->data[rank].fd = sockets[1];
    if (worker.rank != rank)
        return error_set(OMPRMA_ERR_PROTOCOL, "worker %d was to come, and %d has", rank - 1,
                         worker.rank - 1);
    own->pids[rank] = worker.pid;
    note_place(world, rank, worker.far);
    introduction = (struct introduction){worker.processes, worker.alone, worker.far};
    return bootstrap_send(&introduction, sizeof(introduction), rank);
}

static void take_measured(struct world *world, const struct direct_measured *measured)
{
    _Static_assert((int)DIRECT_MEASURED_BYTES == (int)WORLD_MEASURED_BYTES, "what was measured");
    if (measured->bytes > sizeof(world->measured.data))
        return;
    world->measured.bytes = measured->bytes;
    memcpy(world->measured.data, measured->data, sizeof(world->measured.data));
}

/* Nobody is worse off where that fails. */
void direct_tell_measured(const struct world *world, const void *data, size_t bytes)
{
    struct direct_measured measured = {
        .magic = DIRECT_MEASURED_MAGIC, .version = DIRECT_VERSION, .bytes = (uint32_t)bytes};

    memcpy(measured.data, data, bytes);
    packet_send(world->direct->agent, &measured, sizeof(measured));
}

static omprma_status_t start_program(struct world *world)
{
    struct direct_reply reply = {0};
    int agent = -1;
    omprma_status_t status = connect_agent(&agent);

    if (status != OMPRMA_OK)
        return status;
    ask(agent);
    status = hear(agent, &reply);
    if (status == OMPRMA_OK)
        status = make(world, reply.sessions + 1, 0);
    if (status != OMPRMA_OK) {
        close(agent);
        return status;
    }
    own->agent = agent;
    log_repeats(reply.repeats);
    world->processes = reply.processes;
    world->offered = reply.slots;
    world->far = reply.far == reply.sessions;
    take_measured(world, &reply.measured);
    for (int rank = 1; rank < world->size && status == OMPRMA_OK; rank++)
        status = take_worker(world, rank);
    return status;
}

omprma_status_t direct_start(struct world *world)
{
    return session.slots ? start_worker(world) : start_program(world);
}

/* ---- what goes between all ---- */

/* Where this worker listens for data of others. */
static omprma_status_t listen_for_data(struct world *world, struct about *mine)
{
    mine->pid = getpid();
    mine->far = world->rank > 0 && world->far;
    mine->place = session.place;
    return world->rank == 0 ? OMPRMA_OK
                            : packet_listen(DIRECT_DOOR_PREFIX, mine->name, &own->listener);
}

static omprma_status_t exchange_abouts(struct world *world)
{
    size_t ranks = (size_t)world->size;
    struct about mine = {0}, *all = calloc(ranks, sizeof(*all));
    omprma_status_t status;

    if (!all)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start");
    status = listen_for_data(world, &mine);
    if (status == OMPRMA_OK)
        status = bootstrap_gather(&world->bootstrap, 0, &mine, all, sizeof(mine));
    if (status == OMPRMA_OK)
        status = bootstrap_spread(&world->bootstrap, 0, all, ranks * sizeof(*all));
    for (int rank = 0; rank < world->size && status == OMPRMA_OK; rank++) {
        own->pids[rank] = all[rank].pid;
        own->other_hosts |= all[rank].far != 0;
        own->agents[rank] = all[rank].place;
        memcpy(own->names[rank], all[rank].name, sizeof(own->names[rank]));
        if (world->rank > 0)
            note_place(world, rank, rank ? direct_is_elsewhere(world, rank) : world->far);
    }
    free(all);
    return status;
}

/* One-sided transfers are copies by the kernel, which only workers of the program's host have. */
omprma_status_t direct_connect(struct world *world)
{
    bool refused = !world->far && !single_copy_is_allowed();
    int code = refused ? errno : 0;
    omprma_status_t status = exchange_abouts(world);

    if (status == OMPRMA_OK)
        status = bootstrap_any(&world->bootstrap, 0, refused, &refused);
    if (status != OMPRMA_OK)
        return status;
    world->has_window = !refused && !world->far;
    world->component = world->has_window ? "local" : "none";
    world->can.target_is_passive = true;
    if (world->far)
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "no worker is on the program's host");
    else if (refused)
        snprintf(world->why_no_window, sizeof(world->why_no_window),
                 "processes may not copy each other's memory here (%s), as in containers without "
                 "SYS_PTRACE",
                 code ? strerror(code) : "a worker says so");
    return OMPRMA_OK;
}

omprma_status_t direct_begin(struct world *world)
{
    (void)world;
    return OMPRMA_OK;
}

void direct_started(struct world *world)
{
    (void)world;
}

bool direct_is_elsewhere(const struct world *world, int rank)
{
    const struct direct_agent *there = &world->direct->agents[rank];

    if (world->rank == 0)
        return world->direct->far[rank];
    if (rank == 0)
        return world->far;
    return there->address != session.place.address || there->port != session.place.port;
}

bool direct_ask_way(const struct world *world, int rank)
{
    const struct world_direct *direct = world->direct;
    struct direct_way way = {.magic = DIRECT_WAY_MAGIC,
                             .version = DIRECT_VERSION,
                             .rank = rank,
                             .address = direct->agents[rank].address,
                             .port = direct->agents[rank].port};
    char name[PACKET_NAME_BYTES];
    bool done;
    int agent;

    _Static_assert((int)DIRECT_DOOR_BYTES == (int)PACKET_NAME_BYTES, "name of a door");
    memcpy(way.door, direct->names[rank], sizeof(way.door));
    memcpy(way.own, direct->names[world->rank], sizeof(way.own));
    snprintf(name, sizeof(name), "%s%s", DIRECT_NAME, session.join);
    agent = packet_connect(name);
    done = agent >= 0 && packet_send(agent, &way, sizeof(way)) > 0;
    if (agent >= 0)
        close(agent);
    return done;
}

/* ---- the end ---- */

/* The next word of the agent, which is about whichever worker has ended. False: there is none. */
static bool hear_of_end(const struct world *world, int ms)
{
    struct pollfd ready = {.fd = world->direct->agent, .events = POLLIN};
    struct direct_ended ended;

    if (poll(&ready, 1, ms) != 1 ||
        packet_receive(ready.fd, &ended, sizeof(ended)) != (ssize_t)sizeof(ended))
        return false;
    if (ended.rank > 0 && ended.rank < world->size)
        world->direct->ended[ended.rank] = (struct direct_end){true, ended.status};
    return true;
}

void direct_end_of(const struct world *world, int rank, char *text, size_t bytes)
{
    const struct direct_end *end = &world->direct->ended[rank];

    while (!end->is_known && hear_of_end(world, END_MS))
        ;
    if (!end->is_known)
        snprintf(text, bytes, "has ended");
    else if (end->status == DIRECT_GONE)
        snprintf(text, bytes, "is lost with its host, or the connection to it");
    else if (WIFSIGNALED(end->status))
        snprintf(text, bytes, "was ended by signal %d (%s)", WTERMSIG(end->status),
                 strsignal(WTERMSIG(end->status)));
    else
        snprintf(text, bytes, "has ended with status %d", WEXITSTATUS(end->status));
}

omprma_status_t direct_leave(struct world *world)
{
    struct world_direct *direct = world->direct;

    if (!direct)
        return OMPRMA_OK;
    datapath_destroy(direct->ucx);
    for (int rank = 0; rank < world->size; rank++) {
        link_close(&direct->messages[rank]);
        link_close(&direct->data[rank]);
    }
    if (direct->listener >= 0)
        close(direct->listener);
    if (direct->agent >= 0)
        close(direct->agent);
    free(direct->messages);
    free(direct->data);
    free(direct->pids);
    free(direct->names);
    free(direct->agents);
    free(direct->far);
    free(direct->ended);
    free(direct);
    world->direct = own = NULL;
    world->elsewhere = NULL;
    return OMPRMA_OK;
}

/* The agent sees that this process ends. */
void direct_abort(int code)
{
    (void)code;
}
