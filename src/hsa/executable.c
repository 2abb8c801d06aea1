/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* executable.c: executables: lists of code objects, each on a GPU. */
#include "hsa/executable.h"

#include <stdlib.h>

#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/result.h"

struct executable *executable_of(hsa_executable_t handle)
{
    struct executable *executable =
        (struct executable *)(uintptr_t)handle.handle; // NOLINT(performance-no-int-to-ptr)
    return executable && executable->tag == EXECUTABLE_TAG ? executable : NULL;
}

/* ---- life ----------------------------------------------------------------------------------- */

static hsa_status_t executable_make(hsa_profile_t profile,
                                    hsa_default_float_rounding_mode_t rounding,
                                    hsa_executable_t *handle)
{
    struct executable *executable = handle ? calloc(1, sizeof(*executable)) : NULL;

    if (!executable)
        return handle ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    executable->tag = EXECUTABLE_TAG;
    executable->profile = profile;
    executable->rounding = rounding;
    STAILQ_INIT(&executable->objects);
    handle->handle = (uint64_t)(uintptr_t)executable;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state,
                                   const char *options, hsa_executable_t *executable)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    (void)options;
    if (status == HSA_STATUS_SUCCESS)
        status = executable_make(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, executable);
    if (status == HSA_STATUS_SUCCESS)
        executable_of(*executable)->frozen = state == HSA_EXECUTABLE_STATE_FROZEN;
    return api_end(&call, status);
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t rounding,
                                       const char *options, hsa_executable_t *executable)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    (void)options;
    if (status == HSA_STATUS_SUCCESS)
        status = executable_make(profile, rounding, executable);
    return api_end(&call, status);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct executable *executable = status == HSA_STATUS_SUCCESS ? executable_of(handle) : NULL;
    struct loaded *loaded = NULL;

    if (status == HSA_STATUS_SUCCESS && !executable)
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    while (executable && (loaded = STAILQ_FIRST(&executable->objects))) {
        STAILQ_REMOVE_HEAD(&executable->objects, link);
        loaded_free(loaded);
    }
    if (executable)
        executable->tag = 0;
    free(executable);
    return api_end(&call, status);
}

/* ---- code ----------------------------------------------------------------------------------- */

static hsa_status_t executable_load(struct executable *executable, hsa_agent_t agent,
                                    const void *image, size_t bytes,
                                    hsa_loaded_code_object_t *handle)
{
    struct loaded *loaded = NULL;
    struct gpu *gpu = gpu_of(agent);

    if (!executable)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (executable->frozen)
        return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    if (!gpu)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    hsa_status_t status = loaded_make(gpu, image, bytes, &loaded);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    STAILQ_INSERT_TAIL(&executable->objects, loaded, link);
    if (handle)
        handle->handle = (uint64_t)(uintptr_t)loaded;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                             hsa_code_object_t object, const char *options)
{
    struct call call;
    const void *image = NULL;
    size_t bytes = 0;
    hsa_status_t status = api_begin(&call);

    (void)options;
    if (status == HSA_STATUS_SUCCESS && !code_object_bytes(object, &image, &bytes))
        status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (status == HSA_STATUS_SUCCESS)
        status = executable_load(executable_of(executable), agent, image, bytes, NULL);
    return api_end(&call, status);
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader,
                                                   const char *options,
                                                   hsa_loaded_code_object_t *loaded)
{
    struct call call;
    const void *image = NULL;
    size_t bytes = 0;
    hsa_status_t status = api_begin(&call);

    (void)options;
    if (status == HSA_STATUS_SUCCESS && !code_reader_bytes(reader, &image, &bytes))
        status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    if (status == HSA_STATUS_SUCCESS)
        status = executable_load(executable_of(executable), agent, image, bytes, loaded);
    return api_end(&call, status);
}

/* ---- state ---------------------------------------------------------------------------------- */

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct executable *executable = status == HSA_STATUS_SUCCESS ? executable_of(handle) : NULL;

    (void)options;
    if (status == HSA_STATUS_SUCCESS && !executable)
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS && executable->frozen)
        status = HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS)
        executable->frozen = true;
    return api_end(&call, status);
}

/* The worker's runtime has validated what it has loaded. */
hsa_status_t hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !executable_of(handle))
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS && !result)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        *result = 0;
    return api_end(&call, status);
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char *options,
                                         uint32_t *result)
{
    (void)options;
    return hsa_executable_validate(executable, result);
}

hsa_status_t hsa_executable_get_info(hsa_executable_t handle, hsa_executable_info_t attribute,
                                     void *value)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    const struct executable *executable =
        status == HSA_STATUS_SUCCESS ? executable_of(handle) : NULL;

    if (status == HSA_STATUS_SUCCESS && !executable)
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS && !value)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS) {
        switch (attribute) {
        case HSA_EXECUTABLE_INFO_PROFILE:
            *(hsa_profile_t *)value = executable->profile;
            break;
        case HSA_EXECUTABLE_INFO_STATE:
            *(hsa_executable_state_t *)value =
                executable->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
            break;
        case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
            *(hsa_default_float_rounding_mode_t *)value = executable->rounding;
            break;
        default:
            status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
        }
    }
    return api_end(&call, status);
}

/* ---- variables of the program's ------------------------------------------------------------- */

static hsa_status_t define(hsa_executable_t handle, const char *name)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !executable_of(handle))
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS && !name)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS) {
        report_error("HSA: variable %s cannot be one of this process: GPUs of workers do not reach "
                     "its memory; define it in the code for GPUs",
                     name);
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return api_end(&call, status);
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char *name,
                                                   void *address)
{
    (void)address;
    return define(executable, name);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
                                                         hsa_agent_t agent, const char *name,
                                                         void *address)
{
    (void)agent, (void)address;
    return define(executable, name);
}
