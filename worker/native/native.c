/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * native.c: the backend of native devices. Its memory is memory of this process, so copies and
 * fills are memcpy() and memset(), after a check that the address is in an arena or, for globals of
 * images, a guarded look at each page. All that is over at once; so is a launch on a thread that
 * runs kernels of the device. Elsewhere it is left to such a thread (lane.c), and ends there.
 */
#include "worker/native/native.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "worker/device.h"
#include "worker/native/image.h"
#include "worker/server.h"

static struct native *native_of(const struct worker_device *device)
{
    return device->state;
}

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static enum backend_step over(struct backend_job *job, omprma_status_t status)
{
    job->status = status;
    return BACKEND_OVER;
}

/* ---- memory ---- */

static void *native_touch(struct worker_device *device, uint64_t address, uint64_t bytes,
                          bool write, uint64_t *bad)
{
    if (memory_holds(&native_of(device)->memory, address, bytes) ||
        guarded_probe(address, bytes, write, bad))
        return pointer(address);
    return NULL;
}

static enum backend_step native_grow(struct worker_device *device, struct backend_job *job,
                                     uint64_t bytes, uint64_t wish)
{
    return over(job, memory_grow(&native_of(device)->memory, bytes, wish, &job->value));
}

static enum backend_step native_release(struct worker_device *device, struct backend_job *job,
                                        uint64_t address)
{
    return over(job, memory_release(&native_of(device)->memory, address));
}

static struct shm_address native_file(const struct worker_device *device, uint64_t address)
{
    return memory_file(&native_of(device)->memory, address);
}

static enum backend_step refuse_range(struct backend_job *job, const struct backend_copy *copy,
                                      uint64_t address, uint64_t bad)
{
    return over(job, worker_device_refuse_range(copy->what, address, copy->bytes, bad));
}

/* Between memory of this process and the device's. */
static enum backend_step copy_guarded(struct worker_device *device, struct backend_job *job,
                                      const struct backend_copy *copy)
{
    uint64_t theirs = copy->to_device ? copy->to : copy->from, bad = 0;

    if (memory_holds(&native_of(device)->memory, theirs, copy->bytes))
        memcpy(pointer(copy->to), pointer(copy->from), copy->bytes);
    else if (!guarded_copy(pointer(copy->to), pointer(copy->from), copy->bytes, &bad))
        return refuse_range(job, copy, theirs, bad);
    return over(job, OMPRMA_OK);
}

static enum backend_step native_copy(struct worker_device *device, struct backend_job *job,
                                     const struct backend_copy *copy)
{
    uint64_t bad = 0;

    if (!copy->to_device || !copy->from_device)
        return copy_guarded(device, job, copy);
    if (!native_touch(copy->from_device, copy->from, copy->bytes, false, &bad))
        return refuse_range(job, copy, copy->from, bad);
    if (!native_touch(copy->to_device, copy->to, copy->bytes, true, &bad))
        return refuse_range(job, copy, copy->to, bad);
    memmove(pointer(copy->to), pointer(copy->from), copy->bytes);
    return over(job, OMPRMA_OK);
}

static enum backend_step native_fill(struct worker_device *device, struct backend_job *job,
                                     const struct backend_fill *fill)
{
    uint64_t bytes = fill->count * fill->pattern_bytes, bad = 0;
    char *to = native_touch(device, fill->to, bytes, true, &bad);

    if (!to)
        return over(job, worker_device_refuse_range("fill", fill->to, bytes, bad));
    if (fill->pattern_bytes == 1)
        memset(to, (int)(fill->pattern & 0xff), bytes);
    for (uint64_t i = 0; fill->pattern_bytes > 1 && i < fill->count; i++)
        memcpy(to + i * fill->pattern_bytes, &fill->pattern, fill->pattern_bytes);
    return over(job, OMPRMA_OK);
}

/* ---- images and kernels ---- */

