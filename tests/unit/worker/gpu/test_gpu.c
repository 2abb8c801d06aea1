/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_gpu.c: what worker/gpu makes of a driver, with one that is made up here: its GPU's memory is
 * memory of the process, its kernels are functions of it, and a stream does one thing each time it
 * is looked at. It shows, too, that another kind of GPU is one table.
 * Covers: gpu/gpu.c gpu/arena.c gpu/stream.c gpu/kernel.c helper_thread.c
 */
#include "tests/unit/test.h"
#include "tests/unit/copies_fixture.h"
#include "tests/unit/core_fixture.h"
#include "worker/gpu/gpu.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of calls that need not know the GPU */

/* ---- a driver ---- */

enum { NOT_READY = 1, INVALID, NO_MEMORY, FATAL, BROKEN, WAITING_MOST = 64, RANGES = 32 };

/* Something to be done: a copy if `kernel` is NULL. */
struct thing {
    void (*kernel)(uint64_t, uint64_t, uint64_t);
    uint64_t words[3];
    bool fails;
};

struct gpu_stream_s {
    struct thing things[WAITING_MOST];
    unsigned given, done;
};

struct gpu_event_s {
    gpu_stream stream;
    unsigned after; /* so many things */
};

static struct {
    const char *fails; /* a function that returns `code`, or NULL */
    int code;
    _Atomic int streams, events, blocks; /* that are there */
    int recorded;
    struct {
        char *memory;
        size_t bytes;
    } locked[RANGES];
    int read_locked, read_other; /* copies to memory of the process */
    int reached;
} made;

static int begin(const char *function)
{
    return made.fails && strcmp(made.fails, function) == 0 ? made.code : 0;
}

static bool is_fatal(int code)
{
    return code == FATAL;
}

static omprma_status_t error(const struct gpu *gpu, int code, const char *what)
{
    error_set(code == FATAL ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_ARGUMENT, "%s: E%d", what, code);
    return error_note_code(code == FATAL ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_ARGUMENT, code);
}

static int make_current(const struct gpu *gpu)
{
    return 0;
}

static void reach(const struct gpu *gpu, const struct gpu *other)
{
    assert_ptr_not_equal(gpu, other);
    made.reached++;
}

static int memory_alloc(const struct gpu *gpu, uint64_t *address, uint64_t bytes)
{
    int code = begin(__func__);

    if (code == 0)
        *address = (uint64_t)(uintptr_t)aligned_alloc(4096, (bytes + 4095) & ~UINT64_C(4095));
    made.blocks += code == 0;
    return code;
}

static int memory_free(const struct gpu *gpu, uint64_t address)
{
    free((void *)(uintptr_t)address);
    made.blocks--;
    return begin(__func__);
}

/* The range with this memory, or a free one for NULL. */
static int find_range(const void *memory)
{
    int i = 0;

    while (i < RANGES && made.locked[i].memory != memory)
        i++;
    assert_true(i < RANGES);
    return i;
}

static int host_lock(const struct gpu *gpu, void *memory, size_t bytes)
{
    int i = find_range(NULL);

    made.locked[i].memory = memory;
    made.locked[i].bytes = bytes;
    return 0;
}

static int host_unlock(const struct gpu *gpu, void *memory)
{
    made.locked[find_range(memory)].memory = NULL;
    return 0;
}

static bool is_locked(const char *memory, size_t bytes)
{
    bool found = false;

    for (int i = 0; i < RANGES; i++)
        found |= made.locked[i].memory && memory >= made.locked[i].memory &&
                 memory + bytes <= made.locked[i].memory + made.locked[i].bytes;
    return found;
}

static int stream_create(const struct gpu *gpu, gpu_stream *stream)
{
    int code = begin(__func__);

    if (code == 0)
        *stream = calloc(1, sizeof(**stream));
    made.streams += code == 0;
    return code;
}

