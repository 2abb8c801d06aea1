/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cache.c: Levels of caches of GPUs, from the one attribute that the worker's runtime has of them.
 */
#include <stdio.h>
#include <string.h>

#include "hsa/about.h"
#include "hsa/answers.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/handles.h"

enum { LEVELS = 4 };

/* Bytes of a level, from 0 on; 0: there is none. */
static uint32_t level_bytes(struct gpu *gpu, unsigned level)
{
    struct about about = {.gpu = gpu};
    uint32_t bytes[LEVELS] = {0};

    if (!gpu || level >= LEVELS)
        return 0;
    answer(ANSWER_OF_GPU, &about, HSA_AGENT_INFO_CACHE_SIZE, bytes);
    return bytes[level];
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_cache_callback_t callback, void *data)
{
    struct call call;
    struct gpu *gpu = gpu_of(agent);
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    for (unsigned level = 0; status == HSA_STATUS_SUCCESS && gpu && level < LEVELS; level++) {
        if (level_bytes(gpu, level) > 0)
            status = callback(
                (hsa_cache_t){handle_make(HANDLE_OF_CACHE, (unsigned)gpu->ordinal + 1, level)},
                data);
    }
    return api_end(&call, status);
}

static hsa_status_t cache_answer(unsigned level, uint32_t bytes, hsa_cache_info_t attribute,
                                 void *value)
{
    char name[8];
    uint32_t length = (uint32_t)snprintf(name, sizeof(name), "L%u", level + 1);

    switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH:
        memcpy(value, &length, sizeof(length));
        return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_NAME:
        memcpy(value, name, length);
        return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL:
        *(uint8_t *)value = (uint8_t)(level + 1);
        return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_SIZE:
        memcpy(value, &bytes, sizeof(bytes));
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void *value)
{
    struct call call;
    unsigned agent, level;
    uint32_t bytes = 0;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && handle_read(cache.handle, HANDLE_OF_CACHE, &agent, &level))
        bytes = level_bytes(gpu_at((int)agent - 1), level);
    if (status == HSA_STATUS_SUCCESS && bytes == 0)
        status = HSA_STATUS_ERROR_INVALID_CACHE;
    if (status == HSA_STATUS_SUCCESS && !value)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = cache_answer(level, bytes, attribute, value);
    return api_end(&call, status);
}
