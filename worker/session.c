/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * session.c: begin and end of a session, and its arenas: the devices' first ones are the program's
 * from the beginning, and all are given back at the end.
 */
#include "worker/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "worker/worker.h"

omprma_status_t session_note_arena(struct session *session, struct worker_device *device,
                                   uint64_t base, uint64_t bytes)
{
    if (session->arena_count == session->arena_capacity) {
        uint32_t capacity = session->arena_capacity ? 2 * session->arena_capacity : 16;
        struct session_arena *arenas = realloc(session->arenas, capacity * sizeof(*arenas));

        if (!arenas)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to note an arena");
        session->arenas = arenas;
        session->arena_capacity = capacity;
    }
    session->arenas[session->arena_count++] = (struct session_arena){device, base, bytes};
    return OMPRMA_OK;
}

static omprma_status_t note_first_arenas(struct session *session)
{
    const struct server *server = session->server;
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < server->device_count && status == OMPRMA_OK; i++) {
        struct worker_device *device = &server->devices[i];

        if (device->arena_bytes)
            status = session_note_arena(session, device, device->arena, device->arena_bytes);
    }
    return status;
}

/* Before any kernel runs that locking pages might wait for. */
static omprma_status_t make_bounce(struct session *session)
{
    const struct server *server = session->server;

    for (int i = 0; i < server->device_count; i++) {
        void *memory;

        if (!server->devices[i].backend->pin)
            continue;
        memory = bounce_take(session, &server->devices[i], 1);
        if (!memory)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for small reads");
        bounce_give(session, memory);
        break;
    }
    return OMPRMA_OK;
}

omprma_status_t session_open(struct server *server, struct session **out)
{
    omprma_status_t status;
    struct session *session = calloc(1, sizeof(*session));

    if (session)
        session->tables = calloc((size_t)server->device_count + 1, sizeof(*session->tables));
    if (!session || !session->tables) {
        free(session);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the program's session");
    }
    session->server = server;
    session->table_count = server->device_count + 1;
    *out = session;
    status = note_first_arenas(session);
    return status == OMPRMA_OK ? make_bounce(session) : status;
}

/* A device that cannot give it back at once does so when it is closed. */
static void give_back_arenas(struct session *session)
{
    for (uint32_t i = 0; i < session->arena_count; i++) {
        struct session_arena *arena = &session->arenas[i];
        struct backend_job job = {.device = arena->device};

        arena->device->backend->release(arena->device, &job, arena->base);
    }
    free(session->arenas);
}

void session_close(struct session *session)
{
    if (!session)
        return;
    stream_free_all(session);
    bounce_free_all(session);
    give_back_arenas(session);
    free(session->tables);
    free(session);
}

omprma_status_t session_forget_arena(struct session *session, const struct worker_device *device,
                                     uint64_t base)
{
    for (uint32_t i = 0; i < session->arena_count; i++) {
        struct session_arena *arena = &session->arenas[i];

        if (arena->device != device || arena->base != base)
            continue;
        *arena = session->arenas[--session->arena_count];
        return OMPRMA_OK;
    }
    return error_set(OMPRMA_ERR_ADDRESS, "0x%llx is not the start of an arena",
                     (unsigned long long)base);
}

bool session_holds(const struct session *session, const struct worker_device *device,
                   uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < session->arena_count; i++) {
        const struct session_arena *arena = &session->arenas[i];

        if (arena->device == device && address >= arena->base &&
            address - arena->base <= arena->bytes &&
            bytes <= arena->bytes - (address - arena->base))
            return true;
    }
    return false;
}