static int stream_destroy(const struct gpu *gpu, gpu_stream stream)
{
    free(stream);
    made.streams--;
    return 0;
}

/* Does one thing, if there is one before `end`. */
static int look(gpu_stream stream, unsigned end)
{
    const struct thing *thing = &stream->things[stream->done % WAITING_MOST];

    if ((int)(end - stream->done) <= 0)
        return 0;
    if (thing->fails)
        return FATAL;
    stream->done++;
    if (thing->kernel)
        thing->kernel(thing->words[0], thing->words[1], thing->words[2]);
    else
        memmove((void *)(uintptr_t)thing->words[0], (void *)(uintptr_t)thing->words[1],
                thing->words[2]);
    return NOT_READY;
}

static int stream_query(const struct gpu *gpu, gpu_stream stream)
{
    int code = begin(__func__);

    return code ? code : look(stream, stream->given);
}

static int stream_wait(const struct gpu *gpu, gpu_stream stream)
{
    int code = NOT_READY;

    while (code == NOT_READY)
        code = look(stream, stream->given);
    return code;
}

static int event_record(const struct gpu *gpu, gpu_event *event, gpu_stream stream)
{
    if (!*event) {
        *event = malloc(sizeof(**event));
        made.events++;
    }
    **event = (struct gpu_event_s){stream, stream->given};
    made.recorded++;
    return 0;
}

static int event_destroy(const struct gpu *gpu, gpu_event event)
{
    free(event);
    made.events--;
    return 0;
}

static int event_query(const struct gpu *gpu, gpu_event event)
{
    return look(event->stream, event->after);
}

static int event_wait(const struct gpu *gpu, gpu_event event)
{
    while (look(event->stream, event->after) == NOT_READY)
        ;
    return 0;
}

static int add(gpu_stream stream, const struct thing *thing)
{
    assert_true(stream->given - stream->done < WAITING_MOST);
    stream->things[stream->given++ % WAITING_MOST] = *thing;
    return 0;
}

/* A small write may come from any memory, which need not stay. */
static int copy(const struct gpu *gpu, const struct backend_copy *with, gpu_stream stream)
{
    int code = begin(__func__);

    if (code)
        return code;
    if (!with->to_device)
        ++*(is_locked((char *)(uintptr_t)with->to, with->bytes) ? &made.read_locked
                                                                : &made.read_other);
    if (with->from_device || is_locked((char *)(uintptr_t)with->from, with->bytes))
        return add(stream, &(struct thing){.words = {with->to, with->from, with->bytes}});
    while (look(stream, stream->given) == NOT_READY)
        ;
    memcpy((void *)(uintptr_t)with->to, (void *)(uintptr_t)with->from, with->bytes);
    return 0;
}

static void fill_bytes(uint64_t to, uint64_t count, uint64_t pattern)
{
    memset((void *)(uintptr_t)to, (int)pattern, count);
}

static int fill(const struct gpu *gpu, const struct backend_fill *with, gpu_stream stream)
{
    int code = begin(__func__);

    return code ? code
                : add(stream, &(struct thing){.kernel = fill_bytes,
                                              .words = {with->to, with->count, with->pattern}});
}

static void kernel_fault(uint64_t a, uint64_t b, uint64_t c)
{
    fail_msg("a fault is no kernel: %d", (int)(a + b + c));
}

static int start_kernel(const struct gpu *gpu, const struct gpu_kernel *kernel,
                        const struct wire_launch *with, const unsigned size[6], gpu_stream stream)
{
    struct thing thing = {.kernel = (void (*)(uint64_t, uint64_t, uint64_t))kernel->address};
    int code = begin("launch");

    assert_true(size[0] == 1 && size[5] == 1);
    thing.fails = thing.kernel == kernel_fault;
    memcpy(thing.words, with->arguments, 8 * (size_t)with->count);
    return code ? code : add(stream, &thing);
}

