/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * result.c: an error has the number that the worker's driver gave it, or else one that stands for
 * omprma's status. Its line is printed here, at once, because the driver interface has no place for
 * texts. After errors that make a context unusable the GPU keeps the result (gpu_lose()).
 */
#include "cuda/result.h"

#include "cuda/exports.h"
#include "cuda/gpu.h"

/* ---- codes ---------------------------------------------------------------------------------- */

static CUresult result_for(omprma_status_t status)
{
    switch (status) {
    case OMPRMA_OK:
        return CUDA_SUCCESS;
    case OMPRMA_ERR_ARGUMENT:
    case OMPRMA_ERR_ADDRESS: /* as the driver answers copies from and to what it does not know */
        return CUDA_ERROR_INVALID_VALUE;
    case OMPRMA_ERR_DEVICE_MEMORY:
    case OMPRMA_ERR_HOST_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case OMPRMA_ERR_NO_WORKERS:
        return CUDA_ERROR_NO_DEVICE;
    case OMPRMA_ERR_CONFIG:
    case OMPRMA_ERR_VERSION:
        return CUDA_ERROR_SYSTEM_NOT_READY;
    case OMPRMA_ERR_IMAGE:
        return CUDA_ERROR_INVALID_IMAGE;
    case OMPRMA_ERR_SYMBOL:
        return CUDA_ERROR_NOT_FOUND;
    case OMPRMA_ERR_KERNEL:
        return CUDA_ERROR_LAUNCH_FAILED;
    case OMPRMA_ERR_DEVICE_LOST:
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    case OMPRMA_ERR_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case OMPRMA_ERR_CLOSED:
        return CUDA_ERROR_DEINITIALIZED;
    default:
        return CUDA_ERROR_UNKNOWN;
    }
}

bool result_is_sticky(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

CUresult result_of(struct gpu *gpu, omprma_status_t status)
{
    if (status == OMPRMA_OK)
        return CUDA_SUCCESS;
    int code = omprma_error_code();
    CUresult result = code > 0 ? (CUresult)code : result_for(status);
    report_error("%s", omprma_error());
    if (gpu && result_is_sticky(result))
        gpu_lose(gpu, result);
    return result;
}

/* ---- names ---------------------------------------------------------------------------------- */

static const struct words {
    CUresult result;
    const char *name, *text;
} words[] = {
#define CU_RESULT(value, name, words) {name, #name, words},
#include "cuda/results.def"
#undef CU_RESULT
};

static const struct words *words_of(CUresult result)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].result == result)
            return &words[i];
    }
    return NULL;
}

const char *result_name(CUresult result)
{
    const struct words *found = words_of(result);
    return found ? found->name : NULL;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = result_name(result);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    const struct words *found = words_of(result);
    *text = found ? found->text : NULL;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
