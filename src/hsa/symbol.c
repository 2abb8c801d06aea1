/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* symbol.c: kernels and variables of executables, and what is known of them. */
#include <string.h>

#include "hsa/driver.h"
#include "hsa/executable.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/write.h"

static hsa_executable_symbol_t handle_of(const struct symbol *symbol)
{
    return (hsa_executable_symbol_t){(uint64_t)(uintptr_t)symbol};
}

/* ---- finding one ---------------------------------------------------------------------------- */

/* Of that GPU (NULL: any). NULL: none. */
static const struct symbol *symbol_find(const struct executable *executable, const char *name,
                                        const struct gpu *gpu)
{
    const struct loaded *loaded = NULL;

    STAILQ_FOREACH(loaded, &executable->objects, link)
    {
        for (uint32_t i = 0; i < loaded->count && (!gpu || loaded->gpu == gpu); i++) {
            if (strcmp(loaded->symbols[i].name, name) == 0)
                return &loaded->symbols[i];
        }
    }
    return NULL;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name,
                                               const hsa_agent_t *agent,
                                               hsa_executable_symbol_t *symbol)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    const struct executable *executable =
        status == HSA_STATUS_SUCCESS ? executable_of(handle) : NULL;
    const struct symbol *found = NULL;

    if (status == HSA_STATUS_SUCCESS && !executable)
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS && (!name || !symbol))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS &&
        !(found = symbol_find(executable, name, agent ? gpu_of(*agent) : NULL)))
        status = HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    if (status == HSA_STATUS_SUCCESS)
        *symbol = handle_of(found);
    return api_end(&call, status);
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module,
                                       const char *name, hsa_agent_t agent, int32_t convention,
                                       hsa_executable_symbol_t *symbol)
{
    (void)convention;
    if (module && *module)
        return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    return hsa_executable_get_symbol_by_name(executable, name, &agent, symbol);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Callbacks have either form. */
struct iteration {
    hsa_executable_symbol_callback_t any;
    hsa_agent_symbol_callback_t of_agent;
    const struct gpu *gpu; /* NULL: any */
    void *data;
};

static hsa_status_t iterate_loaded(hsa_executable_t handle, const struct loaded *loaded,
                                   const struct iteration *iteration)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;

    for (uint32_t i = 0; i < loaded->count && status == HSA_STATUS_SUCCESS; i++) {
        hsa_executable_symbol_t symbol = handle_of(&loaded->symbols[i]);
        if (iteration->any)
            status = iteration->any(handle, symbol, iteration->data);
        else
            status = iteration->of_agent(handle, gpu_agent(loaded->gpu), symbol, iteration->data);
    }
    return status;
}

static hsa_status_t iterate(hsa_executable_t handle, const struct iteration *iteration)
{
    const struct executable *executable = executable_of(handle);
    const struct loaded *loaded = NULL;
    hsa_status_t status = HSA_STATUS_SUCCESS;

    if (!executable)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!iteration->any && !iteration->of_agent)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    STAILQ_FOREACH(loaded, &executable->objects, link)
    {
        if (status == HSA_STATUS_SUCCESS && (!iteration->gpu || loaded->gpu == iteration->gpu))
            status = iterate_loaded(handle, loaded, iteration);
    }
    return status;
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_executable_symbol_callback_t callback, void *data)
{
    struct call call;
    struct iteration iteration = {.any = callback, .data = data};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = iterate(executable, &iteration);
    return api_end(&call, status);
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
                                                  hsa_agent_symbol_callback_t callback, void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct iteration iteration = {.of_agent = callback, .data = data};

    if (status == HSA_STATUS_SUCCESS && !(iteration.gpu = gpu_of(agent)))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS)
        status = iterate(executable, &iteration);
    return api_end(&call, status);
}

/* All symbols are of a GPU. */
hsa_status_t hsa_executable_iterate_program_symbols(hsa_executable_t executable,
                                                    hsa_executable_symbol_callback_t callback,
                                                    void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    (void)data;
    if (status == HSA_STATUS_SUCCESS && !executable_of(executable))
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return api_end(&call, status);
}

/* ---- what is known of one ------------------------------------------------------------------- */

static hsa_status_t about_variable(const struct hsa_symbol *about,
                                   hsa_executable_symbol_info_t attribute, void *value)
{
    bool constant = about->flags & HSA_SYMBOL_CONSTANT;

    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
        return write32(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
        return write32(value,
                       constant ? HSA_VARIABLE_SEGMENT_READONLY : HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
        return write32(value, 1); /* at least */
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
        return write32(value, (uint32_t)about->bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
        return write_truth(value, constant);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
        return write64(value, about->address);
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

static hsa_status_t about_kernel(const struct hsa_symbol *about,
                                 hsa_executable_symbol_info_t attribute, void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        return write64(value, about->address);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        return write32(value, about->argument_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
        return write32(value, about->argument_alignment);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
        return write32(value, about->group_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
        return write32(value, about->private_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
        return write_truth(value, about->flags & HSA_SYMBOL_DYNAMIC_STACK);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
        return write32(value, 0);
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

static hsa_status_t about_symbol(const struct symbol *symbol,
                                 hsa_executable_symbol_info_t attribute, void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        return write32(value, symbol->about.kind);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        return write32(value, (uint32_t)strlen(symbol->name));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
        memcpy(value, symbol->name, strlen(symbol->name));
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
        return write32(value, 0);
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
        return write32(value, HSA_SYMBOL_LINKAGE_PROGRAM);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
        return write_truth(value, true);
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
        return write64(value, gpu_agent(symbol->loaded->gpu).handle);
    default:
        return symbol->about.kind == HSA_SYMBOL_KIND_KERNEL
                   ? about_kernel(&symbol->about, attribute, value)
                   : about_variable(&symbol->about, attribute, value);
    }
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
                                            hsa_executable_symbol_info_t attribute, void *value)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    const struct symbol *symbol =
        (const struct symbol *)(uintptr_t)handle.handle; // NOLINT(performance-no-int-to-ptr)

    if (status == HSA_STATUS_SUCCESS && !symbol)
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    if (status == HSA_STATUS_SUCCESS && !value)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = about_symbol(symbol, attribute, value);
    return api_end(&call, status);
}
