/*
 * test_backend.c: the core of the worker with devices that are not like native ones: nobody but
 * their backend can touch their memory, and everything that they do ends later, and not in order.
 * Once they are polled, once a thread of theirs says that it is over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/error.h"
#include "core_fixture.h"
#include "image_fixture.h"

enum { FAR_BYTES = 64 << 20, FAR_DEVICES = 4, FAR_LOOKS = 7, BIG = 5 << 20 };

/* What a launch may call; the addresses that load() gives. */
enum { FAR_ADD = 0x1000, FAR_GEOMETRY = 0x2000, FAR_CRASH = 0x3000 };

struct far {
    struct worker_device *device;
    char *shadow;     /* what the memory holds */
    uint64_t address; /* where it is said to lie: pages that nobody may touch */
    uint64_t used;
    struct far_job {
        struct far_job *next;
        struct backend_job *job;
        enum { FAR_COPY, FAR_LOAD, FAR_LAUNCH, FAR_ARENA } what;
        unsigned looks; /* still to come before it is over */
        struct backend_copy copy;
        const struct backend_load *load;
        const struct backend_launch *launch;
        uint64_t bytes;
    } * jobs;
    bool threaded, stop;
    pthread_t thread;
    const char *fault;
    char kernel[64]; /* name of the last one that was looked up */
};

static struct far far[FAR_DEVICES];
static int far_count;
static struct draw far_looks = {7};

static struct far *far_of(const struct worker_device *device)
{
    return device->state;
}

/* ---- what jobs do when their time has come ---- */

static char *far_at(struct far *self, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - self->address;

    return offset < self->used && bytes <= self->used - offset ? self->shadow + offset : NULL;
}

static char *end_of(struct worker_device *device, uint64_t address, const struct backend_copy *copy)
{
    char *at = device ? far_at(far_of(device), address, copy->bytes) : (char *)(uintptr_t)address;

    if (!at)
        worker_device_refuse_range(copy->what, address, copy->bytes, address);
    return at;
}

static omprma_status_t far_copy_now(const struct backend_copy *copy)
{
    char *from = end_of(copy->from_device, copy->from, copy);
    char *to = from ? end_of(copy->to_device, copy->to, copy) : NULL;

    if (!to)
        return OMPRMA_ERR_ADDRESS;
    memmove(to, from, copy->bytes);
    return OMPRMA_OK;
}

static omprma_status_t far_load_now(struct far *self, const struct backend_load *load)
{
    static const char *const names[] = {"far_add", "far_geometry", "far_crash"};
    static const uint64_t addresses[] = {FAR_ADD, FAR_GEOMETRY, FAR_CRASH};

    if (load->bytes < 64 || memcmp(load->image, "\177ELF", 4) != 0)
        return error_set(OMPRMA_ERR_IMAGE, "that is no image");
    for (uint32_t i = 0; i < load->count; i++) {
        load->addresses[i] = 0;
        for (int k = 0; k < 3; k++)
            if (strcmp(load->symbols[i].name, names[k]) == 0)
                load->addresses[i] = addresses[k];
        if (!load->addresses[i])
            return error_set(OMPRMA_ERR_SYMBOL, "no symbol %s", load->symbols[i].name);
        snprintf(self->kernel, sizeof(self->kernel), "%s", load->symbols[i].name);
    }
    return OMPRMA_OK;
}

static omprma_status_t far_launch_now(struct far *self, const struct backend_launch *launch)
{
    const uint64_t *words = launch->with.arguments;
    unsigned char *at = (unsigned char *)far_at(self, words[0], words[1]);

    if (!at)
        return error_set(OMPRMA_ERR_ADDRESS, "a kernel reads what is not there");
    if (launch->kernel == FAR_GEOMETRY)
        memcpy(at, &launch->with.geometry, sizeof(launch->with.geometry));
    for (uint64_t i = 0; launch->kernel == FAR_ADD && i < words[1]; i++)
        at[i] += (unsigned char)words[2];
    return OMPRMA_OK;
}

static omprma_status_t far_now(struct far *self, struct far_job *one)
{
    switch (one->what) {
    case FAR_COPY:
        return far_copy_now(&one->copy);
    case FAR_LOAD:
        return far_load_now(self, one->load);
    case FAR_LAUNCH:
        return far_launch_now(self, one->launch);
    case FAR_ARENA:
        break;
    }
    one->job->value = self->address + self->used;
    self->used += one->bytes;
    return OMPRMA_OK;
}

