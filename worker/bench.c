/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.c: the worker's half of bare MPI measurements (omprma-perf), see control/bench.h.
 * Blocks the worker for the time of one.
 */
#include "worker/command.h"

#include <limits.h>

#include "base/error.h"
#include "base/log.h"
#include "control/bench.h"
#include "control/transport.h"
#include "worker/worker.h"

static bool may_run(const struct stream *stream, const struct wire_record *record)
{
    enum bench_kind kind = bench_kind_of(record->word[0]);
    uint64_t bytes = record->word[1], address = record->word[kind == BENCH_PUT ? 2 : 3];

    if (kind == BENCH_PING_PONG ||
        (bytes <= INT_MAX && worker_device_is_touchable(stream->device) &&
         session_holds(stream->session, stream->device, address, bytes)))
        return true;
    log_write(LOG_ERROR, "measurement of %llu bytes at 0x%llx refused", (unsigned long long)bytes,
              (unsigned long long)address);
    return false;
}

enum backend_step command_begin_bench(struct stream *stream, struct command *command)
{
    const struct wire_record *record = &command->record;
    struct server *server = stream->session->server;
    const struct bench_ops *bench = server->world->transport->bench;
    uint32_t count = 0;
    omprma_status_t status =
        command_memory(command, BENCH_PUTS_MOST * sizeof(double), "for a measurement");

    if (status == OMPRMA_OK && bench && may_run(stream, record)) {
        status = bench->serve(server->world, record->word, command->memory, &count);
        if (status != OMPRMA_OK)
            server_break(server, OMPRMA_ERR_MPI, error_text());
    }
    command->job.value = count;
    command->data = command->memory;
    command->data_bytes = count * (uint32_t)sizeof(double);
    return command_over(command, status);
}
