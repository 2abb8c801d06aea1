/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent.c: start and end, the processor and the GPUs, and all that can be asked of them. Attributes
 * are those of ROCr 5.2.3, and some newer ones. See standin.h.
 */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

/* Attributes that newer headers have. */
enum {
    AGENT_ADDRESS_WATCH = 0xa005,
    AGENT_TIMESTAMP_FREQUENCY = 0xa016,
    AGENT_COPY_ENGINES = 0xa10a,
    SYSTEM_DMABUF = 0x204,
    POOL_LOCATION = 0x11
};

enum { POOLS_OF_HOST = 3, POOLS_OF_GPU = 3, QUEUE_MOST = 131072 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int started;
static struct agent processor = {.device = -1, .kernels = PTHREAD_MUTEX_INITIALIZER};
static struct agent gpus[DEVICES_MOST] = {
    [0 ... DEVICES_MOST - 1] = {.kernels = PTHREAD_MUTEX_INITIALIZER}};
static struct pool pools[POOLS_OF_HOST + DEVICES_MOST * POOLS_OF_GPU];

/* ---- start and end ---- */

/* Up to one of these signs. */
static void copy_until(char *to, size_t room, const char *from, const char *signs)
{
    size_t length = strcspn(from, signs);

    if (length >= room)
        length = room - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

static void set_isa(struct agent *gpu)
{
    const char *isas = settings.isas;
    char isa[64];

    for (int i = 0; i < gpu->device && strchr(isas, ','); i++)
        isas = strchr(isas, ',') + 1;
    copy_until(isa, sizeof(isa), isas, ",");
    copy_until(gpu->name, sizeof(gpu->name), isa, ":");
    snprintf(gpu->isa, sizeof(gpu->isa), "amdgcn-amd-amdhsa--%s", isa);
}

static void set_agents(void)
{
    struct pool *pool = pools;

    snprintf(processor.name, sizeof(processor.name), "Stand-in for a processor");
    *pool++ = (struct pool){&processor, HSA_AMD_SEGMENT_GLOBAL,
                            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED};
    *pool++ = (struct pool){&processor, HSA_AMD_SEGMENT_GLOBAL,
                            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
                                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT};
    *pool++ = (struct pool){&processor, HSA_AMD_SEGMENT_GLOBAL,
                            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
    for (int i = 0; i < settings.devices; i++) {
        gpus[i].device = i;
        gpus[i].lost = false;
        set_isa(&gpus[i]);
        *pool++ = (struct pool){&gpus[i], HSA_AMD_SEGMENT_GLOBAL,
                                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
        *pool++ = (struct pool){&gpus[i], HSA_AMD_SEGMENT_GLOBAL,
                                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED};
        *pool++ = (struct pool){&gpus[i], HSA_AMD_SEGMENT_GROUP, 0};
    }
}

hsa_status_t hsa_init(void)
{
    hsa_status_t status;

    pthread_mutex_lock(&lock);
    if (started == 0)
        settings_read();
    status = (hsa_status_t)call_begin(__func__);
    if (status == HSA_STATUS_SUCCESS && settings.devices <= 0)
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (status == HSA_STATUS_SUCCESS && started == 0) {
        set_agents();
        signals_begin();
        copies_begin();
    }
    if (status == HSA_STATUS_SUCCESS) {
        started++;
        counts_add(&counts.starts, 1);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* What is not given back then is gone; the counts still say so. */
hsa_status_t hsa_shut_down(void)
{
    ENTER;
    pthread_mutex_lock(&lock);
    if (started == 1) {
        queues_end();
        copies_end();
        signals_end();
        handlers_forget();
        memory_forget_all();
    }
    started--;
    counts_add(&counts.starts, -1);
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

bool is_started(void)
{
    return started > 0;
}

/* ---- handles ---- */

struct agent *agent_of_device(int device)
{
    return device < 0 ? &processor : &gpus[device];
}

hsa_agent_t agent_handle(const struct agent *agent)
{
    return (hsa_agent_t){(uint64_t)(uintptr_t)agent};
}

struct agent *agent_of(hsa_agent_t handle)
{
    for (int i = -1; i < settings.devices; i++)
        if (handle.handle == agent_handle(agent_of_device(i)).handle)
            return agent_of_device(i);
    return NULL;
}

static int pool_count(void)
{
    return POOLS_OF_HOST + settings.devices * POOLS_OF_GPU;
}

struct pool *pool_of(uint64_t handle)
{
    for (int i = 0; i < pool_count(); i++)
        if (handle == (uint64_t)(uintptr_t)&pools[i])
            return &pools[i];
    return NULL;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;

    ENTER;
    for (int i = -1; i < settings.devices && status == HSA_STATUS_SUCCESS; i++)
        status = callback(agent_handle(agent_of_device(i)), data);
    return status;
}

/* ---- values ---- */

static hsa_status_t give(void *value, const void *from, size_t bytes)
{
    memcpy(value, from, bytes);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t give_8(void *value, unsigned number)
{
    uint8_t byte = (uint8_t)number;

    return give(value, &byte, sizeof(byte));
}

static hsa_status_t give_16(void *value, unsigned number)
{
    uint16_t word = (uint16_t)number;

    return give(value, &word, sizeof(word));
}

static hsa_status_t give_32(void *value, uint32_t number)
{
    return give(value, &number, sizeof(number));
}

static hsa_status_t give_64(void *value, uint64_t number)
{
    return give(value, &number, sizeof(number));
}

static hsa_status_t give_text(void *value, const char *text, size_t bytes)
{
    memset(value, 0, bytes);
    memcpy(value, text, strnlen(text, bytes - 1));
    return HSA_STATUS_SUCCESS;
}

/* ---- the system ---- */

static hsa_status_t give_extensions(void *value)
{
    memset(value, 0, 128);
    ((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] |= 1 << HSA_EXTENSION_AMD_LOADER % 8;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    ENTER;
    if (is_refused("system", attribute) || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch ((unsigned)attribute) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
    case HSA_SYSTEM_INFO_VERSION_MINOR:
        return give_16(value, 1);
    case HSA_SYSTEM_INFO_TIMESTAMP:
        return give_64(value, now_ns());
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
        return give_64(value, 1000000000);
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
        return give_64(value, UINT64_MAX);
    case HSA_SYSTEM_INFO_ENDIANNESS:
        return give_32(value, HSA_ENDIANNESS_LITTLE);
    case HSA_SYSTEM_INFO_MACHINE_MODEL:
        return give_32(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_SYSTEM_INFO_EXTENSIONS:
        return give_extensions(value);
    case HSA_AMD_SYSTEM_INFO_BUILD_VERSION: {
        static const char *const version = "stand-in";
        return give(value, &version, sizeof(version));
    }
    case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
    case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
    case SYSTEM_DMABUF:
        return give_8(value, 0);
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor,
                                            bool *result)
{
    ENTER;
    *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1 && minor <= 1;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major,
                                                  uint16_t *minor, bool *result)
{
    ENTER;
    *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
    *minor = 1;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                           uint16_t minor, bool *result)
{
    ENTER;
    (void)extension, (void)agent, (void)major, (void)minor;
    *result = false;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name)
{
    ENTER;
    if (extension != HSA_EXTENSION_AMD_LOADER)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *name = "HSA_EXTENSION_AMD_LOADER";
    return HSA_STATUS_SUCCESS;
}

/* The loader's first function, which is what debuggers and HIP use. */
static hsa_status_t query_host_address(const void *device_address, const void **host_address)
{
    ENTER;
    *host_address = memory_reach(device_address, 1, NULL, false);
    return *host_address ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t no_segments(hsa_ven_amd_loader_segment_descriptor_t *segments, size_t *count)
{
    ENTER;
    (void)segments;
    *count = 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t no_executable(const void *device_address, hsa_executable_t *executable)
{
    ENTER;
    (void)device_address, (void)executable;
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                                  void *table)
{
    const hsa_ven_amd_loader_1_00_pfn_t loader = {query_host_address, no_segments, no_executable};

    ENTER;
    if (extension != HSA_EXTENSION_AMD_LOADER || major != 1 || is_refused("table", extension))
        return HSA_STATUS_ERROR;
    memset(table, 0, bytes);
    return give(table, &loader, bytes < sizeof(loader) ? bytes : sizeof(loader));
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor,
                                            void *table)
{
    (void)minor;
    return hsa_system_get_major_extension_table(extension, major,
                                                sizeof(hsa_ven_amd_loader_1_00_pfn_t), table);
}

/* ---- agents ---- */

static hsa_status_t standard_attribute(const struct agent *agent, unsigned attribute, void *value)
{
    const uint16_t group[3] = {1024, 1024, 1024};
    const hsa_dim3_t grid = {0x7fffffff, 0x7fffffff, 0x7fffffff};
    const uint32_t caches[4] = {16384, 8 << 20};
    bool gpu = agent->device >= 0;

    switch (attribute) {
    case HSA_AGENT_INFO_NAME:
        return give_text(value, agent->name, 64);
    case HSA_AGENT_INFO_VENDOR_NAME:
        return give_text(value, gpu ? "AMD" : "CPU", 64);
    case HSA_AGENT_INFO_FEATURE:
        return give_32(value, gpu ? HSA_AGENT_FEATURE_KERNEL_DISPATCH : 0);
    case HSA_AGENT_INFO_MACHINE_MODEL:
        return give_32(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_PROFILE:
        return give_32(value, gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
        return give_32(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
        return give_32(value, !gpu ? 0 : strncmp(agent->name, "gfx1", 4) == 0 ? 32 : 64);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
        return give(value, group, sizeof(group));
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
        return give_32(value, gpu ? 1024 : 0);
    case HSA_AGENT_INFO_GRID_MAX_DIM:
        return give(value, &grid, sizeof(grid));
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
        return give_32(value, gpu ? UINT32_MAX : 0);
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
        return give_32(value, 32);
    case HSA_AGENT_INFO_QUEUES_MAX:
        return give_32(value, gpu ? 128 : 0);
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
        return give_32(value, gpu ? 64 : 0);
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
        return give_32(value, gpu ? QUEUE_MOST : 0);
    case HSA_AGENT_INFO_QUEUE_TYPE:
        return give_32(value, HSA_QUEUE_TYPE_MULTI);
    case HSA_AGENT_INFO_NODE:
        return give_32(value, (uint32_t)(agent->device + 1));
    case HSA_AGENT_INFO_DEVICE:
        return give_32(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
    case HSA_AGENT_INFO_CACHE_SIZE:
        return give(value, caches, sizeof(caches));
    case HSA_AGENT_INFO_ISA:
        return give_64(value, gpu ? agent_handle(agent).handle : 0);
    case HSA_AGENT_INFO_EXTENSIONS:
        return give_extensions(value);
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR:
        return give_16(value, 1);
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
        return give_8(value, gpu);
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t amd_attribute(const struct agent *agent, unsigned attribute, void *value)
{
    static uint32_t flushed[2];
    const hsa_amd_hdp_flush_t flush = {&flushed[0], &flushed[1]};
    bool gpu = agent->device >= 0;
    char text[64];

    switch (attribute) {
    case HSA_AMD_AGENT_INFO_CHIP_ID:
        return give_32(value, gpu ? 0x7408 : 0);
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
        return give_32(value, 64);
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
        return give_32(value, gpu ? 104 : 2);
    case AGENT_COPY_ENGINES:
        return give_32(value, gpu ? 2 : 0);
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
        return give_32(value, 1700);
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
        return give_32(value, (uint32_t)(agent->device + 1));
    case HSA_AMD_AGENT_INFO_BDFID:
        return give_32(value, gpu ? 0xa000u + ((uint32_t)agent->device << 8) : 0);
    case HSA_AMD_AGENT_INFO_DOMAIN:
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
        return give_32(value, 0);
    case AGENT_ADDRESS_WATCH:
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
        return give_32(value, gpu ? 4 : 0);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
        return give_32(value, gpu ? 8 : 0);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
        return give_32(value, gpu);
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
        return give_32(value, 4096);
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
        return give_32(value, 1600);
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
        return give_32(value, gpu ? 32 : 0);
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
        snprintf(text, sizeof(text), gpu ? "Stand-in %d" : "Stand-in", agent->device);
        return give_text(value, text, 64);
    case HSA_AMD_AGENT_INFO_UUID:
        snprintf(text, sizeof(text), gpu ? "GPU-5a5a5a5a5a5a5a%02x" : "CPU-XX", agent->device);
        return give_text(value, text, 21);
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
        return give(value, &flush, sizeof(flush));
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
        return give_8(value, 0);
    case AGENT_TIMESTAMP_FREQUENCY:
        return give_64(value, 1000000000);
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void *value)
{
    const struct agent *agent = agent_of(handle);

    ENTER;
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (is_refused("agent", attribute) || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return (unsigned)attribute < 0xa000 ? standard_attribute(agent, attribute, value)
                                        : amd_attribute(agent, attribute, value);
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent,
                                      hsa_status_t (*callback)(hsa_cache_t cache, void *data),
                                      void *data)
{
    ENTER;
    (void)callback, (void)data;
    return agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* ---- ISAs: an ISA's handle is its GPU's ---- */

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t handle,
                                    hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data)
{
    const struct agent *agent = agent_of(handle);

    ENTER;
    if (!agent || agent->device < 0)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    return callback((hsa_isa_t){handle.handle}, data);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
    const struct agent *agent = agent_of((hsa_agent_t){isa.handle});
    const uint16_t group[3] = {1024, 1024, 1024};

    ENTER;
    if (!agent || agent->device < 0)
        return HSA_STATUS_ERROR_INVALID_ISA;
    if (is_refused("isa", attribute) || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch ((unsigned)attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:
        return give_32(value, (uint32_t)strlen(agent->isa) + 1);
    case HSA_ISA_INFO_NAME:
        return give(value, agent->isa, strlen(agent->isa) + 1);
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
        return give(value, group, sizeof(group));
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
        return give_32(value, 1024);
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value)
{
    (void)index;
    return hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
    ENTER;
    for (int i = 0; i < settings.devices; i++) {
        if (strcmp(gpus[i].isa, name) != 0)
            continue;
        isa->handle = agent_handle(&gpus[i]).handle;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code, hsa_isa_t agent, bool *result)
{
    ENTER;
    *result = code.handle == agent.handle;
    return HSA_STATUS_SUCCESS;
}

/* ---- pools and regions: a region's handle is its pool's ---- */

static hsa_status_t pool_attribute(const struct pool *pool, unsigned attribute, void *value)
{
    bool global = pool->segment == HSA_AMD_SEGMENT_GLOBAL;
    size_t bytes = global ? settings.memory_bytes : 65536;

    switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
        return give_32(value, pool->segment);
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
        return give_32(value, pool->flags);
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    case HSA_REGION_INFO_ALLOC_MAX_SIZE:
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
        return give_64(value, bytes);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
        return give_8(value, global);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
        return give_64(value, global ? 4096 : 0);
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
        return give_8(value, pool->agent->device < 0);
    case POOL_LOCATION:
        return give_32(value, pool->agent->device >= 0);
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle,
                                          hsa_amd_memory_pool_info_t attribute, void *value)
{
    const struct pool *pool = pool_of(handle.handle);

    ENTER;
    if (!pool)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (is_refused("pool", attribute) || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return pool_attribute(pool, attribute, value);
}

hsa_status_t hsa_region_get_info(hsa_region_t handle, hsa_region_info_t attribute, void *value)
{
    const struct pool *pool = pool_of(handle.handle);

    ENTER;
    if (!pool)
        return HSA_STATUS_ERROR_INVALID_REGION;
    if (is_refused("region", attribute) || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return pool_attribute(pool, attribute, value);
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t handle,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t pool,
                                                                         void *data),
                                                void *data)
{
    const struct agent *agent = agent_of(handle);
    hsa_status_t status = HSA_STATUS_SUCCESS;

    ENTER;
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    for (int i = 0; i < pool_count() && status == HSA_STATUS_SUCCESS; i++)
        if (pools[i].agent == agent)
            status = callback((hsa_amd_memory_pool_t){(uint64_t)(uintptr_t)&pools[i]}, data);
    return status;
}

/* Those of the host are a GPU's, too, but not the coarse one. */
hsa_status_t hsa_agent_iterate_regions(hsa_agent_t handle,
                                       hsa_status_t (*callback)(hsa_region_t region, void *data),
                                       void *data)
{
    const struct agent *agent = agent_of(handle);
    hsa_status_t status = HSA_STATUS_SUCCESS;

    ENTER;
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    for (int i = 0; i < pool_count() && status == HSA_STATUS_SUCCESS; i++)
        if (pools[i].agent == agent ||
            (pools[i].agent == &processor &&
             !(pools[i].flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)))
            status = callback((hsa_region_t){(uint64_t)(uintptr_t)&pools[i]}, data);
    return status;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent_handle_,
                                                hsa_amd_memory_pool_t pool_handle,
                                                hsa_amd_agent_memory_pool_info_t attribute,
                                                void *value)
{
    const hsa_amd_memory_pool_link_info_t link = {.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE};
    const struct agent *agent = agent_of(agent_handle_);
    const struct pool *pool = pool_of(pool_handle.handle);
    bool own;

    ENTER;
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!pool)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    own = pool->agent == agent;
    switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
        return give_32(value, own ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                              : agent->device < 0 || pool->segment != HSA_AMD_SEGMENT_GLOBAL
                                  ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                                  : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
        return give_32(value, !own);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
        return own ? HSA_STATUS_SUCCESS : give(value, &link, sizeof(link));
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- errors in words ---- */

hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    static const struct {
        unsigned status;
        const char *words;
    } known[] = {
        {HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS: no error"},
        {HSA_STATUS_INFO_BREAK, "HSA_STATUS_INFO_BREAK: a callback stopped"},
        {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: an error"},
        {HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT: an argument"},
        {HSA_STATUS_ERROR_INVALID_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION: a size"},
        {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: an agent"},
        {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: no resources"},
        {HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED: not started"},
        {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
         "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: a packet"},
        {HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION: an exception in a kernel"},
        {HSA_STATUS_ERROR_INVALID_ISA, "HSA_STATUS_ERROR_INVALID_ISA: an ISA"},
        {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT: an image"},
        {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: a name"},
        {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: in a kernel"},
        {HSA_STATUS_ERROR_MEMORY_FAULT, "HSA_STATUS_ERROR_MEMORY_FAULT: a kernel's access"},
    };
    hsa_status_t code = (hsa_status_t)call_begin(__func__);

    if (code != HSA_STATUS_SUCCESS)
        return code;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].status != (unsigned)status)
            continue;
        *text = known[i].words;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