/* ---- the functions of a backend ---- */

static struct far_job *far_begin(struct worker_device *device, struct backend_job *job, int what)
{
    struct far_job *one = calloc(1, sizeof(*one));

    if (!one)
        abort();
    one->job = job;
    one->what = what;
    one->looks = 1 + (unsigned)draw_below(&far_looks, FAR_LOOKS);
    one->next = far_of(device)->jobs;
    far_of(device)->jobs = one;
    job->handle = one;
    return one;
}

static void far_forget(struct far *self, struct far_job *one)
{
    struct far_job **link = &self->jobs;

    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    free(one);
}

static enum backend_step far_grow(struct worker_device *device, struct backend_job *job,
                                  uint64_t bytes)
{
    struct far *self = far_of(device);

    if (bytes > FAR_BYTES - self->used) {
        job->status = error_set(OMPRMA_ERR_DEVICE_MEMORY, "the far device is full");
        return BACKEND_OVER;
    }
    if (!self->used) { /* nobody polls or runs yet */
        job->value = self->address;
        self->used = bytes;
        return BACKEND_OVER;
    }
    far_begin(device, job, FAR_ARENA)->bytes = bytes;
    return BACKEND_PENDING;
}

/* Memory that was given back is not used again. */
static enum backend_step far_release(struct worker_device *device, struct backend_job *job,
                                     uint64_t address)
{
    (void)device, (void)address;
    job->status = OMPRMA_OK;
    return BACKEND_OVER;
}

static enum backend_step far_copy(struct worker_device *device, struct backend_job *job,
                                  const struct backend_copy *copy)
{
    far_begin(device, job, FAR_COPY)->copy = *copy;
    return BACKEND_PENDING;
}

static enum backend_step far_load(struct worker_device *device, struct backend_job *job,
                                  const struct backend_load *load)
{
    far_begin(device, job, FAR_LOAD)->load = load;
    return BACKEND_PENDING;
}

static enum backend_step far_launch(struct worker_device *device, struct backend_job *job,
                                    const struct backend_launch *launch)
{
    struct far *self = far_of(device);

    if (launch->kernel == FAR_CRASH)
        self->fault = "the far device is on fire";
    far_begin(device, job, FAR_LAUNCH)->launch = launch;
    return BACKEND_PENDING;
}

static bool far_poll(struct worker_device *device, struct backend_job *job)
{
    struct far_job *one = job->handle;

    if (far_of(device)->fault || --one->looks > 0)
        return false;
    job->status = far_now(far_of(device), one);
    far_forget(far_of(device), one);
    return true;
}

static const char *far_fault(struct worker_device *device)
{
    return far_of(device)->fault;
}

/* Ends what was begun last, now and then. */
static void *far_work(void *data)
{
    struct far *self = data;
    struct server *server = self->device->server;

    server_lock(server);
    while (!self->stop) {
        struct far_job *one = self->fault ? NULL : self->jobs;

        if (one) {
            struct backend_job *job = one->job;
            omprma_status_t status = far_now(self, one);

            far_forget(self, one);
            backend_end(job, status);
            reply_flush(server->session);
            channel_wake(server->channel);
        }
        server_unlock(server);
        kernel_nap(50);
        server_lock(server);
    }
    server_unlock(server);
    return NULL;
}

