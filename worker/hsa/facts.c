/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * facts.c: what the runtime says of a GPU, its ISAs, its pools and the system: each attribute that
 * has the same meaning in another process. They are asked for once, because none of them changes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hsa_questions.h"
#include "worker/hsa/hsa.h"

enum { VALUE_BYTES = 256 };

struct attribute {
    uint32_t number, bytes;
};

static const struct attribute agent_attributes[] = {
    {HSA_AGENT_INFO_NAME, 64},
    {HSA_AGENT_INFO_VENDOR_NAME, 64},
    {HSA_AGENT_INFO_FEATURE, 4},
    {HSA_AGENT_INFO_MACHINE_MODEL, 4},
    {HSA_AGENT_INFO_PROFILE, 4},
    {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, 4},
    {HSA_AGENT_INFO_WAVEFRONT_SIZE, 4},
    {HSA_AGENT_INFO_WORKGROUP_MAX_DIM, 6},
    {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 4},
    {HSA_AGENT_INFO_GRID_MAX_DIM, 12},
    {HSA_AGENT_INFO_GRID_MAX_SIZE, 4},
    {HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 4},
    {HSA_AGENT_INFO_QUEUES_MAX, 4},
    {HSA_AGENT_INFO_QUEUE_MIN_SIZE, 4},
    {HSA_AGENT_INFO_QUEUE_MAX_SIZE, 4},
    {HSA_AGENT_INFO_QUEUE_TYPE, 4},
    {HSA_AGENT_INFO_NODE, 4},
    {HSA_AGENT_INFO_DEVICE, 4},
    {HSA_AGENT_INFO_CACHE_SIZE, 16},
    {HSA_AGENT_INFO_VERSION_MAJOR, 2},
    {HSA_AGENT_INFO_VERSION_MINOR, 2},
    {HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, 4},
    {HSA_AGENT_INFO_FAST_F16_OPERATION, 1},
    {HSA_AMD_AGENT_INFO_CHIP_ID, 4},
    {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 4},
    {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 4},
    {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 4},
    {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 4},
    {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 4},
    {HSA_AMD_AGENT_INFO_BDFID, 4},
    {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 4},
    {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 4},
    {HSA_AMD_AGENT_INFO_PRODUCT_NAME, 64},
    {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 4},
    {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 4},
    {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 4},
    {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 4},
    {HSA_AMD_AGENT_INFO_DOMAIN, 4},
    {HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, 1},
    {HSA_AMD_AGENT_INFO_UUID, 21},
    {HSA_AMD_AGENT_INFO_ASIC_REVISION, 4},
    {HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, 1},
    {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, 4},
    {HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, 8},
    {HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID, 4},
    {HSA_AMD_AGENT_INFO_UCODE_VERSION, 4},
    {HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION, 4},
    {HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, 4},
    {HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG, 4},
    {HSA_AMD_AGENT_INFO_IOMMU_SUPPORT, 4},
    {HSA_AMD_AGENT_INFO_NUM_XCC, 4},
    {HSA_AMD_AGENT_INFO_DRIVER_UID, 4},
    {HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, 8},
    {HSA_AMD_AGENT_INFO_AQL_EXTENSIONS, 8},
    {HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX, 8},
    {HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT, 8},
};

static const struct attribute pool_attributes[] = {
    {HSA_AMD_MEMORY_POOL_INFO_SEGMENT, 4},
    {HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, 4},
    {HSA_AMD_MEMORY_POOL_INFO_SIZE, 8},
    {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, 1},
    {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, 8},
    {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, 8},
    {HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, 1},
    {HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, 8},
    {HSA_AMD_MEMORY_POOL_INFO_LOCATION, 4},
    {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE, 8},
};

static const struct attribute isa_attributes[] = {
    {HSA_ISA_INFO_MACHINE_MODELS, 2},
    {HSA_ISA_INFO_PROFILES, 2},
    {HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, 3},
    {HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, 3},
    {HSA_ISA_INFO_FAST_F16_OPERATION, 1},
    {HSA_ISA_INFO_WORKGROUP_MAX_DIM, 6},
    {HSA_ISA_INFO_WORKGROUP_MAX_SIZE, 4},
    {HSA_ISA_INFO_GRID_MAX_DIM, 12},
    {HSA_ISA_INFO_GRID_MAX_SIZE, 8},
    {HSA_ISA_INFO_FBARRIER_MAX_SIZE, 4},
};

static const struct attribute system_attributes[] = {
    {HSA_SYSTEM_INFO_VERSION_MAJOR, 2},
    {HSA_SYSTEM_INFO_VERSION_MINOR, 2},
    {HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, 8},
    {HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, 1},
    {HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, 1},
    {HSA_AMD_SYSTEM_INFO_XNACK_ENABLED, 1},
    {HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR, 2},
    {HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR, 2},
};

#define ALL_OF(attributes) attributes, sizeof(attributes) / sizeof((attributes)[0])

/* What is put together. */
struct gathering {
    const struct hsa *hsa;
    char *facts;
    size_t bytes, room;
    bool full; /* there is no memory */
    uint16_t isas, pools;
};

