/* bench.c: see bench.h. Blocks the worker for the time of the measurement. */
#include "worker/bench.h"

#include <limits.h>

#include "base/error.h"
#include "base/log.h"
#include "control/mpi_bench.h"
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

void bench_run(const struct stream *stream, const struct wire_record *record)
{
    double us[BENCH_PUTS_MOST];
    struct server *server = stream->session->server;
    uint32_t count = 0;

    if (may_run(stream, record) &&
        mpi_bench_run(server->world, record->word, us, &count) != OMPRMA_OK) {
        server_break(server, OMPRMA_ERR_MPI, error_text());
        return;
    }
    if (record->flags & WIRE_REPLY)
        reply_append(stream, WIRE_DONE, record->op, count, us, (uint32_t)(count * sizeof(*us)));
}
