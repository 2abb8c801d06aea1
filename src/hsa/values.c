/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * values.c: answers that are made here. Where a program would take its own memory and a GPU's for
 * one, they say that they are not.
 */
#include "hsa/values.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <omprma/omprma.h>

#include "base/clock.h"
#include "hsa/gpu.h"
#include "hsa/handles.h"
#include "hsa/isa_name.h"
#include "hsa/result.h"
#include "hsa/write.h"

enum { NAME_BYTES = 64, UUID_BYTES = 21, QUEUE_MOST = 4096, EXTENSIONS_BYTES = 128 };

/* Fills all of the room. */
static hsa_status_t write_text(void *value, size_t room, const char *text)
{
    memset(value, 0, room);
    memcpy(value, text, strnlen(text, room - 1));
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t write_flags(void *value, const bool *flags, size_t count)
{
    memcpy(value, flags, count);
    return HSA_STATUS_SUCCESS;
}

/* ---- system --------------------------------------------------------------------------------- */

hsa_status_t value_timestamp(const struct about *about, void *value)
{
    (void)about;
    return write64(value, (uint64_t)clock_ns());
}

hsa_status_t value_extensions(const struct about *about, void *value)
{
    uint8_t *bits = value;

    (void)about;
    memset(bits, 0, EXTENSIONS_BYTES);
    bits[HSA_EXTENSION_AMD_LOADER / 8] = 1 << HSA_EXTENSION_AMD_LOADER % 8;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t value_build_version(const struct about *about, void *value)
{
    static const char text[] = "omprma " OMPRMA_VERSION_STRING;
    const char *version = text;

    (void)about;
    memcpy(value, &version, sizeof(version));
    return HSA_STATUS_SUCCESS;
}

/* ---- the host's agent ----------------------------------------------------------------------- */

hsa_status_t value_host_name(const struct about *about, void *value)
{
    struct utsname name;

    (void)about;
    return write_text(value, NAME_BYTES, uname(&name) == 0 ? name.machine : "CPU");
}

hsa_status_t value_host_vendor(const struct about *about, void *value)
{
    (void)about;
    return write_text(value, NAME_BYTES, "CPU");
}

hsa_status_t value_host_cores(const struct about *about, void *value)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    (void)about;
    return write32(value, cores > 0 ? (uint32_t)cores : 1);
}

hsa_status_t value_host_uuid(const struct about *about, void *value)
{
    (void)about;
    return write_text(value, UUID_BYTES, "CPU-XX");
}

hsa_status_t value_nearest_cpu(const struct about *about, void *value)
{
    (void)about;
    return write64(value, cpu_agent.handle);
}

/* ---- GPUs ----------------------------------------------------------------------------------- */

hsa_status_t value_gpu_name(const struct about *about, void *value)
{
    char processor[NAME_BYTES];

    isa_processor(about->gpu->isa, processor, sizeof(processor));
    return write_text(value, NAME_BYTES, processor);
}

hsa_status_t value_gpu_vendor(const struct about *about, void *value)
{
    (void)about;
    return write_text(value, NAME_BYTES, "AMD");
}

hsa_status_t value_queue_most(const struct about *about, void *value)
{
    uint64_t told = gpu_number(about->gpu, HSA_OF_AGENT, 0, HSA_AGENT_INFO_QUEUE_MAX_SIZE, 0);

    return write32(value, told > 0 && told < QUEUE_MOST ? (uint32_t)told : QUEUE_MOST);
}

hsa_status_t value_gpu_node(const struct about *about, void *value)
{
    return write32(value, (uint32_t)about->gpu->ordinal + 1);
}

hsa_status_t value_gpu_isa(const struct about *about, void *value)
{
    return write64(value, handle_make(HANDLE_OF_ISA, (unsigned)about->gpu->ordinal + 1, 0));
}

hsa_status_t value_gpu_uuid(const struct about *about, void *value)
{
    const struct hsa_fact *told = gpu_fact(about->gpu, HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_UUID);
    char text[UUID_BYTES] = "GPU-XX";

    if (told && told->bytes > 0)
        snprintf(text, sizeof(text), "%.*s", (int)told->bytes, (const char *)told->value);
    return write_text(value, UUID_BYTES, text);
}

hsa_status_t value_memory_free(const struct about *about, void *value)
{
    uint64_t bytes;
    hsa_status_t status = gpu_usable(about->gpu);

    if (status == HSA_STATUS_SUCCESS)
        status = result_of(about->gpu, gpu_free_bytes(about->gpu, &bytes));
    return status == HSA_STATUS_SUCCESS ? write64(value, bytes) : status;
}

/* ---- ISAs ----------------------------------------------------------------------------------- */

enum { ISA_NAME_BYTES = 128 };

static const char *isa_text(const struct about *about, char text[ISA_NAME_BYTES])
{
    const struct hsa_fact *told = gpu_fact(about->gpu, HSA_OF_ISA, about->index, HSA_ISA_INFO_NAME);

    return told && isa_name(told, text, ISA_NAME_BYTES) ? text : "";
}

hsa_status_t value_isa_name_length(const struct about *about, void *value)
{
    char text[ISA_NAME_BYTES];

    return write32(value, (uint32_t)strlen(isa_text(about, text)) + 1);
}

hsa_status_t value_isa_name_text(const struct about *about, void *value)
{
    char text[ISA_NAME_BYTES];
    const char *name = isa_text(about, text);

    return write_text(value, strlen(name) + 1, name);
}

hsa_status_t value_isa_wavefront(const struct about *about, void *value)
{
    return write32(value, (uint32_t)gpu_number(about->gpu, HSA_OF_AGENT, 0,
                                               HSA_AGENT_INFO_WAVEFRONT_SIZE, 64));
}

hsa_status_t value_isa_waves(const struct about *about, void *value)
{
    return write32(value, (uint32_t)gpu_number(about->gpu, HSA_OF_AGENT, 0,
                                               HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 0));
}

hsa_status_t value_isa_models(const struct about *about, void *value)
{
    static const bool models[2] = {[HSA_MACHINE_MODEL_LARGE] = true};

    (void)about;
    return write_flags(value, models, sizeof(models));
}

hsa_status_t value_isa_profiles(const struct about *about, void *value)
{
    static const bool profiles[2] = {[HSA_PROFILE_BASE] = true};

    (void)about;
    return write_flags(value, profiles, sizeof(profiles));
}

hsa_status_t value_isa_rounding(const struct about *about, void *value)
{
    static const bool modes[3] = {[HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR] = true};

    (void)about;
    return write_flags(value, modes, sizeof(modes));
}

/* ---- pools ---------------------------------------------------------------------------------- */

hsa_status_t value_pool_segment(const struct about *about, void *value)
{
    return write32(value, about->pool.segment);
}

hsa_status_t value_pool_flags(const struct about *about, void *value)
{
    return write32(value, about->pool.flags);
}

hsa_status_t value_pool_bytes(const struct about *about, void *value)
{
    return write64(value, about->pool.bytes);
}

hsa_status_t value_pool_allocates(const struct about *about, void *value)
{
    return write_flags(value, &about->pool.allocates, 1);
}

hsa_status_t value_pool_granule(const struct about *about, void *value)
{
    return write64(value, about->pool.allocates ? POOL_GRANULE : 0);
}

hsa_status_t value_pool_for_all(const struct about *about, void *value)
{
    bool host = !about->pool.gpu;

    return write_flags(value, &host, 1);
}

hsa_status_t value_pool_location(const struct about *about, void *value)
{
    return write32(value, about->pool.gpu ? 1 : 0);
}

/* ---- an agent and a pool -------------------------------------------------------------------- */

hsa_status_t value_link_access(const struct about *about, void *value)
{
    if (about->gpu == about->pool.gpu)
        return write32(value, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
    return write32(value, about->pool.gpu ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                                          : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
}

hsa_status_t value_link_hops(const struct about *about, void *value)
{
    return write32(value, about->gpu == about->pool.gpu ? 0 : 1);
}

hsa_status_t value_link_info(const struct about *about, void *value)
{
    static const hsa_amd_memory_pool_link_info_t link = {.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE,
                                                         .numa_distance = 20};

    if (about->gpu != about->pool.gpu)
        memcpy(value, &link, sizeof(link));
    return HSA_STATUS_SUCCESS;
}
