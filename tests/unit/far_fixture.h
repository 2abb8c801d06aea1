/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * far_fixture.h: devices whose memory nobody but their backend can touch, and where everything ends
 * later than it begins, in no order. They are polled, or a thread of theirs says what is over; or
 * they are polled and keep the order of a queue.
 * Included after core_fixture.h.
 */
#ifndef OMPRMA_TESTS_FAR_FIXTURE_H
#define OMPRMA_TESTS_FAR_FIXTURE_H

#include <stdio.h>

#include "base/error.h"

/* The first bytes of a device lie outside of its arenas. */
enum { FAR_BYTES = 64 << 20, FAR_GLOBALS = 1 << 20, FAR_DEVICES = 4, FAR_LOOKS = 7 };

/* What a launch may call; the addresses that load() gives to the first four. */
enum {
    FAR_ADD = 0x1000,      /* at, bytes, value */
    FAR_GEOMETRY = 0x2000, /* at, bytes */
    FAR_CRASH = 0x3000,
    FAR_PACKED = 0x4000,
    FAR_SET = 0x5000,  /* at, bytes, value */
    FAR_MOVE = 0x6000, /* to, from, bytes */
    FAR_SUM = 0x7000,  /* from, bytes, to */
    FAR_NAP = 0x8000
};

enum { FAR_FIRE = 77 /* the driver's code for a crash */ };

/* What far_open() makes. */
enum far_kind { FAR_IS_POLLED, FAR_IS_THREADED, FAR_IS_ORDERED };

struct far {
    struct worker_device *device;
    char *shadow;     /* what the memory holds */
    uint64_t address; /* where it is said to lie: pages that nobody may touch */
    uint64_t used;
    struct draw looks; /* that jobs take */
    struct far_job {
        struct far_job *next;
        struct backend_job *job;
        enum { FAR_COPY, FAR_FILL, FAR_ASK, FAR_LOAD, FAR_LAUNCH, FAR_REGION, FAR_ARENA } what;
        unsigned looks;                 /* still to come before it is over */
        struct backend_copy copy, read; /* no bytes: a region has none */
        struct backend_fill fill;
        struct backend_ask *ask;
        const struct backend_load *load;
        const struct backend_launch *launch;
        uint64_t bytes;
        bool dropped; /* one before it has failed */
    } * jobs;
    int deepest; /* most jobs of one queue that were under way */
    bool threaded, stop;
    pthread_t thread;
    const char *fault;
    char kernel[64]; /* name of the last one that was looked up */
};

static struct far far[FAR_DEVICES];
static int far_count;
static _Atomic unsigned far_slow; /* so many more looks for what comes from the program */
static _Atomic bool far_naps;     /* FAR_NAP lasts */
static _Atomic int far_fail_copy; /* so many copies from now on one fails; 0: none does */

/* The last copies between a device and the program. */
enum { FAR_COPIES = 64 };
static struct far_copied {
    uint64_t address, bytes;
} far_copied[FAR_COPIES];
static _Atomic int far_copies;

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

    if (far_fail_copy > 0 && --far_fail_copy == 0)
        return error_set(OMPRMA_ERR_ADDRESS, "this copy was to fail");
    if (!to)
        return OMPRMA_ERR_ADDRESS;
    memmove(to, from, copy->bytes);
    far_copied[atomic_fetch_add(&far_copies, 1) % FAR_COPIES] =
        (struct far_copied){copy->from_device ? copy->from : copy->to, copy->bytes};
    return OMPRMA_OK;
}

