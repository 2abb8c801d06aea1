/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * world.h: start-up shared by application and worker: roles are announced, versions compared,
 * communicators and the one dynamic window made, settings and addresses spread. After it the head
 * (the application) knows every worker, and every worker knows the head. What is MPI's is behind a
 * pointer (mpi/world.h), so that this file can be included where MPI is not known.
 * Knows nothing of devices or messages.
 */
#ifndef OMPRMA_CONTROL_WORLD_H
#define OMPRMA_CONTROL_WORLD_H

#include <stdbool.h>
#include <stdio.h>
#include <omprma/omprma.h>

#include "control/bootstrap.h"
#include "control/join.h"
#include "control/shm/doorbell.h"

/* What a process says about itself. Same layout in all processes of one version. */
struct world_hello {
    char host[64];
    struct shm_address bell;
    uint64_t memory_bytes; /* free on its host */
    uint64_t memory_group; /* limit of its control groups, 0: none */
    struct join_place place;
    int32_t host_cores;   /* processing units of all that share its place */
    int32_t lends;        /* those of devices that have run nothing are used by the others */
    int32_t numa_node;    /* of its cores, -1: several */
    int32_t shared;       /* more workers than cores */
    char cpus[64];        /* its own, as a list, "0-3,8" */
    int32_t device_count; /* 1 to WORLD_DEVICES_MOST; workers only */
    int32_t first;        /* lowest rank of its host: two hosts may have one name */
    int32_t local_index;  /* among the workers of its host, those of other programs included */
};

/* And about each of its devices. */
struct world_device {
    char backend[16];
    char model[96]; /* of its processor */
    int32_t cores, numa_node;
    int32_t one_sided; /* its arenas can be reached by put and get */
    int32_t apart;     /* on another host than the program, where no put or get comes at all */
    int32_t regions;   /* it takes WIRE_REGION */
    uint64_t memory_limit;
    uint64_t arena; /* base address of the first arena */
    uint64_t arena_bytes;
    struct shm_address file; /* behind it or, where there is some, the staging memory; others of
                              * the host can map that. pid 0: there is none */
    uint64_t staging;        /* memory of the worker through which its data goes; in the window */
    uint64_t staging_bytes;  /* 0: its memory is moved to and from directly */
};

enum { WORLD_DEVICES_MOST = 64 };

struct world_peer {
    struct world_hello hello;
    struct world_device *devices; /* hello.device_count of them */
};

/* What the head decides for all. */
struct world_settings {
    int32_t head_rank;
    int32_t lanes; /* of each device; 0: the head gives up, all leave */
    int32_t verbose;
    int32_t line_output; /* the program's stdout is a terminal: regions print line by line */
    uint64_t piece_bytes;
    uint64_t spin_us;
    uint64_t arena_bytes;    /* of each device */
    int64_t devices;         /* per worker; 0: one per NUMA node */
    uint64_t timeout_s;      /* OMPRMA_TIMEOUT, 0: none */
    int32_t backends;        /* kinds of devices, bits of enum config_backend */
    int32_t trace;           /* workers tell when they ran what, see WIRE_SPAN */
    int32_t map_by;          /* enum config_map_by */
    int32_t on_loss;         /* enum config_on_loss */
    int32_t network;         /* enum config_network */
    int32_t map_arenas;      /* a program of the same host maps arenas */
    int64_t cores;           /* of each worker; 0: equal shares */
    struct shm_address bell; /* the head's */
};

/* What one-sided transfers can rely on. The core asks for these, never for the name of a library or
 * of one of its components. */
struct world_properties {
    /* Within a host the target has no part in a transfer: data moves while it is outside of MPI,
     * and no call of whoever transfers waits for it. */
    bool target_is_passive;
    /* Within a host even the call that begins a transfer waits for a target that is late, and all
     * else waits with it. */
    bool calls_wait;
    /* While a process attaches or detaches memory, no access to its memory may begin. */
    bool attach_needs_quiet;
    /* It is not known that large ones take no longer than messages by much: measure.c looks. */
    bool may_be_slow;
    /* The library may end a process whose peer has died. */
    bool ends_with_peer;
};

/* What a program of this host has measured before, for host/start/measured.c; 0 bytes: nothing. */
enum { WORLD_MEASURED_BYTES = 1024 };
struct world_measured {
    uint32_t bytes;
    char data[WORLD_MEASURED_BYTES];
};

