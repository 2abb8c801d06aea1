/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_fixture.h: a core with two GPUs of a stand-in for their driver and a native device on one
 * worker. Included by the fixture of a kind of GPU, after GPU_KIND (its struct gpu_kind),
 * GPU_SONAME (of the driver) and
 * - const void *gpu_image(size_t *bytes): an image with the stand-in's own kernels
 * - int count_left(void): things of the driver that nobody has given back
 * All inline, for not every test uses all of it.
 */
#ifndef OMPRMA_TESTS_GPU_FIXTURE_H
#define OMPRMA_TESTS_GPU_FIXTURE_H

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/copies_fixture.h"

/* The devices. */
enum { GPU, GPU_TOO, NATIVE, BIG = 9 << 20 };

static void *driver; /* the library, which the kind has open, too */
static int gpus_made;

static inline const void *gpu_image(size_t *bytes);
static inline int count_left(void);

static inline bool make_gpu(struct worker_device *device, int worker)
{
    if (device->index >= NATIVE)
        return false;
    assert_ok(GPU_KIND.make(device, gpus_made++, 0));
    GPU_KIND.describe(device, &core.worker[worker].about[device->index]);
    return true;
}

static inline void open_driver(void)
{
    int count;

    setenv("STANDIN_DEVICES", "2", 1);
    assert_ok(GPU_KIND.open(&count));
    assert_int_equal(count, 2);
    driver = dlopen(GPU_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(driver);
}

static inline void close_driver(void)
{
    GPU_KIND.close();
    dlclose(driver);
}

static inline void start_core(void)
{
    gpus_made = 0;
    core_start(&(struct core_options){.devices = 3, .arena = 8 << 20, .make_other = make_gpu});
}

static inline void *standin(const char *name)
{
    return dlsym(driver, name);
}

static inline struct standin_counts count_things(void)
{
    struct standin_counts now;

    ((void (*)(struct standin_counts *))standin("standin_counts"))(&now);
    return now;
}

/* Runs it in a process of its own: a lost GPU's threads may still be in the driver afterwards. What
 * waitpid() says of its end; it exits with what is returned. */
static inline int in_a_process(int (*run)(int number), int number, unsigned limit_s)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        alarm(limit_s);
        _exit(run(number));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Of one function of the driver. */
static inline void fail_call_of(const char *function, int number, int code)
{
    ((void (*)(const char *, int, int))standin("standin_fail"))(function, number, code);
}

static inline void fail_call(int number, int code)
{
    fail_call_of(NULL, number, code);
}

static inline void start_all(void)
{
    open_driver();
    start_core();
}

/* Nothing of the driver is left over. */
static inline void stop_all(void)
{
    core_stop();
    assert_int_equal(count_left(), 0);
    close_driver();
}

static inline omprma_addr_t look_up(int device, const char *name)
{
    omprma_symbol_t symbol = {.name = name};
    size_t bytes;
    const void *image = gpu_image(&bytes);

    assert_ok(omprma_image_load(device, image, bytes, &symbol, 1));
    return symbol.address;
}

/* Keeps a queue busy until core_open(), by its GPU's standin_gate. */
static inline void gpu_keep_busy(omprma_queue_t *queue, omprma_addr_t kernel, struct gate *gate)
{
    const uint64_t at = (uintptr_t)gate;

    atomic_store(&gate->open, false);
    assert_ok(omprma_launch(queue, kernel, NULL, &at, 1));
}

/* ---- each call fails once ---- */

/* Opens a GPU, grows and closes it. True if all went well. */
static inline bool gpu_open_and_close(void)
{
    struct server server = {.device_count = 0};
    struct worker_device device = {.server = &server};
    struct world_device about;
    bool well = GPU_KIND.make(&device, 1, 0) == OMPRMA_OK;

    if (!well)
        return false;
    well = worker_device_begin(&device, 1 << 20, &about) == OMPRMA_OK;
    device.backend->stop(&device);
    worker_device_end(&device);
    device.backend->close(&device);
    return well;
}

/* Has each of so many calls fail while all is tried, with the codes in turns. What cannot be given
 * back stays, and nothing else. Polling makes the number of calls uncertain. */
static inline void gpu_fail_at_each_call(int calls, const int *codes, int code_count,
                                         bool (*do_everything)(void))
{
    setenv("STANDIN_DELAY", "0", 1);
    for (int n = 1; n < calls; n++) {
        int before;

        open_driver();
        before = count_left(); /* what was left earlier may keep the library open */
        start_core();
        fail_call(n, codes[n % code_count]);
        do_everything();
        core_stop();
        if (count_left() > before + 1)
            fail_msg("call %d, %s: %d things are left", n, count_things().failed,
                     count_left() - before);
        fail_call(0, 0);
        close_driver();
    }
    unsetenv("STANDIN_DELAY");
}

#endif