/* There is one module, with two kernels, whatever the image is. */
static omprma_status_t load(struct gpu *gpu, const struct backend_load *with, uint64_t *module)
{
    static const char one;

    *module = 1;
    for (uint32_t i = 0; i < with->count; i++) {
        struct gpu_kernel kernel = {.module = &one, .parameters = 3, .words = true};
        bool faults = strcmp(with->symbols[i].name, "fault") == 0;

        snprintf(kernel.name, sizeof(kernel.name), "%s", with->symbols[i].name);
        kernel.address = faults ? (uint64_t)(uintptr_t)kernel_fault : KERNEL(kernel_add);
        with->addresses[i] = kernel.address;
        if (!gpu_kernel_find(gpu, kernel.address, &kernel) &&
            gpu_kernel_add(gpu, &kernel) != OMPRMA_OK)
            return OMPRMA_ERR_HOST_MEMORY;
    }
    return OMPRMA_OK;
}

static omprma_status_t ask(struct gpu *gpu, struct backend_ask *with)
{
    return error_set(OMPRMA_ERR_UNSUPPORTED, "question %u is not answered", with->what);
}

static void close_gpu(struct gpu *gpu)
{
    for (int i = 0; i < GPU_KERNEL_SLOTS; i++)
        while (gpu->kernels[i])
            gpu_kernel_forget(gpu, gpu->kernels[i]->module);
    free(gpu);
}

static const struct gpu_driver driver = {
    .backend = GPU_BACKEND("made-up"),
    .not_ready = NOT_READY,
    .invalid = INVALID,
    .no_memory = NO_MEMORY,
    .is_fatal = is_fatal,
    .error = error,
    .make_current = make_current,
    .reach = reach,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .host_lock = host_lock,
    .host_unlock = host_unlock,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_wait = stream_wait,
    .event_record = event_record,
    .event_destroy = event_destroy,
    .event_query = event_query,
    .event_wait = event_wait,
    .copy = copy,
    .fill = fill,
    .launch = start_kernel,
    .load = load,
    .ask = ask,
    .close = close_gpu,
};

static void open_gpu(struct worker_device *device)
{
    struct gpu *gpu = calloc(1, sizeof(*gpu));

    assert_non_null(gpu);
    strcpy(gpu->name, "Made-up");
    gpu->memory_bytes = 64 << 20;
    gpu_open(gpu, device, &driver);
    assert_ok(gpu_helper_start(gpu));
}

/* ---- a GPU without a core around it ---- */

static struct server server;
static struct worker_device device;
static struct gpu *gpu;
static uint64_t block;

static void wait_for(struct backend_job *job)
{
    while (!worker_device_ended(job))
        ;
}

/* The same of one that may be over at once. */
static omprma_status_t ended(enum backend_step step, struct backend_job *job)
{
    job->over = step == BACKEND_OVER;
    wait_for(job);
    return job->status;
}

static void open_alone(void)
{
    struct backend_job job = {.device = &device};

    memset(&made, 0, sizeof(made));
    device = (struct worker_device){.server = &server};
    server.devices = &device;
    server.device_count = 1;
    open_gpu(&device);
    gpu = device.state;
    assert_ok(ended(gpu_grow(&device, &job, 1 << 20, 0), &job));
    block = job.value;
}

static void assert_nothing_left(void)
{
    assert_int_equal(made.streams, 0);
    assert_int_equal(made.events, 0);
    assert_int_equal(made.blocks, 0);
    for (int i = 0; i < RANGES; i++)
        assert_null(made.locked[i].memory);
}

static void close_alone(void)
{
    made.fails = NULL;
    device.backend->stop(&device);
    device.backend->close(&device);
    assert_null(device.state);
    assert_nothing_left();
}

/* What is to be done, with the block. */
static enum backend_step begin_fill(struct backend_job *job, unsigned char value)
{
    const struct backend_fill what = {block, value, 64, 1};

