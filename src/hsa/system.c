/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * system.c: what is asked of the runtime as a whole, and extensions. Of these there is the loader,
 * in its first version: HIP asks for that right after the start. Its functions are about code in
 * the host's memory, of which there is none here.
 */
#include <string.h>

#include "hsa/about.h"
#include "hsa/answers.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    struct call call;
    struct about about = {0};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = answer(ANSWER_OF_SYSTEM, &about, attribute, value);
    return api_end(&call, status);
}

/* ---- the loader ----------------------------------------------------------------------------- */

/* The host has no copy of what lies on a GPU that would change with it. */
static hsa_status_t loader_query_host_address(const void *device, const void **host)
{
    (void)device, (void)host;
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* No segment has an address that the host could read. */
static hsa_status_t loader_query_segments(hsa_ven_amd_loader_segment_descriptor_t *descriptors,
                                          size_t *count)
{
    if (!count || (descriptors && *count != 0))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t loader_query_executable(const void *device, hsa_executable_t *executable)
{
    (void)device, (void)executable;
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

enum { LOADER_MAJOR = 1, LOADER_MINOR = 0 };
enum {
    LOADER_BYTES = offsetof(hsa_ven_amd_loader_1_03_pfn_t,
                            hsa_ven_amd_loader_executable_iterate_loaded_code_objects)
};

static const hsa_ven_amd_loader_1_03_pfn_t loader = {
    .hsa_ven_amd_loader_query_host_address = loader_query_host_address,
    .hsa_ven_amd_loader_query_segment_descriptors = loader_query_segments,
    .hsa_ven_amd_loader_query_executable = loader_query_executable};

/* ---- extensions ----------------------------------------------------------------------------- */

static const struct extension {
    uint16_t extension;
    const char *name;
} extensions[] = {
    {HSA_EXTENSION_FINALIZER, "HSA_EXTENSION_FINALIZER"},
    {HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES"},
    {HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS"},
    {HSA_EXTENSION_PROFILING_EVENTS, "HSA_EXTENSION_PROFILING_EVENTS"},
    {HSA_EXTENSION_AMD_PROFILER, "HSA_EXTENSION_AMD_PROFILER"},
    {HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER"},
    {HSA_EXTENSION_AMD_AQLPROFILE, "HSA_EXTENSION_AMD_AQLPROFILE"},
    {HSA_EXTENSION_AMD_PC_SAMPLING, "HSA_EXTENSION_AMD_PC_SAMPLING"},
};

static const struct extension *extension_find(uint16_t extension)
{
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        if (extensions[i].extension == extension)
            return &extensions[i];
    }
    return NULL;
}

/* Errors: INVALID_ARGUMENT (there is no such extension, NULL). */
static hsa_status_t extension_known(uint16_t extension, const void *answer)
{
    return answer && extension_find(extension) ? HSA_STATUS_SUCCESS
                                               : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static bool extension_served(uint16_t extension, uint16_t major)
{
    return extension == HSA_EXTENSION_AMD_LOADER && major == LOADER_MAJOR;
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = extension_known(extension, name);
    if (status == HSA_STATUS_SUCCESS)
        *name = extension_find(extension)->name;
    return api_end(&call, status);
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor,
                                            bool *result)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = extension_known(extension, result);
    if (status == HSA_STATUS_SUCCESS)
        *result = extension_served(extension, major) && minor <= LOADER_MINOR;
    return api_end(&call, status);
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major,
                                                  uint16_t *minor, bool *result)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = extension_known(extension, minor ? result : NULL);
    if (status == HSA_STATUS_SUCCESS) {
        *result = extension_served(extension, major);
        *minor = LOADER_MINOR;
    }
    return api_end(&call, status);
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                                  void *table)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!table || bytes == 0))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !extension_served(extension, major))
        status = HSA_STATUS_ERROR;
    if (status == HSA_STATUS_SUCCESS)
        memcpy(table, &loader, bytes < LOADER_BYTES ? bytes : (size_t)LOADER_BYTES);
    return api_end(&call, status);
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor,
                                            void *table)
{
    if (minor > LOADER_MINOR)
        return HSA_STATUS_ERROR;
    return hsa_system_get_major_extension_table(extension, major, LOADER_BYTES, table);
}

/* ---- of agents: none has one ---------------------------------------------------------------- */

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                           uint16_t minor, bool *result)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    (void)major, (void)minor;
    if (status == HSA_STATUS_SUCCESS)
        status = extension_known(extension, result);
    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS)
        *result = false;
    return api_end(&call, status);
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent,
                                                 uint16_t major, uint16_t *minor, bool *result)
{
    hsa_status_t status = minor ? hsa_agent_extension_supported(extension, agent, major, 0, result)
                                : HSA_STATUS_ERROR_INVALID_ARGUMENT;

    if (status == HSA_STATUS_SUCCESS)
        *minor = 0;
    return status;
}
