/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hsa.c: AMD GPUs: what each one has and can, its table of calls, opening and closing. Where a GPU
 * is lost the runtime is left as it is when the worker ends, because its threads may be at work.
 */
#include "worker/hsa/hsa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/world.h"
#include "worker/device.h"

/* Of all GPUs. */
static struct {
    struct rocr rocr;
    int gpus; /* that are open, and those that are lost */
} opened;

/* ---- errors ---- */

/* Of a GPU that is lost, more is known than the code. */
static omprma_status_t error(const struct gpu *gpu, int code, const char *what)
{
    const struct hsa *hsa = hsa_of(gpu);

    if (!code || rocr_fault_code(hsa) != code)
        return rocr_error(hsa->rocr, code, "%s", what);
    error_set(OMPRMA_ERR_KERNEL, "%s: %s", what, hsa->fault.words);
    return error_note_code(OMPRMA_ERR_KERNEL, code);
}

static uint64_t fault_address(const struct gpu *gpu)
{
    const struct hsa *hsa = hsa_of(gpu);

    return rocr_fault_code(hsa) ? hsa->fault.address : 0;
}

/* ---- what a GPU has ---- */

/* Its memory is the first coarse-grained pool that can be allocated from. */
static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct hsa *hsa = data;
    const struct rocr *rocr = hsa->rocr;
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_READONLY;
    uint32_t flags = 0;
    size_t bytes = 0;
    bool allowed = false;

    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes);
    if (segment == HSA_AMD_SEGMENT_GROUP)
        hsa->group_most = (uint32_t)bytes;
    if (segment != HSA_AMD_SEGMENT_GLOBAL || hsa->pool.handle)
        return HSA_STATUS_SUCCESS;
    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (allowed && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) {
        hsa->pool = pool;
        hsa->pool_bytes = bytes;
    }
    return HSA_STATUS_SUCCESS;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": what is behind the triple, of the first one. */
static hsa_status_t look_at_isa(hsa_isa_t isa, void *data)
{
    struct hsa *hsa = data;
    char name[256] = "";
    uint32_t length = 0;
    const char *at;

    if (hsa->rocr->isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length) != HSA_STATUS_SUCCESS ||
        length >= sizeof(name) ||
        hsa->rocr->isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name) != HSA_STATUS_SUCCESS)
        return HSA_STATUS_SUCCESS;
    at = strstr(name, "--");
    snprintf(hsa->isa, sizeof(hsa->isa), "%.63s", at ? at + 2 : name);
    return HSA_STATUS_INFO_BREAK;
}

static int ask(const struct hsa *hsa, hsa_agent_info_t attribute, void *value)
{
    return hsa->rocr->agent_get_info(hsa->agent, attribute, value);
}

/* What it is called is no reason to do without it. */
static void look_at_names(struct hsa *hsa)
{
    char name[65] = "";
    uint32_t domain = 0, place = 0;

    if (ask(hsa, HSA_AMD_AGENT_INFO_PRODUCT_NAME, name) || !*name)
        ask(hsa, HSA_AGENT_INFO_NAME, name);
    snprintf(hsa->gpu.name, sizeof(hsa->gpu.name), "%s", *name ? name : "AMD GPU");
    hsa->rocr->agent_iterate_isas(hsa->agent, look_at_isa, hsa);
    ask(hsa, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &hsa->units);
    if (ask(hsa, HSA_AMD_AGENT_INFO_BDFID, &place))
        return;
    ask(hsa, HSA_AMD_AGENT_INFO_DOMAIN, &domain);
    snprintf(hsa->bus, sizeof(hsa->bus), "%04x:%02x:%02x.%x", domain & 0xffff, place >> 8 & 0xff,
             place >> 3 & 0x1f, place & 7);
}

/* Returns the runtime's code, and what it was about. */
static int look_at_limits(struct hsa *hsa, const char **what)
{
    enum { PACKETS = 4096 };
    uint32_t packets = PACKETS;
    int code = ask(hsa, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &packets);

    *what = "does not say what it can";
    hsa->queue_packets = packets < PACKETS ? packets : PACKETS;
    if (!code)
        code = ask(hsa, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, &hsa->threads_most);
    return code;
}

static int look_at_memory(struct hsa *hsa, const char **what)
{
    uint64_t available = 0;
    int code = hsa->rocr->amd_agent_iterate_memory_pools(hsa->agent, look_at_pool, hsa);

    *what = "does not say what memory it has";
    if (code)
        return code;
    *what = "has no memory that can be allocated";
    if (!hsa->pool.handle)
        return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (ask(hsa, HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &available) || available == 0)
        available = hsa->pool_bytes;
    if (hsa->gpu.memory_bytes == 0)
        hsa->gpu.memory_bytes = available / 10 * 9;
    return HSA_STATUS_SUCCESS;
}

