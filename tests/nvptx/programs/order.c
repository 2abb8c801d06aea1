/*
 * order.c: when the memory of the host is read and written: random programs for the CUDA driver
 * interface, with page-locked and pageable memory, streams of all kinds on two GPUs, events, host
 * functions, kernels, and things that are freed and destroyed while they are in use. What each must
 * give follows from NVIDIA's rules on synchronisation.
 *
 * - order [SEED [COUNT]]: COUNT programs from that seed on; prints the last calls on
 * failure
 *
 * The model. Each stream is a line of time, on which its operations have numbers, and so is the
 * host. For each line it is known up to where each other one is certain to be over. An operation is
 * issued only when all that it must not overlap, by the memory that it reads or writes, is certain
 * to be over: if it is not, something is called first that makes it so (an event, a wait). So the
 * result is that of all operations one after another, as they were issued, and the model does them
 * at once.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/exports.h"
#include "tests/unit/draw.h"

enum {
    GPUS = 2,
    LINES = 48, /* of time in one program; the host's is the first one */
    STREAMS = 5,
    PER_THREAD = GPUS,  /* STREAMS[GPU] are the null streams, these the threads' own */
    CREATED = 2 * GPUS, /* and from here on what the program creates */
    EVENTS = 4,
    BLOCKS = 12, /* DEVICE[..] of either GPU, then PINNED, then PAGEABLE */
    OPERATIONS = 60,
    LOG = 400,
};

static struct draw from;

static unsigned below(unsigned limit)
{
    return (unsigned)draw_below(&from, limit);
}

/* ---- what was called, for whoever has to look into a failure ---- */

static char said[LOG][96];
static unsigned said_count;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(said[said_count++ % LOG], sizeof(said[0]), format, arguments);
    va_end(arguments);
}

static unsigned long long seed;

static void fail(const char *what, long got, long wanted)
{
    printf("order.c: seed %llu: %s: %ld, not %ld; calls:\n", seed, what, got, wanted);
    for (unsigned i = said_count > LOG ? said_count - LOG : 0; i < said_count; i++)
        printf("  %s\n", said[i % LOG]);
    fflush(stdout);
    _exit(1);
}

static void ok(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        fail(call, (long)result, 0);
}
#define OK(call) ok((call), #call)

/* ---- lines of time ---- */

/* Up to where each line is certain to be over. */
struct known {
    unsigned upto[LINES];
};

static struct line {
    struct known before; /* what comes next on this line */
    unsigned count;      /* of its operations so far */
    int gpu;
    bool blocking, gone;
    CUstream handle;
} lines[LINES];
static int line_count;

enum { HOST = 0 };

static void learn(struct known *known, const struct known *more)
{
    for (int i = 0; i < line_count; i++)
        if (more->upto[i] > known->upto[i])
            known->upto[i] = more->upto[i];
}

static bool is_null(int line)
{
    return line != HOST && line <= GPUS;
}

/* The null stream and blocking streams of its context wait for each other. */
static void join(int line)
{
    struct line *own = &lines[line];

    learn(&own->before, &lines[HOST].before);
    for (int i = HOST + 1; i < line_count; i++)
        if (i != line && own->blocking && lines[i].blocking && lines[i].gpu == own->gpu &&
            is_null(i) != is_null(line))
            learn(&own->before, &lines[i].before);
}

/* A new operation on the line; its number. */
static unsigned step(int line)
{
    join(line);
    lines[line].before.upto[line] = ++lines[line].count;
    return lines[line].count;
}

static void host_waits(int line)
{
    join(line);
    learn(&lines[HOST].before, &lines[line].before);
}

/* ---- memory ---- */

enum kind { DEVICE, PINNED, REGISTERED, PAGEABLE };

static struct block {
    enum kind kind;
    int gpu; /* whose memory it is, of device memory */
    size_t bytes;
    CUdeviceptr there;
    unsigned char *here, *made, *model;
    int writer; /* the line that has written last, and the number of what has */
    unsigned written;
    unsigned reads[LINES];
    unsigned calls[LINES]; /* host functions that use it, which nobody waits for who frees it */
} blocks[BLOCKS];

