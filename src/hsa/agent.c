/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* agent.c: The program's agents are the host and the GPUs; what they are is asked by attributes. */
#include "hsa/about.h"
#include "hsa/answers.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"

hsa_status_t hsa_iterate_agents(hsa_agent_callback_t callback, void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = callback(cpu_agent, data);
    for (int i = 0; status == HSA_STATUS_SUCCESS && i < gpu_count(); i++)
        status = callback(gpu_agent(gpu_at(i)), data);
    return api_end(&call, status);
}

/* Begins a call about an agent. Errors: INVALID_AGENT, and INVALID_ARGUMENT where there must be
 * room for an answer and is none. */
static hsa_status_t agent_begin(struct call *call, hsa_agent_t agent, bool room)
{
    hsa_status_t status = api_begin(call);

    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && !room)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return status;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    struct call call;
    struct about about = {.gpu = gpu_of(agent)};
    hsa_status_t status = agent_begin(&call, agent, value != NULL);

    if (status == HSA_STATUS_SUCCESS)
        status = answer(about.gpu ? ANSWER_OF_GPU : ANSWER_OF_HOST, &about, attribute, value);
    return api_end(&call, status);
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t profile,
                                              uint16_t *mask)
{
    struct call call;
    hsa_status_t status = agent_begin(&call, agent, mask != NULL);

    (void)profile;
    if (status == HSA_STATUS_SUCCESS)
        *mask = 0;
    return api_end(&call, status);
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type)
{
    struct call call;
    hsa_status_t status = agent_begin(&call, agent, type != NULL);

    if (status == HSA_STATUS_SUCCESS)
        *type = HSA_AMD_COHERENCY_TYPE_NONCOHERENT;
    return api_end(&call, status);
}

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
    struct call call;
    hsa_status_t status = agent_begin(&call, agent, true);

    if (status == HSA_STATUS_SUCCESS && type != HSA_AMD_COHERENCY_TYPE_NONCOHERENT)
        status = HSA_STATUS_ERROR;
    return api_end(&call, status);
}

hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold)
{
    struct call call;

    (void)threshold;
    return api_end(&call, agent_begin(&call, agent, true));
}
