/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * isa.c: instruction sets of GPUs, and their wavefronts. A GPU can have several: newer runtimes
 * list those that many GPUs have in common, too.
 */
#include <string.h>

#include "hsa/about.h"
#include "hsa/answers.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/handles.h"
#include "hsa/isa_name.h"

enum { ISA_NAME_BYTES = 128 };

static bool isa_exists(const struct gpu *gpu, unsigned index)
{
    return gpu && gpu_fact(gpu, HSA_OF_ISA, index, HSA_ISA_INFO_NAME);
}

/* False: no such one. */
static bool isa_of(uint64_t handle, enum handle_of of, struct about *about)
{
    unsigned agent;

    *about = (struct about){0};
    if (!handle_read(handle, of, &agent, &about->index))
        return false;
    about->gpu = gpu_at((int)agent - 1);
    return isa_exists(about->gpu, about->index);
}

static hsa_isa_t isa_handle(const struct gpu *gpu, unsigned index)
{
    return (hsa_isa_t){handle_make(HANDLE_OF_ISA, (unsigned)gpu->ordinal + 1, index)};
}

/* Begins a call about an ISA. */
static hsa_status_t isa_begin(struct call *call, hsa_isa_t isa, const void *room,
                              struct about *about)
{
    hsa_status_t status = api_begin(call);

    if (status == HSA_STATUS_SUCCESS && !isa_of(isa.handle, HANDLE_OF_ISA, about))
        status = HSA_STATUS_ERROR_INVALID_ISA;
    if (status == HSA_STATUS_SUCCESS && !room)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return status;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_isa_callback_t callback, void *data)
{
    struct call call;
    const struct gpu *gpu = gpu_of(agent);
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    for (unsigned i = 0; status == HSA_STATUS_SUCCESS && isa_exists(gpu, i); i++)
        status = callback(isa_handle(gpu, i), data);
    return api_end(&call, status);
}

/* ---- by name -------------------------------------------------------------------------------- */

static bool isa_has_name(const struct gpu *gpu, unsigned index, const char *wanted)
{
    char name[ISA_NAME_BYTES];

    return isa_name(gpu_fact(gpu, HSA_OF_ISA, index, HSA_ISA_INFO_NAME), name, sizeof(name)) &&
           strcmp(name, wanted) == 0;
}

/* False: no GPU has it. */
static bool isa_find(const char *name, hsa_isa_t *isa)
{
    for (int i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        for (unsigned index = 0; isa_exists(gpu, index); index++) {
            if (!isa_has_name(gpu, index, name))
                continue;
            *isa = isa_handle(gpu, index);
            return true;
        }
    }
    return false;
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!name || !isa))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !isa_find(name, isa))
        status = HSA_STATUS_ERROR_INVALID_ISA_NAME;
    return api_end(&call, status);
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code, hsa_isa_t agent, bool *result)
{
    struct call call;
    struct about about;
    char name[ISA_NAME_BYTES];
    hsa_status_t status = isa_begin(&call, code, result, &about);

    if (status == HSA_STATUS_SUCCESS &&
        !isa_name(gpu_fact(about.gpu, HSA_OF_ISA, about.index, HSA_ISA_INFO_NAME), name,
                  sizeof(name)))
        status = HSA_STATUS_ERROR_INVALID_ISA;
    if (status == HSA_STATUS_SUCCESS && !isa_of(agent.handle, HANDLE_OF_ISA, &about))
        status = HSA_STATUS_ERROR_INVALID_ISA;
    if (status == HSA_STATUS_SUCCESS)
        *result = isa_has_name(about.gpu, about.index, name);
    return api_end(&call, status);
}

/* ---- attributes ----------------------------------------------------------------------------- */

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
    struct call call;
    struct about about;
    hsa_status_t status = isa_begin(&call, isa, value, &about);

    if (status == HSA_STATUS_SUCCESS)
        status = answer(ANSWER_OF_ISA, &about, attribute, value);
    return api_end(&call, status);
}

/* `index` counts call conventions, of which there is one. */
hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value)
{
    if (index != 0)
        return HSA_STATUS_ERROR_INVALID_INDEX;
    return hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile, uint16_t *mask)
{
    struct call call;
    struct about about;
    hsa_status_t status = isa_begin(&call, isa, mask, &about);

    (void)profile;
    if (status == HSA_STATUS_SUCCESS)
        *mask = 0;
    return api_end(&call, status);
}

hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t type, hsa_flush_mode_t mode,
                                      hsa_round_method_t *method)
{
    struct call call;
    struct about about;
    hsa_status_t status = isa_begin(&call, isa, method, &about);

    (void)type, (void)mode;
    if (status == HSA_STATUS_SUCCESS)
        *method = HSA_ROUND_METHOD_SINGLE;
    return api_end(&call, status);
}

/* ---- wavefronts ----------------------------------------------------------------------------- */

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_wavefront_callback_t callback,
                                        void *data)
{
    struct call call;
    struct about about;
    hsa_status_t status = isa_begin(&call, isa, callback ? &call : NULL, &about);

    if (status == HSA_STATUS_SUCCESS)
        status = callback((hsa_wavefront_t){handle_make(
                              HANDLE_OF_WAVEFRONT, (unsigned)about.gpu->ordinal + 1, about.index)},
                          data);
    return api_end(&call, status);
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute,
                                    void *value)
{
    struct call call;
    struct about about;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !isa_of(wavefront.handle, HANDLE_OF_WAVEFRONT, &about))
        status = HSA_STATUS_ERROR_INVALID_WAVEFRONT;
    if (status == HSA_STATUS_SUCCESS && attribute != HSA_WAVEFRONT_INFO_SIZE)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status =
            answer(ANSWER_OF_ISA, &about, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE, value);
    return api_end(&call, status);
}