/* May the next operation of a line use it? *other: a line that it must wait for first. */
static bool is_free_for(const struct block *block, const struct known *known, bool writes,
                        int *other)
{
    *other = block->writer;
    if (known->upto[block->writer] < block->written)
        return false;
    for (*other = 0; writes && *other < line_count; ++*other)
        if (known->upto[*other] < block->reads[*other])
            return false;
    return true;
}

static void use(struct block *block, int line, unsigned number, bool writes)
{
    if (!writes) {
        block->reads[line] = number;
        return;
    }
    memset(block->reads, 0, sizeof(block->reads));
    block->writer = line;
    block->written = number;
}

static size_t size_draw(void)
{
    static const size_t sizes[] = {1, 64, 4096, 8192, 8193, 65536, 300000, (1 << 20) + 1, 3 << 20};
    unsigned of = below(10) ? 6 : sizeof(sizes) / sizeof(*sizes);

    return sizes[below(of)];
}

static void set_gpu(int gpu);
static void synchronize_context(int gpu);
static void make_way(struct block *block, int line, bool writes);

static void block_make(struct block *block, enum kind kind, int gpu)
{
    *block = (struct block){.kind = kind, .gpu = gpu, .bytes = size_draw()};
    block->model = calloc(1, block->bytes);
    if (kind == DEVICE) {
        set_gpu(gpu);
        OK(cuMemAlloc_v2(&block->there, block->bytes));
        OK(cuMemsetD8_v2(block->there, 0, block->bytes));
        use(block, 1 + gpu, step(1 + gpu), true);
    } else if (kind == PINNED) {
        OK(cuMemHostAlloc((void **)&block->here, block->bytes, 0));
        memset(block->here, 0, block->bytes);
    } else {
        block->here = block->made = calloc(1, block->bytes);
        if (kind == REGISTERED)
            OK(cuMemHostRegister_v2(block->here, block->bytes, 0));
    }
    note("block %d: kind %d of GPU %d, %zu bytes", (int)(block - blocks), kind, gpu, block->bytes);
}

/* The host's own look: what has been written is there. */
static void block_check(const struct block *block)
{
    for (size_t i = 0; block->here && i < block->bytes; i++)
        if (block->here[i] != block->model[i]) {
            note("block %d, byte %zu", (int)(block - blocks), i);
            fail("the host's memory", block->here[i], block->model[i]);
        }
}

/* Waits for those of the operations, one for each line, that are not certain to be over. */
static void wait_for_all(const unsigned *numbers)
{
    for (int i = HOST + 1; i < line_count; i++)
        if (lines[HOST].before.upto[i] < numbers[i])
            synchronize_context(lines[i].gpu);
}

/* Copies go on to use device memory that is freed. For those that use page-locked memory the driver
 * waits by itself. */
static void block_free(struct block *block)
{
    wait_for_all(block->calls);
    if (block->kind == PAGEABLE)
        make_way(block, HOST, true);
    note("free block %d", (int)(block - blocks));
    if (block->kind == DEVICE) {
        set_gpu(block->gpu);
        OK(cuMemFree_v2(block->there));
    } else if (block->kind == PINNED) {
        OK(cuMemFreeHost(block->here));
    } else {
        if (block->kind == REGISTERED)
            OK(cuMemHostUnregister(block->here));
        memset(block->made, 0xee, block->bytes); /* who still reads it is late */
        free(block->made);
    }
    free(block->model);
}

/* ---- contexts, streams, events ---- */

static CUcontext contexts[GPUS];
static CUfunction add[GPUS];
static int current = -1;

static void set_gpu(int gpu)
{
    if (current != gpu)
        OK(cuCtxSetCurrent(contexts[gpu]));
    current = gpu;
}

static int line_make(int gpu, bool blocking, CUstream handle)
{
    lines[line_count] = (struct line){.gpu = gpu, .blocking = blocking, .handle = handle};
    return line_count++;
}