static omprma_status_t far_start(struct worker_device *device)
{
    struct far *self = far_of(device);

    if (self->threaded && pthread_create(&self->thread, NULL, far_work, self) != 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no thread");
    return OMPRMA_OK;
}

static void far_stop(struct worker_device *device)
{
    struct far *self = far_of(device);

    if (!self->threaded)
        return;
    server_lock(device->server);
    self->stop = true;
    server_unlock(device->server);
    pthread_join(self->thread, NULL);
}

static void far_close(struct worker_device *device)
{
    struct far *self = far_of(device);

    while (self->jobs)
        far_forget(self, self->jobs);
    munmap((void *)(uintptr_t)self->address, FAR_BYTES);
    munmap(self->shadow, FAR_BYTES);
}

#define FAR_FUNCTIONS                                                                              \
    .name = "far", .grow = far_grow, .release = far_release, .copy = far_copy, .load = far_load,   \
    .launch = far_launch, .fault = far_fault, .start = far_start, .stop = far_stop,                \
    .close = far_close

static const struct backend polled_backend = {FAR_FUNCTIONS, .poll = far_poll};
static const struct backend threaded_backend = {FAR_FUNCTIONS};

static void far_open(struct worker_device *device, bool threaded)
{
    struct far *self = &far[far_count++];

    *self = (struct far){.device = device, .threaded = threaded};
    self->shadow =
        mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    self->address = (uint64_t)(uintptr_t)mmap(NULL, FAR_BYTES, PROT_NONE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    device->backend = threaded ? &threaded_backend : &polled_backend;
    device->state = self;
}

/* ---- devices: two polled ones and a native one on worker 0; a threaded and a native one on the
 * next.
 */

enum { POLLED, POLLED_TOO, NATIVE, THREADED, NATIVE_TOO, DEVICES };

static bool make_other(struct worker_device *device, int worker)
{
    if (device->index == 2 || (worker == 1 && device->index == 1))
        return false;
    far_open(device, worker == 1);
    return true;
}

static void start_all(void)
{
    far_count = 0;
    core_start(&(struct core_options){
        .workers = 2,
        .devices = 3,
        .arena = 16 << 20,
        .make_other = make_other,
    });
}

/* Device numbers: the second worker has three devices too, of which the first is of interest. */
static const int numbers[] = {
    [POLLED] = 0, [POLLED_TOO] = 1, [NATIVE] = 2, [THREADED] = 3, [NATIVE_TOO] = 4};

static omprma_addr_t look_up(int device, const char *name)
{
    static void *image;
    static size_t bytes;
    omprma_symbol_t symbol = {.name = name};

    if (!image)
        image = fixture_image("int nothing;\n", &bytes);
    assert_ok(omprma_image_load(device, image, bytes, &symbol, 1));
    return symbol.address;
}

static void there_and_back(int device, uint64_t bytes, omprma_addr_t add)
{
    omprma_queue_t *queue = core_queue(device);
    omprma_addr_t there = core_alloc(device, bytes);
    unsigned char *out = malloc(bytes), *back = malloc(bytes);
    struct draw from = {bytes + 1};

    draw_fill(&from, out, bytes);
    assert_ok(omprma_submit(queue, there, out, bytes));
    if (add)
        assert_ok(launch(queue, add, there, bytes, 3));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    for (uint64_t i = 0; i < bytes; i++)
        if (back[i] != (unsigned char)(out[i] + (add ? 3 : 0)))
            fail_msg("device %d, %llu bytes: byte %llu", device, (unsigned long long)bytes,
                     (unsigned long long)i);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_free(device, there));
    free(out);
    free(back);
}

static void data_is_copied(void **state)
{
    static const uint64_t sizes[] = {1, 8, 500, 4096, 20000, 100000, BIG};

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        omprma_addr_t add = look_up(numbers[which], "far_add");

        assert_int_equal(add, FAR_ADD);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            there_and_back(numbers[which], sizes[i], 0);
            there_and_back(numbers[which], sizes[i], add);
        }
        there_and_back(numbers[which], 20 << 20, add); /* another arena */
    }
    core_stop();
}