    return gpu_fill(&device, job, &what);
}

static enum backend_step begin_add(struct backend_job *job, uint64_t value)
{
    const uint64_t words[3] = {block, 64, value};
    struct gpu_kernel kernel = {
        .address = KERNEL(kernel_add), .parameters = 3, .words = true, .name = "add"};
    const struct backend_launch what = {.kernel = kernel.address,
                                        .with = {.arguments = words, .count = 3}};

    if (!gpu_kernel_find(gpu, kernel.address, &kernel))
        assert_ok(gpu_kernel_add(gpu, &kernel));
    return gpu_launch(&device, job, &what);
}

static enum backend_step begin_read(struct backend_job *job, unsigned char *to)
{
    const struct backend_copy what = {"retrieve", NULL, &device, (uint64_t)(uintptr_t)to,
                                      block,      64};

    return gpu_copy(&device, job, &what);
}

/* ---- order ---- */

TEST(a_queue_is_one_stream_in_order)
{
    struct backend_job jobs[3] = {{.device = &device}, {.device = &device}, {.device = &device}};
    unsigned char back[64] = {0};

    open_alone();
    jobs[1].behind = &jobs[0];
    jobs[2].behind = &jobs[1];
    assert_int_equal(begin_fill(&jobs[0], 4), BACKEND_PENDING);
    assert_int_equal(begin_add(&jobs[1], 3), BACKEND_PENDING);
    assert_int_equal(begin_read(&jobs[2], back), BACKEND_PENDING);
    assert_int_equal(made.streams, 1);
    assert_int_equal(made.recorded, 2); /* the last has none */
    wait_for(&jobs[0]);
    assert_int_equal(back[0], 0);
    wait_for(&jobs[1]);
    assert_int_equal(back[0], 0);
    wait_for(&jobs[2]);
    assert_all(back, 64, 7);
    close_alone();
}

TEST(queues_have_streams_of_their_own)
{
    struct backend_job jobs[2] = {{.device = &device}, {.device = &device}};

    open_alone();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            jobs[i].over = false;
            assert_int_equal(begin_fill(&jobs[i], 1), BACKEND_PENDING);
        }
        wait_for(&jobs[1]);
        wait_for(&jobs[0]);
        assert_int_equal(made.streams, 2); /* idle ones are taken again */
    }
    assert_int_equal(made.recorded, 0);
    close_alone();
}

/* A job that may end with the next one has no event, and both end once: nothing is under way
 * afterwards. */
TEST(a_job_ends_once)
{
    struct backend_job jobs[2] = {{.device = &device, .ends_with_next = true}, {.device = &device}};
    unsigned char back[64] = {0};
    int spare = 0;

    open_alone();
    jobs[1].behind = &jobs[0];
    assert_int_equal(begin_fill(&jobs[0], 9), BACKEND_PENDING);
    assert_int_equal(begin_read(&jobs[1], back), BACKEND_PENDING);
    assert_int_equal(made.recorded, 0);
    wait_for(&jobs[0]);
    assert_all(back, 64, 9);
    assert_ptr_equal(gpu->tasks, jobs[1].handle);
    wait_for(&jobs[1]);
    assert_null(gpu->tasks);
    for (const struct gpu_task *task = gpu->spare_tasks; task; task = task->next)
        spare++;
    assert_int_equal(spare, 2);
    assert_int_equal(gpu->idle_count, 1);
    close_alone();
}

/* ---- errors ---- */

static enum backend_step begin_region(struct backend_job *job, unsigned char *from,
                                      unsigned char *to)
{
    const uint64_t words[3] = {block, 64, 1};
    const struct backend_copy write = {"submit", &device, NULL, block, (uint64_t)(uintptr_t)from,
                                       64};
    const struct backend_copy read = {"retrieve", NULL, &device, (uint64_t)(uintptr_t)to,
                                      block,      64};
    const struct backend_launch launch = {.kernel = KERNEL(kernel_add),
                                          .with = {.arguments = words, .count = 3}};

    return gpu_region(&device, job, &write, &launch, &read);
}