/* ---- life ---- */

static int make_current(const struct gpu *gpu)
{
    return rocr_fault_code(hsa_of(gpu)); /* all calls name their agent */
}

static void close_gpu(struct gpu *gpu)
{
    struct hsa *hsa = hsa_of(gpu);

    rocr_modules_unload(hsa);
    rocr_lanes_free(hsa);
    rocr_steps_free(hsa);
    rocr_faults_remove(hsa);
    free(hsa->ranges);
    free(hsa->facts);
    pthread_mutex_destroy(&hsa->lock);
    free(hsa);
    if (--opened.gpus == 0)
        rocr_blocks_end(&opened.rocr);
}

static const struct gpu_driver calls = {
    .backend = GPU_BACKEND("hsa"),
    .not_ready = ROCR_NOT_READY,
    .invalid = HSA_STATUS_ERROR_INVALID_ARGUMENT,
    .no_memory = HSA_STATUS_ERROR_OUT_OF_RESOURCES,
    .is_fatal = rocr_is_fatal,
    .fault_address = fault_address,
    .error = error,
    .make_current = make_current,
    .reach = rocr_reach,
    .memory_alloc = rocr_memory_alloc,
    .memory_free = rocr_memory_free,
    .host_lock = rocr_host_lock,
    .host_unlock = rocr_host_unlock,
    .stream_create = rocr_stream_create,
    .stream_destroy = rocr_stream_destroy,
    .stream_query = rocr_stream_query,
    .stream_wait = rocr_stream_wait,
    .stream_let_go = rocr_stream_let_go,
    .event_destroy = rocr_event_destroy,
    .event_record = rocr_event_record,
    .event_query = rocr_event_query,
    .event_wait = rocr_event_wait,
    .copy = rocr_copy,
    .fill = rocr_fill,
    .launch = rocr_launch,
    .load = rocr_load,
    .ask = rocr_answer,
    .close = close_gpu,
};

static omprma_status_t make_gpu(struct worker_device *device, int ordinal, uint64_t memory_bytes)
{
    struct hsa *hsa = calloc(1, sizeof(*hsa));
    const char *what;
    omprma_status_t status;
    int code;

    if (!hsa)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a device");
    hsa->rocr = &opened.rocr;
    hsa->agent = opened.rocr.gpus[ordinal];
    hsa->gpu.memory_bytes = memory_bytes;
    pthread_mutex_init(&hsa->lock, NULL);
    gpu_open(&hsa->gpu, device, &calls);
    rocr_faults_add(hsa);
    opened.gpus++;
    look_at_names(hsa);
    code = look_at_limits(hsa, &what);
    if (!code)
        code = look_at_memory(hsa, &what);
    status = code ? rocr_error(hsa->rocr, code, "GPU %d (%s) %s", ordinal, hsa->gpu.name, what)
                  : gpu_helper_start(&hsa->gpu);
    if (status != OMPRMA_OK)
        gpu_close(device);
    return status;
}

/* ---- description ---- */

static void describe(const struct worker_device *device, struct world_device *description)
{
    const struct hsa *hsa = device->state;

    snprintf(description->model, sizeof(description->model), "%s", hsa->gpu.name);
    description->cores = (int32_t)hsa->units;
    description->numa_node = gpu_bus_node(hsa->bus);
    description->memory_limit = hsa->gpu.memory_bytes;
}

/* ---- the kind ---- */

static omprma_status_t open_runtime(int *count)
{
    omprma_status_t status = rocr_open(&opened.rocr);
    int code;

    *count = opened.rocr.count;
    if (status != OMPRMA_OK)
        return status;
    code = rocr_faults_begin(&opened.rocr);
    if (!code)
        return OMPRMA_OK;
    rocr_error(&opened.rocr, code, "no GPU can be used: the HSA runtime does not tell of faults");
    *count = 0;
    rocr_close(&opened.rocr);
    return error_note_code(OMPRMA_ERR_UNSUPPORTED, code);
}

static void close_runtime(void)
{
    if (opened.gpus == 0)
        rocr_close(&opened.rocr);
}

const struct gpu_kind hsa_kind = {
    .open = open_runtime, .make = make_gpu, .describe = describe, .close = close_runtime};