static void geometry_arrives(void **state)
{
    const omprma_geometry_t geometry = {
        .teams = {4, 3, 2}, .threads = {128, 2, 1}, .shared_bytes = 4096};
    omprma_geometry_t seen[3];
    omprma_queue_t *queue;
    omprma_addr_t there, kernel;

    (void)state;
    start_all();
    queue = core_queue(0);
    there = core_alloc(0, sizeof(seen));
    kernel = look_up(0, "far_geometry");
    memset(seen, 0x55, sizeof(seen));
    assert_ok(omprma_submit(queue, there, seen, sizeof(seen)));
    for (int i = 0; i < 2; i++) {
        const uint64_t arguments[] = {there + (uint64_t)i * sizeof(geometry), sizeof(geometry)};

        assert_ok(omprma_launch(queue, kernel, i ? NULL : &geometry, arguments, 2));
    }
    assert_ok(omprma_retrieve(queue, seen, there, sizeof(seen)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(&seen[0], &geometry, sizeof(geometry));
    assert_memory_equal(&seen[1], &(omprma_geometry_t){0}, sizeof(geometry));
    assert_int_equal(seen[2].teams[0], 0x55555555);
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

static void exchange(int from, int to, uint64_t bytes)
{
    omprma_queue_t *queue = core_queue(from), *end = core_queue(to);
    omprma_addr_t here = core_alloc(from, bytes), there = core_alloc(to, bytes);
    unsigned char *out = malloc(bytes), *back = calloc(1, bytes);
    omprma_event_t *event = core_event();
    struct draw source = {bytes + (uint64_t)from * 10 + (uint64_t)to + 1};

    draw_fill(&source, out, bytes);
    assert_ok(omprma_submit(queue, here, out, bytes));
    assert_ok(omprma_exchange(queue, here, to, there, bytes));
    assert_ok(omprma_event_record(event, queue));
    assert_ok(omprma_event_wait(event, end));
    assert_ok(omprma_retrieve(end, back, there, bytes));
    assert_ok(omprma_queue_synchronize(end));
    if (memcmp(out, back, bytes) != 0)
        fail_msg("%llu bytes from device %d to device %d", (unsigned long long)bytes, from, to);
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_queue_destroy(end));
    assert_ok(omprma_free(from, here));
    assert_ok(omprma_free(to, there));
    free(out);
    free(back);
}

/* Within a worker, also between kinds of devices, and between workers. */
static void devices_exchange(void **state)
{
    (void)state;
    start_all();
    for (int from = POLLED; from < DEVICES; from++) {
        for (int to = POLLED; to < DEVICES; to++) {
            exchange(numbers[from], numbers[to], 100);
            exchange(numbers[from], numbers[to], 70000);
        }
    }
    exchange(numbers[POLLED], numbers[NATIVE], BIG);
    exchange(numbers[NATIVE], numbers[POLLED], BIG);
    exchange(numbers[THREADED], numbers[NATIVE_TOO], BIG);
    exchange(numbers[NATIVE_TOO], numbers[POLLED], BIG);
    core_stop();
}

static void errors_come_back(void **state)
{
    omprma_queue_t *queue, *native;
    unsigned char data[64] = {0};
    omprma_addr_t block, other;
    omprma_symbol_t symbol = {.name = "nothing_of_that_name"};
    void *image;
    size_t bytes;

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        int device = numbers[which];
        omprma_addr_t outside = far[device == 0 ? 0 : 2].address + FAR_BYTES - 4096;

        queue = core_queue(device);
        native = core_queue(numbers[NATIVE]);
        block = core_alloc(device, sizeof(data));
        other = core_alloc(numbers[NATIVE], sizeof(data));
        assert_ok(omprma_submit(queue, outside, data, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_non_null(strstr(omprma_error(), "submit of 64 bytes"));
        assert_ok(omprma_retrieve(queue, data, outside, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_ok(omprma_exchange(queue, outside, numbers[NATIVE], other, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        image = fixture_image("int nothing;\n", &bytes);
        assert_int_equal(omprma_image_load(device, image, bytes, &symbol, 1), OMPRMA_ERR_SYMBOL);
        free(image);
        assert_ok(omprma_submit(queue, block, data, sizeof(data))); /* well again */
        assert_ok(omprma_retrieve(queue, data, block, sizeof(data)));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_queue_destroy(queue));
        assert_ok(omprma_queue_destroy(native));
    }
    core_stop();
}

/* A fault takes the device, with what it had begun; the others of its worker go on. */
static void a_fault_takes_one_device(void **state)
{
    unsigned char data[4096] = {0};
    omprma_queue_t *queue, *busy, *later;
    omprma_addr_t block, crash;

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        int device = numbers[which];

        queue = core_queue(device);
        busy = core_queue(device);
        later = core_queue(device);
        block = core_alloc(device, sizeof(data));
        crash = look_up(device, "far_crash");
        assert_ok(omprma_submit(busy, block, data, sizeof(data)));
        assert_ok(launch(queue, crash, block, 8, 0));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
        assert_non_null(strstr(omprma_error(), "on fire"));
        assert_ok(omprma_retrieve(later, data, block, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(later), OMPRMA_ERR_DEVICE_LOST);
        omprma_queue_destroy(busy);
        omprma_queue_destroy(queue);
        omprma_queue_destroy(later);
        there_and_back(numbers[NATIVE], 100000, 0);
        there_and_back(numbers[POLLED_TOO], 100000, look_up(numbers[POLLED_TOO], "far_add"));
        exchange(numbers[POLLED_TOO], numbers[NATIVE_TOO], 70000);
    }
    core_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_copied),           cmocka_unit_test(geometry_arrives),
        cmocka_unit_test(devices_exchange),         cmocka_unit_test(errors_come_back),
        cmocka_unit_test(a_fault_takes_one_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