/* Begins one of each, ends it, and says how. */
static omprma_status_t do_one(const char *function)
{
    struct backend_job job = {.device = &device};
    unsigned char data[64];
    enum backend_step step;

    if (strcmp(function, "memory_alloc") == 0)
        step = gpu_grow(&device, &job, 3 << 20, 0);
    else if (strcmp(function, "memory_free") == 0)
        step = gpu_release(&device, &job, block);
    else if (strcmp(function, "fill") == 0)
        step = begin_fill(&job, 1);
    else if (strcmp(function, "launch") == 0)
        step = begin_add(&job, 1);
    else
        step = begin_read(&job, data);
    return ended(step, &job);
}

TEST(a_failing_call_names_itself)
{
    static const struct {
        const char *function, *text;
        int code;
    } calls[] = {
        {"stream_create", "Made-up has no stream: E5", BROKEN},
        {"copy", "retrieve of 64 bytes on Made-up: E5", BROKEN},
        {"copy", "retrieve of 64 bytes at device address 0x", INVALID},
        {"fill", "fill of 64 bytes on Made-up: E5", BROKEN},
        {"fill", "is not mapped on the device", INVALID},
        {"launch", "launch of add with 1 x 1 x 1 teams of 1 x 1 x 1 threads: E5", BROKEN},
        {"stream_query", "a transfer on Made-up: E5", BROKEN},
        {"memory_alloc", "Made-up has no 3 MiB more for an arena: E3", NO_MEMORY},
        {"memory_free", "an arena of Made-up cannot be freed: E5", BROKEN},
    };

    open_alone();
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        made.fails = calls[i].function;
        made.code = calls[i].code;
        assert_int_not_equal(do_one(calls[i].function), OMPRMA_OK);
        if (!strstr(error_text(), calls[i].text))
            fail_msg("%s: %s", calls[i].function, error_text());
        assert_int_equal(error_code(), calls[i].code);
        assert_null(gpu->tasks);
        made.fails = NULL;
    }
    close_alone();
}

/* A region is one job without an event. One whose launch does not begin has its write under way. */
TEST(a_region_is_one_job)
{
    struct backend_job job = {.device = &device};
    unsigned char from[64] = {0}, to[64] = {0};

    open_alone();
    assert_ok(ended(begin_add(&job, 0), &job));
    assert_ok(ended(begin_region(&job, from, to), &job));
    assert_all(to, 64, 1);
    assert_int_equal(made.recorded, 0);
    made.fails = "launch";
    made.code = BROKEN;
    assert_int_equal(begin_region(&job, from, to), BACKEND_PENDING);
    assert_int_equal(ended(BACKEND_PENDING, &job), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(error_text(), "launch of add"));
    close_alone();
}

/* ---- memory ---- */

TEST(arenas_come_and_go)
{
    struct backend_job job = {.device = &device};
    uint64_t more;

    open_alone();
    assert_ok(ended(gpu_grow(&device, &job, 60 << 20, 0), &job));
    more = job.value;
    assert_int_equal(ended(gpu_grow(&device, &job, 4 << 20, 0), &job), OMPRMA_ERR_DEVICE_MEMORY);
    assert_non_null(strstr(error_text(), "4 MiB more would pass the 64 MiB of Made-up that may be "
                                         "used (61 MiB are in arenas)"));
    assert_int_equal(error_code(), NO_MEMORY);
    assert_int_equal(ended(gpu_release(&device, &job, more + 1), &job), OMPRMA_ERR_ADDRESS);
    assert_ok(ended(gpu_release(&device, &job, more), &job));
    assert_int_equal(made.blocks, 1);
    assert_ok(ended(gpu_grow(&device, &job, 4 << 20, 0), &job));
    for (int i = 2; i < WIRE_ARENAS_MOST; i++)
        assert_ok(ended(gpu_grow(&device, &job, 4096, 0), &job));
    assert_int_equal(ended(gpu_grow(&device, &job, 4096, 0), &job), OMPRMA_ERR_DEVICE_MEMORY);
    assert_non_null(strstr(error_text(), "arenas of the device are in use"));
    close_alone();
}