static int streams[GPUS * 2 + STREAMS]; /* their lines: null streams, the thread's own, created */
enum { ALL_STREAMS = sizeof(streams) / sizeof(*streams) };

static void stream_make(int which)
{
    CUstream made;
    bool blocking = below(2);
    int gpu = (int)below(GPUS);

    set_gpu(gpu);
    OK(cuStreamCreate(&made, blocking ? 0 : CU_STREAM_NON_BLOCKING));
    streams[which] = line_make(gpu, blocking, made);
    note("stream %d: line %d of GPU %d%s", which, streams[which], gpu,
         blocking ? ", blocking" : "");
}

static struct event {
    CUevent event;
    int gpu;
    struct known known;
} events[EVENTS];

static void record(struct event *event, int line)
{
    set_gpu(lines[line].gpu);
    OK(cuEventRecord(event->event, lines[line].handle));
    join(line);
    event->known = lines[line].before;
    note("event %d records line %d", (int)(event - events), line);
}

static void wait_for(int line, const struct event *event)
{
    set_gpu(lines[line].gpu);
    OK(cuStreamWaitEvent(lines[line].handle, event->event, 0));
    join(line);
    learn(&lines[line].before, &event->known);
    note("line %d waits for event %d", line, (int)(event - events));
}

static void synchronize_stream(int line)
{
    set_gpu(lines[line].gpu);
    OK(cuStreamSynchronize(lines[line].handle));
    host_waits(line);
    note("wait for line %d", line);
}

static void synchronize_context(int gpu)
{
    set_gpu(gpu);
    OK(cuCtxSynchronize());
    for (int i = HOST + 1; i < line_count; i++)
        if (lines[i].gpu == gpu)
            host_waits(i);
    note("wait for GPU %d", gpu);
}

/* Something that makes sure that `line` comes behind all of `other`. */
static void order(int line, int other)
{
    unsigned how = below(5);

    if (!lines[other].gone && line != HOST && how < 3) {
        struct event *event = &events[below(EVENTS)];

        record(event, other);
        wait_for(line, event);
    } else if (!lines[other].gone && how < 4) {
        synchronize_stream(other);
    } else {
        synchronize_context(lines[other].gpu);
    }
    if (line != HOST)
        join(line);
}

/* The next operation of a line may use a block. */
static void make_way(struct block *block, int line, bool writes)
{
    int other;

    join(line);
    while (!is_free_for(block, &lines[line].before, writes, &other))
        order(line, other);
}

/* ---- host functions ---- */

struct host_function {
    unsigned char *at;
    size_t bytes;
    unsigned us;
    int value; /* to write; -1: to compare */
    unsigned char *wanted;
    unsigned at_call;
};

static void host_function(void *data)
{
    struct host_function *function = data;

    if (function->us)
        usleep(function->us);
    if (function->value >= 0)
        memset(function->at, function->value, function->bytes);
    else if (memcmp(function->at, function->wanted, function->bytes) != 0) {
        printf("what a host function sees, call %u\n", function->at_call);
        fail("host function", function->at[0], function->wanted[0]);
    }
    free(function->wanted);
    free(function);
}

static void host_callback(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status;
    host_function(data);
}

static void call_host(int line, struct block *block, bool writes)
{
    struct host_function *function = calloc(1, sizeof(*function));

    make_way(block, line, writes);
    set_gpu(lines[line].gpu);
    *function = (struct host_function){.at = block->here,
                                       .bytes = block->bytes,
                                       .us = below(3) ? below(300) : below(3000),
                                       .value = writes ? (int)below(256) : -1,
                                       .at_call = said_count};
    if (writes) {
        memset(block->model, function->value, block->bytes);
    } else {
        function->wanted = malloc(block->bytes);
        memcpy(function->wanted, block->model, block->bytes);
    }
    note("line %d: host function, block %d, value %d", line, (int)(block - blocks),
         function->value);
    if (below(2))
        OK(cuLaunchHostFunc(lines[line].handle, host_function, function));
    else
        OK(cuStreamAddCallback(lines[line].handle, host_callback, function, 0));
    block->calls[line] = step(line);
    use(block, line, block->calls[line], writes);
}

