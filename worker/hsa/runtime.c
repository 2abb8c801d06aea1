/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * runtime.c: the runtime's library is opened with dlopen(), and the functions of runtime.def are
 * looked up in it by name. Where there is no GPU the runtime cannot be started: it says then that
 * it has no resources, so the line adds what this host lacks.
 */
#include "worker/hsa/runtime.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static const char node[] = "/dev/kfd";

static const struct {
    const char *symbol;
    size_t offset;
} functions[] = {
#define ROCR(result, name, parameters) {"hsa_" #name, offsetof(struct rocr, name)},
#include "worker/hsa/runtime.def"
#undef ROCR
};

/* The first function that the library lacks, or NULL. */
static const char *look_up(struct rocr *rocr)
{
    const char *missing = NULL;

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(rocr->library, functions[i].symbol);

        memcpy((char *)rocr + functions[i].offset, &symbol, sizeof(symbol));
        if (!symbol && !missing)
            missing = functions[i].symbol;
    }
    return missing;
}

/* ---- codes ---- */

bool rocr_is_fatal(int code)
{
    return code == HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION ||
           code == HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION || code == HSA_STATUS_ERROR_MEMORY_FAULT ||
           code == HSA_STATUS_ERROR_EXCEPTION;
}

static omprma_status_t status_of(int code)
{
    switch (code) {
    case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
    case HSA_STATUS_ERROR_INVALID_ALLOCATION:
        return OMPRMA_ERR_DEVICE_MEMORY;
    case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
    case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
    case HSA_STATUS_ERROR_INVALID_ISA:
    case HSA_STATUS_ERROR_INVALID_ISA_NAME:
    case HSA_STATUS_ERROR_VARIABLE_UNDEFINED:
        return OMPRMA_ERR_IMAGE;
    case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
        return OMPRMA_ERR_SYMBOL;
    case HSA_STATUS_ERROR_NOT_SUPPORTED:
        return OMPRMA_ERR_UNSUPPORTED;
    default:
        return rocr_is_fatal(code) ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_ARGUMENT;
    }
}

/* The first sentence of what the runtime says. */
const char *rocr_words(const struct rocr *rocr, int code, char words[ROCR_WORDS_BYTES])
{
    const char *text = NULL;
    size_t length;

    if (rocr->status_string((hsa_status_t)code, &text) != HSA_STATUS_SUCCESS || !text)
        text = "an error for which the HSA runtime has no words";
    length = strcspn(text, ".");
    if (length > ROCR_WORDS_BYTES - 16)
        length = ROCR_WORDS_BYTES - 16;
    snprintf(words, ROCR_WORDS_BYTES, "%.*s (0x%x)", (int)length, text, (unsigned)code);
    return words;
}

omprma_status_t rocr_error(const struct rocr *rocr, int code, const char *format, ...)
{
    omprma_status_t status = status_of(code);
    char what[512], words[ROCR_WORDS_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    error_set(status, "%s: %s", what, rocr_words(rocr, code, words));
    return error_note_code(status, code);
}

/* ---- agents ---- */

/* The host's first pool of global memory for kernel arguments. */
static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct rocr *rocr = data;
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GROUP;
    uint32_t flags = 0;
    bool allowed = false;

    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    rocr->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (!allowed || !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT))
        return HSA_STATUS_SUCCESS;
    rocr->pool = pool;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t look_at_agent(hsa_agent_t agent, void *data)
{
    struct rocr *rocr = data;
    hsa_device_type_t type = HSA_DEVICE_TYPE_DSP;
    hsa_status_t code = rocr->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);

    if (code != HSA_STATUS_SUCCESS)
        return code;
    if (type == HSA_DEVICE_TYPE_GPU && rocr->count < ROCR_GPUS_MOST)
        rocr->gpus[rocr->count++] = agent;
    if (type != HSA_DEVICE_TYPE_CPU || rocr->pool.handle)
        return HSA_STATUS_SUCCESS;
    rocr->host = agent;
    code = rocr->amd_agent_iterate_memory_pools(agent, look_at_pool, rocr);
    return code == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : code;
}

/* ---- start and end ---- */

/* What this host lacks, behind the runtime's own words. */
static const char *what_is_missing(int code)
{
    if (code != HSA_STATUS_ERROR_OUT_OF_RESOURCES || access(node, R_OK | W_OK) == 0)
        return "";
    return access(node, F_OK) ? "; there is no /dev/kfd: no AMD GPU, or no kernel driver amdgpu"
                              : "; /dev/kfd may not be opened: join its group, mostly render";
}

static omprma_status_t refuse(const struct rocr *rocr, int code)
{
    char words[ROCR_WORDS_BYTES];

    error_set(OMPRMA_ERR_UNSUPPORTED, "no GPU can be used: %s%s", rocr_words(rocr, code, words),
              what_is_missing(code));
    return error_note_code(OMPRMA_ERR_UNSUPPORTED, code);
}

/* The GPUs, what the runtime's clock counts, and where kernels find their arguments. */
static omprma_status_t look_around(struct rocr *rocr)
{
    int code = rocr->iterate_agents(look_at_agent, rocr);

    if (code == HSA_STATUS_SUCCESS)
        code = rocr->system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &rocr->ticks);
    if (code != HSA_STATUS_SUCCESS)
        return refuse(rocr, code);
    if (rocr->count == 0)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "no GPU can be used: the HSA runtime knows none");
    if (!rocr->pool.handle)
        return error_set(OMPRMA_ERR_UNSUPPORTED,
                         "no GPU can be used: the HSA runtime has no memory for kernel arguments");
    return OMPRMA_OK;
}

static omprma_status_t start(struct rocr *rocr)
{
    const char *missing = look_up(rocr);
    omprma_status_t status;
    int code;

    if (missing)
        return error_set(OMPRMA_ERR_UNSUPPORTED,
                         "the HSA runtime lacks %s; it has to be of ROCm 5.2 or newer", missing);
    code = rocr->init();
    if (code != HSA_STATUS_SUCCESS)
        return refuse(rocr, code);
    status = look_around(rocr);
    if (status != OMPRMA_OK)
        rocr->shut_down();
    return status;
}

static void close_library(struct rocr *rocr)
{
    dlclose(rocr->library);
    rocr->library = NULL;
    rocr->count = 0;
}

omprma_status_t rocr_open(struct rocr *rocr)
{
    omprma_status_t status;

    memset(rocr, 0, sizeof(*rocr));
    rocr->library = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!rocr->library)
        rocr->library = dlopen("libhsa-runtime64.so", RTLD_NOW | RTLD_LOCAL);
    if (!rocr->library)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "no HSA runtime: %s", dlerror());
    status = start(rocr);
    if (status != OMPRMA_OK)
        close_library(rocr);
    return status;
}

void rocr_close(struct rocr *rocr)
{
    if (!rocr->library)
        return;
    rocr->shut_down();
    close_library(rocr);
}