struct world {
    const struct transport *transport; /* what it goes through, once world_join() was called */
    struct world_mpi *mpi;             /* communicators and window */
    struct world_direct *direct;       /* sockets; of both only that of the transport is there */
    bool has_window;                   /* one-sided transfers are to be had */
    bool far; /* the other side (all workers of the program; of a worker the program) runs on other
               * hosts, and no window is to be expected */
    /* By rank, of who is on another host: what it sends shows at descriptors only, and nobody rings
     * it. NULL: all are here, or it is not known. */
    const bool *elsewhere;
    struct bootstrap bootstrap;
    int rank, size, head;
    bool star;                    /* no two workers exchange a message: no window, no collectives */
    bool started_mpi;             /* we called MPI_Init_thread, so we call MPI_Finalize */
    bool serves_threads;          /* MPI can be called beside the program's own calls of it */
    bool torn;                    /* joining has failed for this process alone */
    int first;                    /* lowest rank of the same host */
    int local_index, local_count; /* among the workers of one host; workers only */
    int slot, slots;              /* of the host, for workers of several programs; 0: of one */
    bool shares_slots;            /* workers of other programs may use the same cores */
    int offered;             /* workers of the host that its programs get parts of; 0: not told */
    int processes;           /* that the host is to expect of all programs; 0: of this one */
    struct join_place place; /* workers only */
    bool crowded; /* more processes of this job on this host than processors: waiting is sleeping */
    struct world_properties can;
    const char *component;   /* of the window, for messages; "none" if there is no window */
    char why_no_window[512]; /* a clause; empty while there is one */
    char between_hosts[288]; /* what carries data there, and why; empty: MPI, or one host */
    const char *other_osc;   /* a value of --osc with which there may be one, or NULL */
    bool told;               /* a worker could not start, and has said why */
    struct world_settings settings;
    struct world_measured measured; /* the program only */
};

static inline bool world_is_elsewhere(const struct world *world, int rank)
{
    return world->elsewhere && world->elsewhere[rank];
}

/* Without a transport the workers are threads of this process, as unit tests have them. */
static inline bool world_is_one_process(const struct world *world)
{
    return !world->transport;
}

/* No transfer of another process of this host waits until this one calls MPI. */
static inline bool world_is_passive(const struct world *world)
{
    return !world->has_window || world->can.target_is_passive;
}

enum world_role { WORLD_HEAD, WORLD_WORKER };

/* True if this process was started by an MPI launcher together with others. Looks at the
 * environment only. */
bool world_launched(void);

/* Leaves out what must not be used of this MPI, and on workers what takes long and is of no use.
 * That changes the environment: before world_join(), which says what is wrong where the library
 * cannot be had, and before this side makes any thread. */
void world_prepare(enum world_role role);

/* Starts MPI where needed, finds the head and the worker's place among its host's workers. `star`:
 * the head's wish that no two workers exchange a message, because they may not reach each other;
 * world->star says whether that makes a difference (see join.h). Called by all processes.
 * Errors: NO_WORKERS, VERSION, MPI (too little thread support in a program that started MPI itself;
 * the workers are told), HOST_MEMORY; then world_leave(), but world_abort() where MPI has failed
 * after it was started (world->torn), because the others do not know. */
omprma_status_t world_join(struct world *world, enum world_role role, bool star);

/* Spreads the settings (filled by the head) and makes communicators and window. Called by all.
 * `mine` describes this process; on the head *all (size entries, by rank, for world_free_peers())
 * describe everybody. `attach` is called between the making of the window and the exchange of
 * descriptions, so that the worker can make its devices, attach their first arenas and describe
 * them (its devices then belong to the caller); NULL on the head. A head that cannot go on sets
 * settings.lanes to 0: then all return CLOSED. Errors: CLOSED, MPI, DEVICE_MEMORY, PROTOCOL. */
typedef omprma_status_t (*world_attach)(struct world *world, struct world_peer *mine, void *data);
omprma_status_t world_open(struct world *world, struct world_peer *mine, struct world_peer **all,
                           world_attach attach, void *data);
void world_free_peers(struct world_peer *peers, int size);

/* Frees window and communicators and ends MPI. Called by all. Where that fails it says so and ends
 * all processes. */
void world_leave(struct world *world);

/* Ends all processes at once, without waiting for any. Does not return. */
void world_abort(struct world *world, int code) __attribute__((noreturn));

/* What is done here about defects of the MPI library, a line each below `title`; nothing if there
 * are none. */
void world_print_quirks(const struct world *world, const char *title, FILE *out);

#endif