/* ---- copies and the like ---- */

/* A part of both, the same in both. */
struct part {
    size_t to, from, bytes;
};

static struct part part_draw(const struct block *to, const struct block *from_block)
{
    size_t least = to->bytes < from_block->bytes ? to->bytes : from_block->bytes;
    struct part part = {.bytes = below(3) ? least : 1 + draw_below(&from, least)};

    part.to = draw_below(&from, to->bytes - part.bytes + 1);
    part.from = draw_below(&from, from_block->bytes - part.bytes + 1);
    return part;
}

static void model_copy(struct block *to, const struct block *source, const struct part *part)
{
    memmove(to->model + part->to, source->model + part->from, part->bytes);
}

/* Forms of the same copy: plain, of a rectangle of one or of several rows, unified. */
static CUresult copy_in(const struct block *to, const struct block *source, struct part part,
                        CUstream stream, bool waits)
{
    CUDA_MEMCPY2D rows = {.from_type = CU_MEMORY_HOST,
                          .from_host = source->here + part.from,
                          .to_type = CU_MEMORY_DEVICE,
                          .to_device = to->there + part.to,
                          .width_bytes = part.bytes,
                          .height = 1};
    bool own = stream == CU_STREAM_PER_THREAD;

    if (below(4) == 0) {
        if (part.bytes % 4 == 0)
            rows.width_bytes /= 4, rows.height = 4;
        if (waits)
            return own ? cuMemcpy2D_v2_ptds(&rows) : cuMemcpy2D_v2(&rows);
        return cuMemcpy2DAsync_v2(&rows, stream);
    }
    if (!waits)
        return cuMemcpyHtoDAsync_v2(to->there + part.to, source->here + part.from, part.bytes,
                                    stream);
    return own ? cuMemcpyHtoD_v2_ptds(to->there + part.to, source->here + part.from, part.bytes)
               : cuMemcpyHtoD_v2(to->there + part.to, source->here + part.from, part.bytes);
}

static CUresult copy_out(const struct block *to, const struct block *source, struct part part,
                         CUstream stream, bool waits)
{
    CUDA_MEMCPY2D rows = {.from_type = CU_MEMORY_DEVICE,
                          .from_device = source->there + part.from,
                          .to_type = CU_MEMORY_HOST,
                          .to_host = to->here + part.to,
                          .width_bytes = part.bytes,
                          .height = 1};
    bool own = stream == CU_STREAM_PER_THREAD;

    if (below(4) == 0) {
        if (part.bytes % 4 == 0)
            rows.width_bytes /= 4, rows.height = 4;
        if (waits)
            return own ? cuMemcpy2D_v2_ptds(&rows) : cuMemcpy2D_v2(&rows);
        return cuMemcpy2DAsync_v2(&rows, stream);
    }
    if (!waits)
        return cuMemcpyDtoHAsync_v2(to->here + part.to, source->there + part.from, part.bytes,
                                    stream);
    return own ? cuMemcpyDtoH_v2_ptds(to->here + part.to, source->there + part.from, part.bytes)
               : cuMemcpyDtoH_v2(to->here + part.to, source->there + part.from, part.bytes);
}

/* Synchronous copies are the null stream's, or the thread's own. */
static bool may_wait(int line)
{
    return lines[line].handle == NULL || lines[line].handle == CU_STREAM_PER_THREAD;
}

