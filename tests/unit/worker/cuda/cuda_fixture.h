/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda_fixture.h: a core with two GPUs of the stand-in for the driver (tests/cuda) and a native
 * device on one worker. Included after cmocka.h; all inline, for not every test uses all of it.
 */
#ifndef OMPRMA_TESTS_CUDA_FIXTURE_H
#define OMPRMA_TESTS_CUDA_FIXTURE_H

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/copies_fixture.h"
#include "tests/cuda/standin.h"
#include "worker/cuda/cuda.h"

/* The devices. */
enum { GPU, GPU_TOO, NATIVE, BIG = 9 << 20 };

static void *driver; /* the library, which cuda_kind has open, too */
static int gpus_made;

static const char kernels[] =
    "//\n.version 7.0\n.target sm_70, debug\n.address_size 64\n"
    ".extern .global .align 4 .u32 elsewhere;\n"
    ".visible .global .align 8 .u64 counter = 42;\n"
    ".global .align 4 .f32 table[3] = {0f3F800000, 0f40000000, 0f40400000};\n"
    ".visible .global .align 1 .b8 room[100];\n"
    ".visible .entry standin_add(\n\t.param .u64 standin_add_param_0,\n\t.param .u64 "
    "standin_add_param_1,\n\t.param .u64 standin_add_param_2\n)\n{\n\tst.global.u8 [%rd1], 1;\n\t{ "
    "ret; }\n}\n"
    ".visible .entry standin_geometry(.param .u64 .ptr .global .align 1 at)\n.maxntid 1024, 1, 1\n"
    "{ ret; }\n"
    ".visible .entry standin_mixed(.param .u8 a, .param .u16 b, .param .align 8 .b8 s[24], "
    ".param .u32 c, .param .u64 at) { ret; }\n"
    ".visible .entry standin_fault(.param .u32 code) { ret; }\n"
    ".visible .entry standin_nap(.param .u64 us) { ret; }\n"
    ".visible .entry not_of_this_world() { ret; }\n";

static inline bool make_gpu(struct worker_device *device, int worker)
{
    if (device->index >= NATIVE)
        return false;
    assert_ok(cuda_kind.make(device, gpus_made++, 0));
    cuda_kind.describe(device, &core.worker[worker].about[device->index]);
    return true;
}

static inline void open_driver(void)
{
    int count;

    setenv("STANDIN_DEVICES", "2", 1);
    assert_ok(cuda_kind.open(&count));
    assert_int_equal(count, 2);
    driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(driver);
}

static inline void close_driver(void)
{
    cuda_kind.close();
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

static inline int count_left(void)
{
    struct standin_counts now = count_things();

    return now.blocks + now.modules + now.streams + now.events + now.contexts + now.registrations;
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

static inline void fail_call(int number, int code)
{
    ((void (*)(int, int))standin("standin_fail"))(number, code);
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

    assert_ok(omprma_image_load(device, kernels, sizeof(kernels), &symbol, 1));
    return symbol.address;
}

#endif
