/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command_worker.c: commands about the worker as a whole, which name no device: how long it stays
 * awake, which of its host's cores it has, what its devices are called, when it ends. A bad one
 * breaks the connection: there is no queue that could fail.
 */
#include "worker/command.h"

#include "base/clock.h"
#include "worker/worker.h"

enum {
    TURNS_MOST = 1 << 20, /* workers of a host */
    DEVICES_MOST = 1 << 20
};

enum backend_step command_begin_awake(struct stream *stream, struct command *command)
{
    struct server *server = stream->session->server;
    int64_t until_ns = clock_ns() + (int64_t)command->record.word[0] * 1000;

    if (command->record.flags & WIRE_SPIN)
        server->limits.spin_until_ns = until_ns;
    else
        server->awake_until_ns = until_ns;
    return BACKEND_OVER;
}

enum backend_step command_begin_turn(struct stream *stream, struct command *command)
{
    struct server *server = stream->session->server;
    uint64_t index = command->record.word[0], count = command->record.word[1];

    if (count > TURNS_MOST || index >= count) {
        server_break(server, OMPRMA_ERR_PROTOCOL, "a turn that cannot be");
        return BACKEND_OVER;
    }
    for (int i = 0; i < server->device_count; i++)
        if (server->devices[i].backend->turn)
            server->devices[i].backend->turn(&server->devices[i], (int)index, (int)count);
    return BACKEND_OVER;
}

enum backend_step command_begin_number(struct stream *stream, struct command *command)
{
    struct server *server = stream->session->server;
    uint64_t first = command->record.word[0];

    if (first > DEVICES_MOST) {
        server_break(server, OMPRMA_ERR_PROTOCOL, "a device's number that cannot be");
        return BACKEND_OVER;
    }
    for (int i = 0; i < server->device_count; i++)
        server->devices[i].number = (int)first + i;
    return BACKEND_OVER;
}

enum backend_step command_begin_exit(struct stream *stream, struct command *command)
{
    (void)command;
    stream->session->over = stream->session->server->exiting = true;
    return BACKEND_OVER;
}