static void move_in(int line, struct block *to, struct block *source)
{
    struct part part = part_draw(to, source);
    bool waits = may_wait(line) && below(2);
    /* Asynchronously, a pageable source is read at the call. */
    bool at_call = source->kind == PAGEABLE && !waits;

    make_way(source, at_call ? HOST : line, false);
    make_way(to, line, true);
    set_gpu(lines[line].gpu);
    note("line %d: block %d <- %d, %zu bytes%s", line, (int)(to - blocks), (int)(source - blocks),
         part.bytes, waits ? ", waits" : "");
    OK(copy_in(to, source, part, lines[line].handle, waits));
    unsigned number = step(line);
    if (!at_call)
        use(source, line, number, false);
    use(to, line, number, true);
    if (waits)
        learn(&lines[HOST].before, &lines[line].before);
    model_copy(to, source, &part);
}

static void move_out(int line, struct block *to, struct block *source)
{
    struct part part = part_draw(to, source);
    bool waits = may_wait(line) && below(2);

    make_way(source, line, false);
    make_way(to, line, true);
    set_gpu(lines[line].gpu);
    note("line %d: block %d <- %d, %zu bytes%s", line, (int)(to - blocks), (int)(source - blocks),
         part.bytes, waits ? ", waits" : "");
    OK(copy_out(to, source, part, lines[line].handle, waits));
    unsigned number = step(line);
    use(source, line, number, false);
    use(to, line, number, true);
    if (waits || to->kind == PAGEABLE)
        learn(&lines[HOST].before, &lines[line].before);
    model_copy(to, source, &part);
    if (waits || to->kind == PAGEABLE)
        block_check(to);
}

static void move_between(int line, struct block *to, struct block *source)
{
    struct part part = part_draw(to, source);

    make_way(source, line, false);
    make_way(to, line, true);
    set_gpu(lines[line].gpu);
    note("line %d: block %d <- %d, %zu bytes", line, (int)(to - blocks), (int)(source - blocks),
         part.bytes);
    OK(cuMemcpyPeerAsync(to->there + part.to, contexts[to->gpu], source->there + part.from,
                         contexts[source->gpu], part.bytes, lines[line].handle));
    unsigned number = step(line);
    use(source, line, number, false);
    use(to, line, number, true);
    model_copy(to, source, &part);
}

static void change(int line, struct block *block)
{
    uint64_t bytes = block->bytes < 4096 ? block->bytes : 4096, value = below(256);
    void *parameters[] = {&block->there, &bytes, &value};
    bool fills = block->gpu != lines[line].gpu || below(2);

    if (block->gpu != lines[line].gpu)
        return;
    make_way(block, line, true);
    set_gpu(lines[line].gpu);
    note("line %d: %s %d in block %d", line, fills ? "set" : "add", (int)value,
         (int)(block - blocks));
    if (fills) {
        OK(cuMemsetD8Async(block->there, (unsigned char)value, block->bytes, lines[line].handle));
        memset(block->model, (int)value, block->bytes);
    } else {
        OK(cuLaunchKernel(add[lines[line].gpu], 1, 1, 1, 1, 1, 1, 0, lines[line].handle, parameters,
                          NULL));
        for (uint64_t i = 0; i < bytes; i++)
            block->model[i] = (unsigned char)(block->model[i] + value);
    }
    use(block, line, step(line), true);
}

static void host_writes(struct block *block)
{
    unsigned value = below(256);

    make_way(block, HOST, true);
    block_check(block);
    memset(block->here, (int)value, block->bytes);
    memset(block->model, (int)value, block->bytes);
    note("the host sets block %d to %u", (int)(block - blocks), value);
}

/* ---- programs ---- */

static void operate_on(int line, struct block *one, struct block *other)
{
    bool one_there = one->kind == DEVICE, other_there = other->kind == DEVICE;

    if (one == other || (!one_there && !other_there)) {
        if (one_there)
            change(line, one);
        else
            call_host(line, one, below(2));
    } else if (one_there && other_there) {
        move_between(line, one, other);
    } else if (one_there && one->gpu == lines[line].gpu) {
        move_in(line, one, other);
    } else if (other_there && other->gpu == lines[line].gpu) {
        move_out(line, one, other);
    }
}