static size_t whole_bytes(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static void add_fact(struct gathering *gathering, enum hsa_subject subject, uint16_t index,
                     uint32_t attribute, const void *value, size_t bytes)
{
    struct hsa_fact fact = {.subject = (uint16_t)subject,
                            .index = index,
                            .attribute = attribute,
                            .bytes = (uint32_t)bytes};
    size_t all = sizeof(fact) + whole_bytes(bytes);

    if (gathering->bytes + all > gathering->room) {
        size_t room = 2 * gathering->room + all;
        char *facts = realloc(gathering->facts, room);

        gathering->full |= !facts;
        if (!facts)
            return;
        gathering->facts = facts;
        gathering->room = room;
    }
    memset(gathering->facts + gathering->bytes, 0, all);
    memcpy(gathering->facts + gathering->bytes, &fact, sizeof(fact));
    memcpy(gathering->facts + gathering->bytes + sizeof(fact), value, bytes);
    gathering->bytes += all;
}

/* ---- subjects ---- */

static hsa_status_t ask_agent(const struct rocr *rocr, uint64_t handle, uint32_t attribute,
                              void *value)
{
    return rocr->agent_get_info((hsa_agent_t){handle}, attribute, value);
}

static hsa_status_t ask_isa(const struct rocr *rocr, uint64_t handle, uint32_t attribute,
                            void *value)
{
    return rocr->isa_get_info_alt((hsa_isa_t){handle}, (hsa_isa_info_t)attribute, value);
}

static hsa_status_t ask_pool(const struct rocr *rocr, uint64_t handle, uint32_t attribute,
                             void *value)
{
    return rocr->amd_memory_pool_get_info((hsa_amd_memory_pool_t){handle}, attribute, value);
}

static hsa_status_t ask_system(const struct rocr *rocr, uint64_t handle, uint32_t attribute,
                               void *value)
{
    (void)handle;
    return rocr->system_get_info(attribute, value);
}

static void add_all(struct gathering *gathering, enum hsa_subject subject, uint16_t index,
                    uint64_t handle, const struct attribute *attributes, size_t count)
{
    static hsa_status_t (*const ask[])(const struct rocr *, uint64_t, uint32_t,
                                       void *) = {[HSA_OF_AGENT] = ask_agent,
                                                  [HSA_OF_ISA] = ask_isa,
                                                  [HSA_OF_POOL] = ask_pool,
                                                  [HSA_OF_SYSTEM] = ask_system};

    for (size_t i = 0; i < count; i++) {
        uint64_t value[VALUE_BYTES / 8] = {0};

        if (ask[subject](gathering->hsa->rocr, handle, attributes[i].number, value) ==
            HSA_STATUS_SUCCESS)
            add_fact(gathering, subject, index, attributes[i].number, value, attributes[i].bytes);
    }
}

static hsa_status_t add_isa(hsa_isa_t isa, void *data)
{
    struct gathering *gathering = data;
    char name[VALUE_BYTES] = "";
    uint32_t length = 0;

    if (ask_isa(gathering->hsa->rocr, isa.handle, HSA_ISA_INFO_NAME_LENGTH, &length) ==
            HSA_STATUS_SUCCESS &&
        length < sizeof(name) &&
        ask_isa(gathering->hsa->rocr, isa.handle, HSA_ISA_INFO_NAME, name) == HSA_STATUS_SUCCESS)
        add_fact(gathering, HSA_OF_ISA, gathering->isas, HSA_ISA_INFO_NAME, name, strlen(name));
    add_all(gathering, HSA_OF_ISA, gathering->isas++, isa.handle, ALL_OF(isa_attributes));
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct gathering *gathering = data;

    add_all(gathering, HSA_OF_POOL, gathering->pools++, pool.handle, ALL_OF(pool_attributes));
    return HSA_STATUS_SUCCESS;
}

/* The release of the runtime, which it gives as an address. */
static void add_build(struct gathering *gathering)
{
    const char *build = NULL;

    if (gathering->hsa->rocr->system_get_info(HSA_AMD_SYSTEM_INFO_BUILD_VERSION, &build) ==
            HSA_STATUS_SUCCESS &&
        build)
        add_fact(gathering, HSA_OF_SYSTEM, 0, HSA_AMD_SYSTEM_INFO_BUILD_VERSION, build,
                 strnlen(build, VALUE_BYTES));
}

static omprma_status_t gather(struct hsa *hsa)
{
    const struct rocr *rocr = hsa->rocr;
    struct gathering gathering = {.hsa = hsa};

    add_all(&gathering, HSA_OF_AGENT, 0, hsa->agent.handle, ALL_OF(agent_attributes));
    rocr->agent_iterate_isas(hsa->agent, add_isa, &gathering);
    rocr->amd_agent_iterate_memory_pools(hsa->agent, add_pool, &gathering);
    add_all(&gathering, HSA_OF_SYSTEM, 0, 0, ALL_OF(system_attributes));
    add_build(&gathering);
    if (gathering.full) {
        free(gathering.facts);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for what a GPU says of itself");
    }
    hsa->facts = gathering.facts;
    hsa->facts_bytes = gathering.bytes;
    return OMPRMA_OK;
}

/* ---- answers ---- */

static size_t fact_bytes(const char *at)
{
    struct hsa_fact fact;

    memcpy(&fact, at, sizeof(fact));
    return sizeof(fact) + whole_bytes(fact.bytes);
}

omprma_status_t rocr_facts(struct hsa *hsa, uint32_t first, struct backend_ask *ask)
{
    omprma_status_t status = hsa->facts ? OMPRMA_OK : gather(hsa);
    struct hsa_facts head = {.first = first};
    const char *facts = hsa->facts;
    size_t used = sizeof(head);
    bool full = false;

    if (status != OMPRMA_OK)
        return status;
    for (size_t at = 0; at < hsa->facts_bytes; at += fact_bytes(facts + at)) {
        size_t bytes = fact_bytes(facts + at);

        if (head.total++ < first || full)
            continue;
        full = bytes > ask->room - used;
        if (full)
            continue;
        memcpy((char *)ask->answer + used, facts + at, bytes);
        used += bytes;
        head.count++;
    }
    memcpy(ask->answer, &head, sizeof(head));
    ask->answered = used;
    return OMPRMA_OK;
}
