/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * result.c: an error has the number that the worker's runtime gave it, or else one that stands for
 * omprma's status. Its line is printed here, at once, because the interface has no place for texts.
 * After errors that leave a GPU unusable it keeps the result (gpu_lose()).
 */
#include "hsa/result.h"

#include "hsa/exports.h"
#include "hsa/gpu.h"

/* ---- codes ---------------------------------------------------------------------------------- */

static hsa_status_t result_for(omprma_status_t status)
{
    switch (status) {
    case OMPRMA_OK:
        return HSA_STATUS_SUCCESS;
    case OMPRMA_ERR_ARGUMENT:
    case OMPRMA_ERR_ADDRESS:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case OMPRMA_ERR_DEVICE_MEMORY:
    case OMPRMA_ERR_HOST_MEMORY:
    case OMPRMA_ERR_NO_WORKERS:
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    case OMPRMA_ERR_IMAGE:
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    case OMPRMA_ERR_SYMBOL:
        return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
    case OMPRMA_ERR_KERNEL:
        return HSA_STATUS_ERROR_EXCEPTION;
    case OMPRMA_ERR_DEVICE_LOST:
        return HSA_STATUS_ERROR_FATAL;
    case OMPRMA_ERR_CLOSED:
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    default:
        return HSA_STATUS_ERROR;
    }
}

bool result_is_sticky(hsa_status_t status)
{
    switch (status) {
    case HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION:
    case HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION:
    case HSA_STATUS_ERROR_MEMORY_FAULT:
    case HSA_STATUS_ERROR_EXCEPTION:
    case HSA_STATUS_ERROR_FATAL:
        return true;
    default:
        return false;
    }
}

hsa_status_t result_quiet(struct gpu *gpu, omprma_status_t status)
{
    if (status == OMPRMA_OK)
        return HSA_STATUS_SUCCESS;
    int code = omprma_error_code();
    hsa_status_t result = code > 0 ? (hsa_status_t)code : result_for(status);
    if (gpu && result_is_sticky(result))
        gpu_lose(gpu, result);
    return result;
}

hsa_status_t result_of(struct gpu *gpu, omprma_status_t status)
{
    if (status != OMPRMA_OK)
        report_error("%s", omprma_error());
    return result_quiet(gpu, status);
}

/* ---- names ---------------------------------------------------------------------------------- */

static const struct words {
    hsa_status_t status;
    const char *name, *text;
} words[] = {
#define HSA_RESULT(name, words) {name, #name, #name ": " words},
#include "hsa/results.def"
#undef HSA_RESULT
};

static const struct words *words_of(hsa_status_t status)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].status == status)
            return &words[i];
    }
    return NULL;
}

const char *result_name(hsa_status_t status)
{
    const struct words *found = words_of(status);
    return found ? found->name : NULL;
}

hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    const struct words *found = words_of(status);

    if (!found || !text)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *text = found->text;
    return HSA_STATUS_SUCCESS;
}