static void operate(void)
{
    int which = (int)below(ALL_STREAMS), line = streams[which];
    struct block *block = &blocks[below(BLOCKS)];
    struct event *event = &events[below(EVENTS)];

    switch (below(16)) {
    case 0:
        if (which < CREATED || line_count == LINES)
            return;
        note("destroy line %d", line);
        OK(cuStreamDestroy_v2(lines[line].handle));
        lines[line].gone = true;
        stream_make(which);
        return;
    case 1:
        block_free(block);
        block_make(block, block->kind, block->gpu);
        return;
    case 2:
        record(event, line);
        return;
    case 3:
        wait_for(line, event);
        return;
    case 4:
        if (cuEventQuery(event->event) == CUDA_SUCCESS)
            learn(&lines[HOST].before, &event->known);
        return;
    case 5:
        set_gpu(lines[line].gpu);
        if (cuStreamQuery(lines[line].handle) == CUDA_SUCCESS)
            learn(&lines[HOST].before, &lines[line].before);
        return;
    case 6:
        if (block->here)
            host_writes(block);
        return;
    default:
        operate_on(line, block, &blocks[below(BLOCKS)]);
    }
}

static void begin(void)
{
    memset(lines, 0, sizeof(lines));
    line_count = 0;
    said_count = 0;
    line_make(-1, false, NULL);
    for (int i = 0; i < GPUS; i++)
        streams[i] = line_make(i, true, NULL);
    for (int i = 0; i < GPUS; i++)
        streams[PER_THREAD + i] = line_make(i, true, CU_STREAM_PER_THREAD);
    for (int i = CREATED; i < ALL_STREAMS; i++)
        stream_make(i);
    for (int i = 0; i < BLOCKS; i++)
        block_make(&blocks[i],
                   i < BLOCKS / 2        ? DEVICE
                   : i < 3 * BLOCKS / 4  ? PINNED
                   : i == 3 * BLOCKS / 4 ? REGISTERED
                                         : PAGEABLE,
                   i % GPUS);
    for (int i = 0; i < EVENTS; i++) {
        set_gpu(i % GPUS);
        OK(cuEventCreate(&events[i].event, CU_EVENT_DISABLE_TIMING));
        events[i].known = (struct known){{0}};
    }
}

/* What is left is right. */
static void end(void)
{
    unsigned char *back = malloc(3 << 20);

    for (int i = 0; i < GPUS; i++)
        synchronize_context(i);
    for (int i = 0; i < BLOCKS; i++) {
        block_check(&blocks[i]);
        if (blocks[i].kind == DEVICE) {
            set_gpu(blocks[i].gpu);
            OK(cuMemcpyDtoH_v2(back, blocks[i].there, blocks[i].bytes));
            for (size_t k = 0; k < blocks[i].bytes; k++)
                if (back[k] != blocks[i].model[k]) {
                    note("block %d, byte %zu", i, k);
                    fail("the GPU's memory", back[k], blocks[i].model[k]);
                }
        }
        block_free(&blocks[i]);
    }
    for (int i = CREATED; i < ALL_STREAMS; i++)
        OK(cuStreamDestroy_v2(lines[streams[i]].handle));
    for (int i = 0; i < EVENTS; i++)
        OK(cuEventDestroy_v2(events[i].event));
    free(back);
}

static void start(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry standin_add(.param .u64 at, .param .u64 bytes, "
                              ".param .u64 value)\n{ ret; }\n";
    CUmodule module;

    OK(cuInit(0));
    for (int i = 0; i < GPUS; i++) {
        OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        set_gpu(i);
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleGetFunction(&add[i], module, "standin_add"));
    }
}

int main(int count, char **words)
{
    unsigned long long first = count > 1 ? strtoull(words[1], NULL, 0) : 1;
    unsigned long long programs = count > 2 ? strtoull(words[2], NULL, 0) : 20;

    start();
    for (seed = first; seed < first + programs; seed++) {
        from = (struct draw){seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        begin();
        for (int i = 0; i < OPERATIONS; i++)
            operate();
        end();
    }
    puts("right");
    return 0;
}
