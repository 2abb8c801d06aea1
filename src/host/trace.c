/* trace.c: see trace.h. Spans are kept in memory; a full buffer stops recording and says so. */
#include "host/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "host/runtime.h"

enum { SPANS_MOST = 1 << 20 };

struct span {
    const char *name, *path;
    int device;
    int64_t begin_ns, end_ns;
    uint64_t bytes;
};

struct trace {
    FILE *file;
    int64_t origin_ns;
    uint32_t count, capacity;
    uint64_t dropped;
    struct span *spans;
};

omprma_status_t trace_open(struct runtime *runtime)
{
    struct trace *trace;

    if (!runtime->config.trace[0])
        return OMPRMA_OK;
    trace = calloc(1, sizeof(*trace));
    if (!trace)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the trace");
    trace->file = fopen(runtime->config.trace, "w");
    if (!trace->file) {
        free(trace);
        return error_set(OMPRMA_ERR_CONFIG, "OMPRMA_TRACE: cannot write %s: %s",
                         runtime->config.trace, strerror(errno));
    }
    trace->origin_ns = clock_ns();
    runtime->trace = trace;
    return OMPRMA_OK;
}

int64_t trace_now(struct runtime *runtime)
{
    return runtime->trace ? clock_ns() : 0;
}

static bool reserve(struct trace *trace)
{
    uint32_t capacity = trace->capacity ? 2 * trace->capacity : 1024;
    struct span *spans;

    if (trace->count < trace->capacity)
        return true;
    if (capacity > SPANS_MOST)
        return false;
    spans = realloc(trace->spans, capacity * sizeof(*spans));
    if (!spans)
        return false;
    trace->spans = spans;
    trace->capacity = capacity;
    return true;
}

void trace_add(struct runtime *runtime, const char *name, const char *path, int device,
               int64_t begin_ns, int64_t end_ns, uint64_t bytes)
{
    struct trace *trace = runtime->trace;

    if (!trace)
        return;
    if (!reserve(trace)) {
        trace->dropped++;
        return;
    }
    trace->spans[trace->count++] = (struct span){name, path, device, begin_ns, end_ns, bytes};
}

/* Names and paths are words of ours: nothing needs escaping. No JSON library, because this code
 * runs inside the user's program, which may carry another version of one. */
static void write_span(const struct trace *trace, const struct span *span, bool last)
{
    fprintf(trace->file,
            "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,"
            "\"tid\":\"%s\",\"args\":{\"bytes\":%llu}}%s\n",
            span->name, span->path, (double)(span->begin_ns - trace->origin_ns) / 1e3,
            (double)(span->end_ns - span->begin_ns) / 1e3, span->device, span->path,
            (unsigned long long)span->bytes, last ? "" : ",");
}

void trace_close(struct runtime *runtime)
{
    struct trace *trace = runtime->trace;

    if (!trace)
        return;
    fprintf(trace->file, "{\"traceEvents\":[\n");
    for (uint32_t i = 0; i < trace->count; i++)
        write_span(trace, &trace->spans[i], i + 1 == trace->count);
    fprintf(trace->file, "]}\n");
    if (trace->dropped)
        log_write(LOG_ERROR, "trace: %llu spans after the first %u were not kept",
                  (unsigned long long)trace->dropped, trace->count);
    if (fclose(trace->file) != 0)
        log_write(LOG_ERROR, "trace: writing %s failed: %s", runtime->config.trace,
                  strerror(errno));
    free(trace->spans);
    free(trace);
    runtime->trace = NULL;
}