static enum backend_step native_load(struct worker_device *device, struct backend_job *job,
                                     const struct backend_load *load)
{
    struct image *image = NULL;
    omprma_status_t status =
        load->own ? error_set(OMPRMA_ERR_UNSUPPORTED, "native devices have no modules")
                  : image_open(load->image, load->bytes, native_of(device), &image);

    for (uint32_t i = 0; i < load->count && status == OMPRMA_OK; i++)
        status =
            image_symbol(image, load->symbols[i].name, load->symbols[i].bytes, &load->addresses[i]);
    return over(job, status);
}

static enum backend_step native_launch(struct worker_device *device, struct backend_job *job,
                                       const struct backend_launch *launch)
{
    struct native *native = native_of(device);

    if (launch->with.packed)
        return over(job, error_set(OMPRMA_ERR_UNSUPPORTED,
                                   "native devices take arguments of 64 bits each, no packed "
                                   "parameters"));
    if (!native->options.any_address && !image_is_kernel(native, launch->kernel))
        return over(job, error_set(OMPRMA_ERR_ADDRESS,
                                   "launch of 0x%llx, which is not a kernel of a loaded image",
                                   (unsigned long long)launch->kernel));
    if (lane_is_own(native))
        return over(job, lane_call(native, job, launch));
    job->handle = (void *)(uintptr_t)launch;
    lane_append(native, job);
    return BACKEND_PENDING;
}

static bool native_serve(struct worker_device *device)
{
    struct native *native = native_of(device);

    return native->first && lane_run_next(native);
}

static void native_adopt_thread(struct worker_device *device)
{
    (void)device;
    crash_thread();
}

/* The next kernel takes it over: this one's threads must stay as they are. */
static void native_turn(struct worker_device *device, int index, int count)
{
    struct native *native = native_of(device);
    struct place *next;

    if (!native->options.lends)
        return;
    if (place_now(native->options.place, index, count, &next) != OMPRMA_OK) {
        log_write(LOG_WARNING, "the device keeps the cores that it has: %s", error_text());
        return;
    }
    place_destroy(native->next);
    native->next = next;
    int threads = place_threads(next, 1);
    log_write(LOG_CHOICE,
              "from the next region on cores %s, with %d thread%s where OMP_NUM_THREADS says "
              "nothing: %d worker%s of this host %s run regions",
              place_describe(next)->cpus, threads, units_plural(threads), count,
              units_plural(count), count == 1 ? "has" : "have");
}

static const char *native_fault(struct worker_device *device)
{
    struct native *native = native_of(device);
    const char *text = fault_look(&native->fault, &native->crash);

    if (text)
        device->fault_address = native->crash.scene.address;
    return text;
}

/* ---- life ---- */

static omprma_status_t native_start(struct worker_device *device)
{
    return lane_start(native_of(device));
}

static void native_stop(struct worker_device *device)
{
    lane_stop(native_of(device));
}

/* After a crash a thread of the device is still somewhere in there. */
static void native_close(struct worker_device *device)
{
    struct native *native = native_of(device);

    memory_close(&native->memory);
    if (device->lost)
        return;
    sem_destroy(&native->ready);
    place_destroy(native->next);
    free(native);
    device->state = NULL;
}

static const struct backend native_backend = {
    .name = "native",
    .times_launches = true,
    .touch = native_touch,
    .grow = native_grow,
    .file = native_file,
    .release = native_release,
    .copy = native_copy,
    .fill = native_fill,
    .load = native_load,
    .launch = native_launch,
    .serve = native_serve,
    .turn = native_turn,
    .adopt_thread = native_adopt_thread,
    .fault = native_fault,
    .start = native_start,
    .stop = native_stop,
    .close = native_close,
};

omprma_status_t native_open(struct worker_device *device, const struct native_options *options)
{
    struct native *native = calloc(1, sizeof(*native));

    if (!native)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a device");
    native->device = device;
    native->options = *options;
    native->memory.path = options->path;
    native->memory.place = options->place;
    native->memory.huge_pages = options->huge_pages;
    native->memory.shared = options->shared;
    native->memory.limit_bytes = options->memory_bytes;
    native->memory.quota = options->quota;
    native->memory.quota_bytes = options->quota_bytes;
    native->crash.owner = native;
    sem_init(&native->ready, 0, 0);
    device->backend = &native_backend;
    device->state = native;
    return OMPRMA_OK;
}
