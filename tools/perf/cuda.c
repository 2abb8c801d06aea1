/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda.c: the kernels for NVIDIA GPUs, and what to compare those of workers with: the CUDA driver
 * of this host, called from here, in turns with omprma. See bench.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "tools/perf/bench.h"
#include "tools/perf/kernels.h"
#include "worker/cuda/driver.h"

/* ---- kernels -------------------------------------------------------------------------------- */

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry perf_empty()\n{\n\tret;\n}\n"
                          ".visible .entry perf_add(.param .u64 at)\n{\n"
                          "\t.reg .u64 %rd<4>;\n"
                          "\tld.param.u64 %rd1, [at];\n"
                          "\tcvta.to.global.u64 %rd2, %rd1;\n"
                          "\tld.global.u64 %rd3, [%rd2];\n"
                          "\tadd.s64 %rd3, %rd3, 1;\n"
                          "\tst.global.u64 [%rd2], %rd3;\n"
                          "\tret;\n}\n";

struct kernels cuda_kernels(const char *backend)
{
    return strcmp(backend, "cuda") == 0 ? (struct kernels){ptx, sizeof(ptx)} : (struct kernels){0};
}

/* ---- the driver ----------------------------------------------------------------------------- */

struct direct {
    struct driver driver;
    int gpu;
    driver_context context;
    driver_stream stream;
    driver_module module;
    driver_function empty, add;
    uint64_t block;
    bool pinned; /* the buffer is */
};

static omprma_status_t check(const struct direct *direct, int code, const char *what)
{
    return code == DRIVER_OK
               ? OMPRMA_OK
               : driver_error(&direct->driver, code, "the driver called directly: %s", what);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static omprma_status_t wait(const struct direct *direct, int code, const char *what)
{
    if (code == DRIVER_OK)
        code = direct->driver.stream_synchronize(direct->stream);
    return check(direct, code, what);
}

static omprma_status_t submit(struct bench *bench, uint64_t bytes)
{
    const struct direct *at = bench->direct;
    return wait(at, at->driver.copy_in(at->block, bench->buffer, bytes, at->stream), "submit");
}

static omprma_status_t retrieve(struct bench *bench, uint64_t bytes)
{
    const struct direct *at = bench->direct;
    return wait(at, at->driver.copy_out(bench->buffer, at->block, bytes, at->stream), "retrieve");
}

static int start(const struct direct *at, driver_function kernel, void **parameters)
{
    return at->driver.launch(kernel, 1, 1, 1, 1, 1, 1, 0, at->stream, parameters, NULL);
}

static omprma_status_t launch(struct bench *bench, uint64_t bytes)
{
    const struct direct *at = bench->direct;
    (void)bytes;
    return wait(at, start(at, at->empty, NULL), "launch");
}

static omprma_status_t region(struct bench *bench, uint64_t bytes)
{
    const struct direct *at = bench->direct;
    int64_t in = 41, out = 0;
    uint64_t address = at->block;
    void *parameters[] = {&address};
    int code = at->driver.copy_in(at->block, &in, sizeof(in), at->stream);
    omprma_status_t status;
    (void)bytes;
    if (code == DRIVER_OK)
        code = start(at, at->add, parameters);
    if (code == DRIVER_OK)
        code = at->driver.copy_out(&out, at->block, sizeof(out), at->stream);
    status = wait(at, code, "region");
    if (status == OMPRMA_OK && out != 42)
        status = error_set(OMPRMA_ERR_KERNEL,
                           "the driver called directly: a region returned %lld instead of 42",
                           (long long)out);
    return status;
}

/* ---- ways ----------------------------------------------------------------------------------- */

static omprma_status_t time_step(struct bench *bench, bench_step one, uint64_t bytes, int samples,
                                 int batch, double *us)
{
    omprma_status_t status = check(
        bench->direct, bench->direct->driver.context_set(bench->direct->context), "its context");
    if (status == OMPRMA_OK && bytes < 1 << 20)
        status = one(bench, bytes);
    return status == OMPRMA_OK ? bench_time_steps(bench, one, bytes, samples, batch, us) : status;
}

static omprma_status_t direct_submit(struct bench *bench, uint64_t bytes, int samples, int batch,
                                     double *us)
{
    return time_step(bench, submit, bytes, samples, batch, us);
}

static omprma_status_t direct_retrieve(struct bench *bench, uint64_t bytes, int samples, int batch,
                                       double *us)
{
    return time_step(bench, retrieve, bytes, samples, batch, us);
}

static omprma_status_t direct_launch(struct bench *bench, uint64_t bytes, int samples, int batch,
                                     double *us)
{
    return time_step(bench, launch, bytes, samples, batch, us);
}

static omprma_status_t direct_region(struct bench *bench, uint64_t bytes, int samples, int batch,
                                     double *us)
{
    return time_step(bench, region, bytes, samples, batch, us);
}

bench_way direct_way(const struct bench *bench, enum perf_op op)
{
    if (!bench->direct)
        return NULL;
    switch (op) {
    case OP_SUBMIT:
        return direct_submit;
    case OP_RETRIEVE:
        return direct_retrieve;
    case OP_LAUNCH:
        return direct_launch;
    case OP_REGION:
        return direct_region;
    default:
        return NULL;
    }
}

/* ---- start and end -------------------------------------------------------------------------- */

static int open_gpu(struct direct *at, uint64_t bytes)
{
    const struct driver *driver = &at->driver;
    int code = driver->device_get(&at->gpu, 0);
    if (code == DRIVER_OK)
        code = driver->context_retain(&at->context, at->gpu);
    if (code == DRIVER_OK)
        code = driver->context_set(at->context);
    if (code == DRIVER_OK)
        code = driver->memory_alloc(&at->block, bytes);
    if (code == DRIVER_OK)
        code = driver->stream_create(&at->stream, DRIVER_NON_BLOCKING);
    if (code == DRIVER_OK)
        code = driver->module_load(&at->module, ptx, 0, NULL, NULL);
    if (code == DRIVER_OK)
        code = driver->module_function(&at->empty, at->module, "perf_empty");
    if (code == DRIVER_OK)
        code = driver->module_function(&at->add, at->module, "perf_add");
    return code;
}

omprma_status_t direct_open(struct bench *bench, size_t buffer_bytes)
{
    struct direct *at;
    omprma_status_t status;
    if (strcmp(bench->choice->backend, "cuda") != 0 || !(bench->choice->paths & 1u << WAY_DIRECT))
        return OMPRMA_OK;
    at = calloc(1, sizeof(*at));
    if (!at)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the driver's measurement");
    if (driver_open(&at->driver) != OMPRMA_OK) {
        log_write(LOG_WARNING, "nothing is measured directly on this host: %s", error_text());
        free(at);
        return OMPRMA_OK;
    }
    bench->direct = at;
    status = check(at, open_gpu(at, bench->block_bytes), "GPU 0");
    if (status == OMPRMA_OK) /* as programs do that want the driver's best */
        at->pinned =
            at->driver.host_register(bench->buffer, buffer_bytes, DRIVER_PORTABLE) == DRIVER_OK;
    return status;
}

void direct_close(struct bench *bench)
{
    struct direct *at = bench->direct;
    if (!at)
        return;
    if (at->pinned)
        at->driver.host_unregister(bench->buffer);
    if (at->module)
        at->driver.module_unload(at->module);
    if (at->stream)
        at->driver.stream_destroy(at->stream);
    if (at->block)
        at->driver.memory_free(at->block);
    if (at->context)
        at->driver.context_release(at->gpu);
    driver_close(&at->driver);
    free(at);
    bench->direct = NULL;
}