/* ---- with a core around it ---- */

enum { GPU, GPU_TOO, NATIVE };

static bool make_gpu(struct worker_device *where, int worker)
{
    if (where->index >= NATIVE)
        return false;
    open_gpu(where);
    return true;
}

static void start_all(void)
{
    memset(&made, 0, sizeof(made));
    core_start(&(struct core_options){.devices = 3, .arena = 8 << 20, .make_other = make_gpu});
    assert_int_equal(made.reached, 2);
}

static omprma_addr_t look_up(const char *name)
{
    omprma_symbol_t symbol = {.name = name};

    assert_ok(omprma_image_load(GPU, "made up", 7, &symbol, 1));
    return symbol.address;
}

TEST(data_and_kernels_are_right)
{
    static const uint64_t sizes[] = {1, 64, 5000, 100000, 5 << 20};
    omprma_device_info_t info;
    omprma_addr_t kernel;

    start_all();
    assert_ok(omprma_device_info(GPU, &info));
    assert_string_equal(info.backend, "made-up");
    kernel = look_up("add");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        there_and_back(GPU, sizes[i], kernel);
    exchange(GPU, GPU_TOO, 70000, 0);
    exchange(GPU_TOO, NATIVE, 70000, 0);
    exchange(GPU, GPU, 70000, 100); /* they overlap */
    assert_int_equal(omprma_device_ask(GPU, 1, NULL, 0, NULL, 0, NULL), OMPRMA_ERR_UNSUPPORTED);
    assert_non_null(strstr(omprma_error(), "question 1 is not answered"));
    core_stop();
    assert_nothing_left();
}

TEST(small_reads_come_through_locked_memory)
{
    omprma_queue_t *queue;
    omprma_addr_t there, kernel;
    unsigned char back[30][100];

    start_all();
    queue = core_queue(GPU);
    kernel = look_up("add");
    there = core_alloc(GPU, 100);
    made.read_locked = made.read_other = 0;
    assert_ok(omprma_fill(queue, there, "\0", 1, 100));
    for (int i = 0; i < 30; i++) {
        assert_ok(launch(queue, kernel, there, 100, 1));
        assert_ok(omprma_retrieve(queue, back[i], there, 100));
    }
    assert_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < 30; i++)
        assert_all(back[i], 100, i + 1);
    assert_true(made.read_locked >= 30);
    assert_int_equal(made.read_other, 0);
    core_end();
    assert_nothing_left();
}

/* The line names kernels that were under way, each once. Last: nothing of the GPU is given back. */
TEST(a_fault_is_named)
{
    omprma_queue_t *queue;
    omprma_addr_t kernel, fault, there;

    start_all();
    queue = core_queue(GPU);
    kernel = look_up("add");
    fault = look_up("fault");
    there = core_alloc(GPU, 64);
    core_hold(0); /* so that all three come at once */
    assert_ok(launch(queue, fault, 0, 0, 0));
    assert_ok(launch(queue, kernel, there, 64, 1));
    assert_ok(launch(queue, kernel, there, 64, 1));
    assert_ok(omprma_queue_flush(queue));
    core_release(0);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
    assert_non_null(strstr(omprma_error(), "Made-up: kernel fault or add: E4"));
    assert_int_equal(omprma_error_code(), FATAL);
    there_and_back(NATIVE, 100000, 0);
    there_and_back(GPU_TOO, 100000, 0);
    omprma_queue_destroy(queue);
    core_stop();
}