static omprma_status_t far_load_now(struct far *self, const struct backend_load *load)
{
    static const char *const names[] = {"far_add", "far_geometry", "far_crash", "far_packed"};
    static const uint64_t addresses[] = {FAR_ADD, FAR_GEOMETRY, FAR_CRASH, FAR_PACKED};

    if (load->bytes < 64 || memcmp(load->image, "\177ELF", 4) != 0)
        return error_set(OMPRMA_ERR_IMAGE, "that is no image");
    for (uint32_t i = 0; i < load->count; i++) {
        load->addresses[i] = 0;
        for (int k = 0; k < 4; k++)
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
    uint64_t kernel = launch->kernel;
    uint64_t bytes = launch->with.packed ? launch->with.packed_bytes
                     : kernel == FAR_NAP ? 0
                                         : words[kernel == FAR_MOVE ? 2 : 1];
    unsigned char *at = (unsigned char *)far_at(self, words[0], bytes);

    if (kernel == FAR_NAP)
        return OMPRMA_OK;
    if (kernel == FAR_PACKED && at) {
        memcpy(at, words, bytes);
        if (launch->with.geometry.teams[0])
            at[bytes] = (unsigned char)launch->with.geometry.teams[0];
        return OMPRMA_OK;
    }
    if (!at)
        return error_set(OMPRMA_ERR_ADDRESS, "a kernel reads what is not there");
    if (launch->kernel == FAR_GEOMETRY)
        memcpy(at, &launch->with.geometry, sizeof(launch->with.geometry));
    if (kernel == FAR_SET)
        memset(at, (int)(unsigned char)words[2], words[1]);
    if (kernel == FAR_MOVE)
        memmove(at, far_at(self, words[1], words[2]), words[2]);
    if (kernel == FAR_SUM)
        *(uint64_t *)(void *)far_at(self, words[2], 8) = sum_of(at, words[1]);
    for (uint64_t i = 0; launch->kernel == FAR_ADD && i < words[1]; i++)
        at[i] += (unsigned char)words[2];
    return OMPRMA_OK;
}

static omprma_status_t far_fill_now(struct far *self, const struct backend_fill *fill)
{
    uint64_t bytes = fill->count * fill->pattern_bytes;
    char *at = far_at(self, fill->to, bytes);

    if (!at)
        return worker_device_refuse_range("fill", fill->to, bytes, fill->to);
    for (uint64_t i = 0; i < bytes; i++)
        at[i] = (char)(fill->pattern >> 8 * (i % fill->pattern_bytes));
    return OMPRMA_OK;
}

/* Answers with the question backwards; 13 is no question, and has a code. */
static omprma_status_t far_ask_now(struct backend_ask *ask)
{
    const char *question = ask->question;
    char *answer = ask->answer;

    if (ask->what == 13) {
        error_set(OMPRMA_ERR_ARGUMENT, "bad luck");
        return error_note_code(OMPRMA_ERR_ARGUMENT, 1313);
    }
    for (size_t i = 0; i < ask->bytes; i++)
        answer[i] = question[ask->bytes - 1 - i];
    ask->answered = ask->bytes;
    return OMPRMA_OK;
}

static omprma_status_t far_region_now(struct far *self, const struct far_job *one)
{
    omprma_status_t status = one->copy.bytes ? far_copy_now(&one->copy) : OMPRMA_OK;

    if (status == OMPRMA_OK)
        status = far_launch_now(self, one->launch);
    if (status == OMPRMA_OK && one->read.bytes)
        status = far_copy_now(&one->read);
    return status;
}

static omprma_status_t far_now(struct far *self, struct far_job *one)
{
    switch (one->what) {
    case FAR_FILL:
        return far_fill_now(self, &one->fill);
    case FAR_ASK:
        return far_ask_now(one->ask);
    case FAR_COPY:
        return far_copy_now(&one->copy);
    case FAR_LOAD:
        return far_load_now(self, one->load);
    case FAR_LAUNCH:
        return far_launch_now(self, one->launch);
    case FAR_REGION:
        return far_region_now(self, one);
    case FAR_ARENA:
        break;
    }
    one->job->value = self->address + self->used;
    self->used += one->bytes;
    return OMPRMA_OK;
}

/* ---- the functions of a backend ---- */

/* What a job comes behind has to be under way, and it is the only one that does. */
static void far_look_behind(struct far *self, const struct backend_job *job)
{
    int depth = 1;

    for (const struct far_job *one = self->jobs; one; one = one->next)
        if (job->behind && one->job != job && one->job->behind == job->behind)
            abort();
    for (const struct backend_job *at = job->behind; at; depth++) {
        const struct far_job *one = self->jobs;

        while (one && one->job != at)
            one = one->next;
        if (!one)
            abort();
        at = at->behind;
    }
    if (depth > self->deepest)
        self->deepest = depth;
}

static struct far_job *far_begin(struct worker_device *device, struct backend_job *job, int what)
{
    struct far_job *one = calloc(1, sizeof(*one));

    if (!one)
        abort();
    one->job = job;
    one->what = what;
    one->looks = 1 + (unsigned)draw_below(&far_of(device)->looks, FAR_LOOKS);
    one->next = far_of(device)->jobs;
    far_of(device)->jobs = one;
    job->handle = one;
    far_look_behind(far_of(device), job);
    return one;
}

/* The job that comes behind this one, or NULL. */
static struct far_job *far_behind(const struct far *self, const struct backend_job *job)
{
    struct far_job *one = self->jobs;

    while (one && one->job->behind != job)
        one = one->next;
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
                                  uint64_t bytes, uint64_t wish)
{
    struct far *self = far_of(device);

    if (wish) {
        job->status = error_set(OMPRMA_ERR_ADDRESS, "the far device chooses by itself");
        return BACKEND_OVER;
    }
    if (bytes > FAR_BYTES - self->used) {
        job->status = error_set(OMPRMA_ERR_DEVICE_MEMORY, "the far device is full");
        return BACKEND_OVER;
    }
    if (self->used == FAR_GLOBALS) { /* nobody polls or runs yet */
        job->value = self->address + self->used;
        self->used += bytes;
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
    struct far_job *one = far_begin(device, job, FAR_COPY);

    one->copy = *copy;
    one->looks += copy->from_device ? 0 : far_slow;
    return BACKEND_PENDING;
}

static enum backend_step far_fill(struct worker_device *device, struct backend_job *job,
                                  const struct backend_fill *fill)
{
    far_begin(device, job, FAR_FILL)->fill = *fill;
    return BACKEND_PENDING;
}

static enum backend_step far_ask(struct worker_device *device, struct backend_job *job,
                                 struct backend_ask *ask)
{
    far_begin(device, job, FAR_ASK)->ask = ask;
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

    if (launch->kernel == FAR_CRASH) {
        self->fault = "the far device is on fire";
        device->fault_code = FAR_FIRE;
    }
    far_begin(device, job, FAR_LAUNCH)->launch = launch;
    return BACKEND_PENDING;
}

static enum backend_step far_region(struct worker_device *device, struct backend_job *job,
                                    const struct backend_copy *write,
                                    const struct backend_launch *launch,
                                    const struct backend_copy *read)
{
    struct far_job *one;

    far_launch(device, job, launch);
    one = job->handle;
    one->what = FAR_REGION;
    if (write)
        one->copy = *write;
    if (read)
        one->read = *read;
    return BACKEND_PENDING;
}

static bool far_poll(struct worker_device *device, struct backend_job *job)
{
    struct far_job *one = job->handle, *behind;

    if (job->behind) /* not its turn */
        abort();
    if (far_of(device)->fault || --one->looks > 0)
        return false;
    if (far_naps && one->launch && one->launch->kernel == FAR_NAP) {
        one->looks = 1;
        return false;
    }
    job->status =
        one->dropped ? error_set(OMPRMA_ERR_ADDRESS, "not run") : far_now(far_of(device), one);
    behind = far_behind(far_of(device), job);
    if (behind) {
        behind->dropped = job->status != OMPRMA_OK;
        behind->job->behind = NULL;
    }
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
    .name = "far", .grow = far_grow, .release = far_release, .copy = far_copy, .fill = far_fill,   \
    .load = far_load, .launch = far_launch, .ask = far_ask, .fault = far_fault,                    \
    .start = far_start, .stop = far_stop, .close = far_close

static const struct backend polled_backend = {FAR_FUNCTIONS, .poll = far_poll};
static const struct backend threaded_backend = {FAR_FUNCTIONS};
static const struct backend ordered_backend = {FAR_FUNCTIONS, .poll = far_poll,
                                               .region = far_region, .keeps_order = true};

static void far_open(struct worker_device *device, enum far_kind kind)
{
    struct far *self = &far[far_count++];

    *self = (struct far){
        .device = device, .threaded = kind == FAR_IS_THREADED, .used = FAR_GLOBALS, .looks = {7}};
    self->shadow =
        mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    self->address = (uint64_t)(uintptr_t)mmap(NULL, FAR_BYTES, PROT_NONE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    device->backend = kind == FAR_IS_THREADED  ? &threaded_backend
                      : kind == FAR_IS_ORDERED ? &ordered_backend
                                               : &polled_backend;
    device->state = self;
}

#endif
