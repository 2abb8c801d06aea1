/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_answers.c: what the HSA library answers, over two GPUs that only say facts: each row of
 * answers.def with its bytes and no more; what must be otherwise than the worker's runtime says;
 * handles that are wrong; what is refused.
 * Covers: src/hsa/driver.c src/hsa/gpu.c src/hsa/result.c src/hsa/refused.c isa_name.c answers.c
 * values.c hsa/agent.c src/hsa/isa.c cache.c pool.c pool_info.c system.c copy_engine.c profile.c
 * driver/report.c
 */
#include "tests/unit/test.h"
#include "fake_gpus.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/handles.h"
#include "hsa/isa_name.h"
#include "hsa/pool.h"
#include "hsa/result.h"

#define OK(call) assert_int_equal((call), HSA_STATUS_SUCCESS)
#define REFUSED(call) assert_int_equal((call), HSA_STATUS_ERROR_INVALID_ARGUMENT)

static hsa_agent_t host, rich, poor;

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
    hsa_agent_t **next = data;

    *(*next)++ = agent;
    return HSA_STATUS_SUCCESS;
}

static int begin(void **state)
{
    hsa_agent_t agents[8], *next = agents;
    (void)state;

    fake.at_once = 3; /* takes several questions */
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(take_agent, &next) != 0)
        return -1;
    host = agents[0], rich = agents[1], poor = agents[2];
    return next - agents == 3 ? 0 : -1;
}

TEST_GROUP(begin, NULL)

/* ---- start ---------------------------------------------------------------------------------- */

TEST(the_start_counts_and_never_fails)
{
    uint16_t version;

    OK(hsa_init());
    OK(hsa_shut_down());
    OK(hsa_shut_down());
    assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version),
                     HSA_STATUS_ERROR_NOT_INITIALIZED);
    assert_int_equal(hsa_iterate_agents(take_agent, NULL), HSA_STATUS_ERROR_NOT_INITIALIZED);
    assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    OK(hsa_init());
    OK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version));
    assert_int_equal(version, 1);
}

TEST(all_facts_are_taken_in_as_many_questions_as_it_takes)
{
    const struct hsa_fact *last =
        gpu_fact(gpu_of(rich), HSA_OF_ISA, 0, HSA_ISA_INFO_FBARRIER_MAX_SIZE);

    assert_true(fake.asked > 2);
    assert_non_null(last);
    assert_int_equal(last->value[0], 32);
    assert_int_equal(gpu_of(rich)->bytes, 64ull << 30);
    assert_int_equal(gpu_of(rich)->device, FAKE_RICH);
    assert_ptr_equal(gpu_of_device(FAKE_POOR), gpu_of(poor));
    assert_null(gpu_of_device(0));
    assert_null(gpu_of(host));
}

TEST(words_for_a_status_need_no_start)
{
    const char *text;

    OK(hsa_status_string(HSA_STATUS_ERROR_OUT_OF_RESOURCES, &text));
    assert_non_null(strstr(text, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: "));
    REFUSED(hsa_status_string((hsa_status_t)0x9999, &text));
    REFUSED(hsa_status_string(HSA_STATUS_SUCCESS, NULL));
    assert_string_equal(result_name(HSA_STATUS_ERROR_FATAL), "HSA_STATUS_ERROR_FATAL");
}

/* ---- each row ------------------------------------------------------------------------------- */

enum { ROOM = 256 };

/* What stands beyond the answer, which is all 0xA5 before. */
static size_t written(hsa_status_t (*ask)(uint32_t attribute, void *value), uint32_t attribute,
                      hsa_status_t *status)
{
    unsigned char room[ROOM], other[ROOM];
    size_t bytes = ROOM;

    memset(room, 0xa5, ROOM);
    memset(other, 0x5a, ROOM);
    *status = ask(attribute, room);
    ask(attribute, other);
    while (bytes > 0 && room[bytes - 1] == 0xa5 && other[bytes - 1] == 0x5a)
        bytes--;
    return bytes;
}

static hsa_status_t ask_SYSTEM(uint32_t attribute, void *value)
{
    return hsa_system_get_info(attribute, value);
}
static hsa_status_t ask_HOST(uint32_t attribute, void *value)
{
    return hsa_agent_get_info(host, attribute, value);
}
static hsa_status_t ask_GPU(uint32_t attribute, void *value)
{
    return hsa_agent_get_info(rich, attribute, value);
}
static hsa_status_t ask_poor(uint32_t attribute, void *value)
{
    return hsa_agent_get_info(poor, attribute, value);
}
static hsa_status_t ask_ISA(uint32_t attribute, void *value)
{
    return hsa_isa_get_info_alt((hsa_isa_t){handle_make(HANDLE_OF_ISA, 1, 0)}, attribute, value);
}
static hsa_status_t ask_POOL(uint32_t attribute, void *value)
{
    return hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){handle_make(HANDLE_OF_POOL, 1, 0)},
                                        attribute, value);
}
static hsa_status_t ask_REGION(uint32_t attribute, void *value)
{
    return hsa_region_get_info((hsa_region_t){handle_make(HANDLE_OF_REGION, 1, 1)}, attribute,
                               value);
}
static hsa_status_t ask_LINK(uint32_t attribute, void *value)
{
    return hsa_amd_agent_memory_pool_get_info(
        rich, (hsa_amd_memory_pool_t){handle_make(HANDLE_OF_POOL, 0, 0)}, attribute, value);
}

static void row(hsa_status_t (*ask)(uint32_t attribute, void *value), const char *name,
                uint32_t attribute, size_t bytes, bool may_be_refused)
{
    hsa_status_t status;
    size_t found = written(ask, attribute, &status);

    if (status == HSA_STATUS_ERROR_INVALID_ARGUMENT && may_be_refused)
        return;
    if (status != HSA_STATUS_SUCCESS || (bytes && found != bytes))
        fail_msg("%s: status %#x, %zu bytes and not %zu", name, (unsigned)status, found, bytes);
    REFUSED(ask(attribute, NULL));
}

TEST(each_attribute_has_its_bytes_and_no_more)
{
#define HSA_TOLD(of, attribute, asked, bytes, otherwise, words)                                    \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_TOLD_ONLY(of, attribute, asked, bytes, words)                                          \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_FIXED(of, attribute, asked, bytes, number, words)                                      \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_BY(of, attribute, asked, bytes, function, words)                                       \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_SYMBOL(attribute, asked, words)
#include "hsa/answers.def"
}

/* What a runtime needs of a GPU whose own runtime says little. */
TEST(each_attribute_of_a_gpu_that_says_little_is_answered_or_refused)
{
#define ask_GPU ask_poor
#define HSA_TOLD(of, attribute, asked, bytes, otherwise, words)                                    \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_TOLD_ONLY(of, attribute, asked, bytes, words)                                          \
    row(ask_##of, #attribute, attribute, bytes, true);
#define HSA_FIXED(of, attribute, asked, bytes, number, words)                                      \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_BY(of, attribute, asked, bytes, function, words)                                       \
    row(ask_##of, #attribute, attribute, bytes, false);
#define HSA_SYMBOL(attribute, asked, words)
#include "hsa/answers.def"
#undef ask_GPU
}

/* By the types that callers have for them, whatever the table says. */
TEST(answers_are_as_long_as_their_callers_have_room)
{
    static const struct length {
        uint32_t attribute;
        size_t bytes;
    } lengths[] = {{HSA_AGENT_INFO_NAME, sizeof(char[64])},
                   {HSA_AGENT_INFO_VENDOR_NAME, sizeof(char[64])},
                   {HSA_AGENT_INFO_FEATURE, sizeof(uint32_t)},
                   {HSA_AGENT_INFO_PROFILE, sizeof(hsa_profile_t)},
                   {HSA_AGENT_INFO_WAVEFRONT_SIZE, sizeof(uint32_t)},
                   {HSA_AGENT_INFO_WORKGROUP_MAX_DIM, sizeof(uint16_t[3])},
                   {HSA_AGENT_INFO_GRID_MAX_DIM, sizeof(hsa_dim3_t)},
                   {HSA_AGENT_INFO_QUEUES_MAX, sizeof(uint32_t)},
                   {HSA_AGENT_INFO_QUEUE_MAX_SIZE, sizeof(uint32_t)},
                   {HSA_AGENT_INFO_QUEUE_TYPE, sizeof(hsa_queue_type32_t)},
                   {HSA_AGENT_INFO_DEVICE, sizeof(hsa_device_type_t)},
                   {HSA_AGENT_INFO_CACHE_SIZE, sizeof(uint32_t[4])},
                   {HSA_AGENT_INFO_ISA, sizeof(hsa_isa_t)},
                   {HSA_AGENT_INFO_EXTENSIONS, sizeof(uint8_t[128])},
                   {HSA_AGENT_INFO_VERSION_MAJOR, sizeof(uint16_t)},
                   {HSA_AGENT_INFO_FAST_F16_OPERATION, sizeof(bool)},
                   {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, sizeof(uint32_t)},
                   {HSA_AMD_AGENT_INFO_PRODUCT_NAME, sizeof(char[64])},
                   {HSA_AMD_AGENT_INFO_HDP_FLUSH, sizeof(hsa_amd_hdp_flush_t)},
                   {HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, sizeof(bool)},
                   {HSA_AMD_AGENT_INFO_UUID, sizeof(char[21])},
                   {HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, sizeof(uint64_t)},
                   {HSA_AMD_AGENT_INFO_NEAREST_CPU, sizeof(hsa_agent_t)},
                   {HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, sizeof(uint8_t[8])},
                   {HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX, sizeof(uint64_t)}};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        row(ask_GPU, "an attribute", lengths[i].attribute, lengths[i].bytes, false);
    row(ask_SYSTEM, "version", HSA_SYSTEM_INFO_VERSION_MAJOR, sizeof(uint16_t), false);
    row(ask_SYSTEM, "frequency", HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, sizeof(uint64_t), false);
    row(ask_SYSTEM, "SVM", HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, sizeof(bool), false);
    row(ask_POOL, "flags", HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, sizeof(uint32_t), false);
    row(ask_POOL, "size", HSA_AMD_MEMORY_POOL_INFO_SIZE, sizeof(size_t), false);
    row(ask_LINK, "access", HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, sizeof(uint32_t), false);
}

/* ---- answers that matter -------------------------------------------------------------------- */

static uint64_t number(hsa_agent_t agent, uint32_t attribute)
{
    uint64_t value = 0;

    OK(hsa_agent_get_info(agent, attribute, &value));
    return value;
}

TEST(gpus_are_told_apart_and_are_what_their_runtime_says)
{
    char text[64];
    uint16_t dims[3];
    hsa_agent_t nearest;

    OK(hsa_agent_get_info(rich, HSA_AGENT_INFO_NAME, text));
    assert_string_equal(text, "gfx90a");
    OK(hsa_agent_get_info(poor, HSA_AGENT_INFO_NAME, text));
    assert_string_equal(text, "gfx1100");
    OK(hsa_agent_get_info(rich, HSA_AMD_AGENT_INFO_UUID, text));
    assert_string_equal(text, "GPU-0123456789abcdef");
    OK(hsa_agent_get_info(poor, HSA_AMD_AGENT_INFO_UUID, text));
    assert_string_equal(text, "GPU-XX");
    OK(hsa_agent_get_info(rich, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, dims));
    assert_int_equal(dims[2], 256);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), 104);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT), 100);
    assert_int_equal(number(poor, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT), 1);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU), 4);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_MEMORY_AVAIL), 1000000);
    assert_int_equal(number(rich, HSA_AGENT_INFO_DEVICE), HSA_DEVICE_TYPE_GPU);
    assert_int_equal(number(host, HSA_AGENT_INFO_DEVICE), HSA_DEVICE_TYPE_CPU);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID), 1);
    assert_int_equal(number(poor, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID), 2);
    OK(hsa_agent_get_info(poor, HSA_AMD_AGENT_INFO_NEAREST_CPU, &nearest));
    assert_int_equal(nearest.handle, host.handle);
}

TEST(nothing_says_that_host_and_gpu_have_memory_in_common)
{
    bool flag = true;

    OK(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, &flag));
    assert_false(flag);
    OK(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, &flag));
    assert_false(flag);
    assert_int_equal(number(rich, HSA_AGENT_INFO_PROFILE), HSA_PROFILE_BASE);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES), 0);
    assert_int_equal(number(rich, HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS), 0);
    assert_int_equal(number(rich, HSA_AGENT_INFO_QUEUE_MAX_SIZE), 4096);
}

TEST(what_is_not_in_the_table_is_refused)
{
    uint64_t value;

    REFUSED(hsa_agent_get_info(rich, 0x7777, &value));
    REFUSED(hsa_agent_get_info(rich, HSA_AMD_AGENT_INFO_CLOCK_COUNTERS, &value));
    REFUSED(hsa_system_get_info(0x300, &value));
    REFUSED(hsa_agent_get_info(poor, HSA_AGENT_INFO_WAVEFRONT_SIZE, &value));
}

static hsa_status_t take_isa(hsa_isa_t isa, void *data)
{
    hsa_isa_t **next = data;

    *(*next)++ = isa;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_wavefront(hsa_wavefront_t wavefront, void *data)
{
    *(hsa_wavefront_t *)data = wavefront;
    return HSA_STATUS_INFO_BREAK;
}

TEST(isas_have_names_without_xnack)
{
    hsa_isa_t isas[4], *next = isas, found;
    hsa_wavefront_t wavefront;
    uint32_t length, lanes;
    char name[64];
    bool same;

    OK(hsa_agent_iterate_isas(rich, take_isa, &next));
    assert_int_equal(next - isas, 2);
    memset(name, 'x', sizeof(name));
    OK(hsa_isa_get_info_alt(isas[0], HSA_ISA_INFO_NAME_LENGTH, &length));
    OK(hsa_isa_get_info_alt(isas[0], HSA_ISA_INFO_NAME, name));
    assert_string_equal(name, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert_int_equal(length, strlen(name) + 1);
    OK(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1100", &found));
    OK(hsa_isa_compatible(found, isas[0], &same));
    assert_false(same);
    OK(hsa_isa_compatible(isas[1], isas[1], &same));
    assert_true(same);
    assert_int_equal(hsa_isa_from_name("gfx1100", &found), HSA_STATUS_ERROR_INVALID_ISA_NAME);
    assert_int_equal(hsa_isa_iterate_wavefronts(isas[0], take_wavefront, &wavefront),
                     HSA_STATUS_INFO_BREAK);
    OK(hsa_wavefront_get_info(wavefront, HSA_WAVEFRONT_INFO_SIZE, &lanes));
    assert_int_equal(lanes, 64);
    next = isas;
    OK(hsa_agent_iterate_isas(host, take_isa, &next));
    assert_ptr_equal(next, isas);
}

static hsa_status_t take_cache(hsa_cache_t cache, void *data)
{
    hsa_cache_t **next = data;

    *(*next)++ = cache;
    return HSA_STATUS_SUCCESS;
}

TEST(caches_are_those_with_a_size)
{
    hsa_cache_t caches[4], *next = caches;
    uint32_t length, bytes;
    uint8_t level;
    char name[4] = {0};

    OK(hsa_agent_iterate_caches(rich, take_cache, &next));
    assert_int_equal(next - caches, 2);
    OK(hsa_cache_get_info(caches[1], HSA_CACHE_INFO_NAME_LENGTH, &length));
    assert_int_equal(length, 2);
    OK(hsa_cache_get_info(caches[1], HSA_CACHE_INFO_NAME, name));
    assert_string_equal(name, "L2");
    OK(hsa_cache_get_info(caches[1], HSA_CACHE_INFO_LEVEL, &level));
    assert_int_equal(level, 2);
    OK(hsa_cache_get_info(caches[1], HSA_CACHE_INFO_SIZE, &bytes));
    assert_int_equal(bytes, 8 << 20);
    REFUSED(hsa_cache_get_info(caches[1], (hsa_cache_info_t)9, &bytes));
    next = caches;
    OK(hsa_agent_iterate_caches(poor, take_cache, &next));
    assert_ptr_equal(next, caches);
}

/* ---- pools ---------------------------------------------------------------------------------- */

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_memory_pool_t **next = data;

    *(*next)++ = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_region(hsa_region_t region, void *data)
{
    hsa_region_t **next = data;

    *(*next)++ = region;
    return HSA_STATUS_SUCCESS;
}

static uint32_t access_of(hsa_agent_t agent, hsa_amd_memory_pool_t pool)
{
    uint32_t access;

    OK(hsa_amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                          &access));
    return access;
}

TEST(the_host_has_a_pool_for_each_set_of_flags)
{
    hsa_amd_memory_pool_t pools[8], *next = pools;
    static const uint32_t wanted[] = {2, 3, 4};
    uint32_t flags;
    size_t granule;

    OK(hsa_amd_agent_iterate_memory_pools(host, take_pool, &next));
    assert_int_equal(next - pools, 3);
    for (int i = 0; i < 3; i++) {
        OK(hsa_amd_memory_pool_get_info(pools[i], HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
        assert_int_equal(flags, wanted[i]);
        OK(hsa_amd_memory_pool_get_info(pools[i], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT,
                                        &granule));
        assert_int_equal(granule, 4096);
        assert_int_equal(access_of(host, pools[i]), HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
        assert_int_equal(access_of(rich, pools[i]),
                         HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    }
}

TEST(a_gpu_has_its_memory_and_that_of_its_groups)
{
    hsa_amd_memory_pool_t pools[8], *next = pools;
    uint32_t segment, hops;
    size_t bytes;
    bool can = true;
    struct pool pool;

    OK(hsa_amd_agent_iterate_memory_pools(rich, take_pool, &next));
    assert_int_equal(next - pools, 2);
    OK(hsa_amd_memory_pool_get_info(pools[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes));
    assert_int_equal(bytes, 64ull << 30);
    OK(hsa_amd_memory_pool_get_info(pools[1], HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    assert_int_equal(segment, HSA_AMD_SEGMENT_GROUP);
    OK(hsa_amd_memory_pool_get_info(pools[1], HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes));
    assert_int_equal(bytes, 65536);
    OK(hsa_amd_memory_pool_get_info(pools[1], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE,
                                    &bytes));
    assert_int_equal(bytes, 0);
    assert_int_equal(access_of(host, pools[0]), HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
    assert_int_equal(access_of(poor, pools[0]), HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
    assert_int_equal(access_of(rich, pools[0]), HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
    OK(hsa_amd_agent_memory_pool_get_info(rich, pools[0],
                                          HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops));
    assert_int_equal(hops, 0);
    OK(hsa_amd_memory_pool_can_migrate(pools[0], pools[0], &can));
    assert_false(can);
    assert_true(pool_of(pools[0], &pool));
    assert_ptr_equal(pool.gpu, gpu_of(rich));
    assert_true(pool.allocates);
    assert_true(pool_of(pools[1], &pool));
    assert_false(pool.allocates);
}

TEST(gcc_finds_regions_for_arguments_and_data_at_the_gpu)
{
    hsa_region_t regions[8], *next = regions;
    uint32_t flags;
    struct pool pool;

    OK(hsa_agent_iterate_regions(rich, take_region, &next));
    assert_int_equal(next - regions, 3);
    OK(hsa_region_get_info(regions[0], HSA_REGION_INFO_GLOBAL_FLAGS, &flags));
    assert_true(flags & HSA_REGION_GLOBAL_FLAG_KERNARG);
    assert_true(pool_of_region(regions[0], &pool) && !pool.gpu);
    OK(hsa_region_get_info(regions[1], HSA_REGION_INFO_GLOBAL_FLAGS, &flags));
    assert_int_equal(flags, HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED);
    assert_true(pool_of_region(regions[1], &pool) && pool.gpu == gpu_of(rich));
}

/* ---- wrong handles -------------------------------------------------------------------------- */

TEST(handles_of_something_else_are_found_out)
{
    hsa_agent_t none = {0}, beyond = {handle_make(HANDLE_OF_AGENT, 3, 0)};
    uint64_t value;
    uint32_t mask;
    struct pool pool;

    assert_int_equal(hsa_agent_get_info(none, 0, &value), HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_agent_get_info(beyond, 0, &value), HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_amd_agent_iterate_memory_pools(beyond, take_pool, NULL),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_agent_iterate_regions(none, take_region, NULL),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){0}, 0, &value),
                     HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    assert_int_equal(hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){rich.handle}, 0, &value),
                     HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    assert_int_equal(hsa_region_get_info((hsa_region_t){0}, 0, &value),
                     HSA_STATUS_ERROR_INVALID_REGION);
    assert_int_equal(hsa_isa_get_info_alt((hsa_isa_t){handle_make(HANDLE_OF_ISA, 1, 2)},
                                          HSA_ISA_INFO_NAME_LENGTH, &value),
                     HSA_STATUS_ERROR_INVALID_ISA);
    assert_int_equal(hsa_cache_get_info((hsa_cache_t){handle_make(HANDLE_OF_CACHE, 1, 3)},
                                        HSA_CACHE_INFO_SIZE, &value),
                     HSA_STATUS_ERROR_INVALID_CACHE);
    assert_int_equal(hsa_amd_memory_copy_engine_status(beyond, rich, &mask),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    assert_false(pool_of((hsa_amd_memory_pool_t){handle_make(HANDLE_OF_POOL, 0, 3)}, &pool));
    assert_false(pool_of_region((hsa_region_t){handle_make(HANDLE_OF_REGION, 3, 0)}, &pool));
}

/* ---- extensions, engines, times ------------------------------------------------------------- */

TEST(the_loader_fills_no_more_than_its_caller_has_room_for)
{
    void *table[8];
    hsa_ven_amd_loader_1_03_pfn_t *loader = (void *)table;
    const void *where;
    uint16_t minor;
    size_t count = 0;
    bool there;

    memset(table, 0xa5, sizeof(table));
    OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 16, table));
    assert_non_null(table[1]);
    assert_int_equal((uintptr_t)table[2], 0xa5a5a5a5a5a5a5a5);
    OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(table), table));
    assert_int_equal((uintptr_t)table[3], 0xa5a5a5a5a5a5a5a5);
    REFUSED(loader->hsa_ven_amd_loader_query_host_address(table, &where));
    OK(loader->hsa_ven_amd_loader_query_segment_descriptors(NULL, &count));
    OK(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &minor, &there));
    assert_true(there && minor == 0);
    OK(hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, &there));
    assert_false(there);
    OK(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, rich, 1, 0, &there));
    assert_false(there);
    assert_int_equal(hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, 24, table),
                     HSA_STATUS_ERROR);
    REFUSED(hsa_system_extension_supported(0x777, 1, 0, &there));
}

TEST(there_is_no_engine_to_choose)
{
    uint32_t mask = 7;

    OK(hsa_amd_memory_copy_engine_status(rich, host, &mask));
    assert_int_equal(mask, 0);
    mask = 7;
    OK(hsa_amd_memory_get_preferred_copy_engine(host, rich, &mask));
    assert_int_equal(mask, 0);
}

TEST(times_are_those_of_the_signal)
{
    amd_signal_t signal = {.kind = AMD_SIGNAL_KIND_USER, .value = 1};
    hsa_signal_t handle = {(uintptr_t)&signal};
    hsa_amd_profiling_dispatch_time_t time;
    hsa_queue_t queue = {0};
    uint64_t tick;

    OK(hsa_amd_profiling_set_profiler_enabled(&queue, 1));
    OK(hsa_amd_profiling_async_copy_enable(true));
    assert_int_equal(hsa_amd_profiling_get_dispatch_time(rich, handle, &time), HSA_STATUS_ERROR);
    signal.start_ts = 100, signal.end_ts = 200;
    OK(hsa_amd_profiling_get_dispatch_time(rich, handle, &time));
    assert_true(time.start == 100 && time.end == 200);
    OK(hsa_amd_profiling_get_async_copy_time(handle, &time));
    assert_int_equal(hsa_amd_profiling_get_dispatch_time(host, handle, &time),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    OK(hsa_amd_profiling_convert_tick_to_system_domain(rich, 77, &tick));
    assert_int_equal(tick, 77);
}

/* ---- refused, lost, without GPUs ------------------------------------------------------------ */

TEST(what_is_refused_says_so_once)
{
    fake.said = 0;
    assert_int_equal(hsa_amd_ipc_memory_create(), HSA_STATUS_ERROR);
    assert_int_equal(hsa_amd_ipc_memory_create(), HSA_STATUS_ERROR);
    assert_int_equal(fake.said, 1);
    assert_non_null(strstr(fake.line, "hsa_amd_ipc_memory_create returns HSA_STATUS_ERROR: "));
    assert_int_equal(hsa_amd_svm_attributes_get(), HSA_STATUS_ERROR);
    assert_int_equal(fake.said, 1); /* with OMPRMA_VERBOSE only */
}

static int lost;

static void gpu_is_lost(struct gpu *gpu, hsa_status_t status)
{
    assert_ptr_equal(gpu, gpu_of(poor));
    assert_int_equal(status, HSA_STATUS_ERROR_MEMORY_FAULT);
    lost++;
}

TEST(a_lost_gpu_is_told_of_once_and_keeps_its_error)
{
    uint64_t bytes;

    gpu_when_lost(gpu_is_lost);
    fake.code = HSA_STATUS_ERROR_MEMORY_FAULT;
    assert_int_equal(result_of(gpu_of(poor), OMPRMA_ERR_KERNEL), HSA_STATUS_ERROR_MEMORY_FAULT);
    fake.code = 0;
    assert_int_equal(result_of(gpu_of(poor), OMPRMA_ERR_DEVICE_LOST), HSA_STATUS_ERROR_FATAL);
    assert_int_equal(lost, 1);
    assert_int_equal(gpu_usable(gpu_of(poor)), HSA_STATUS_ERROR_MEMORY_FAULT);
    assert_int_equal(gpu_usable(gpu_of(rich)), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_agent_get_info(poor, HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &bytes),
                     HSA_STATUS_ERROR_MEMORY_FAULT);
    assert_int_equal(result_quiet(NULL, OMPRMA_ERR_IMAGE), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

TEST(processors_are_found_in_names)
{
    char processor[8];

    isa_processor("amdgcn-amd-amdhsa--gfx90a:xnack-", processor, sizeof(processor));
    assert_string_equal(processor, "gfx90a");
    isa_processor("amdgcn", processor, sizeof(processor));
    assert_string_equal(processor, "");
    isa_processor("a--gfx9-4-generic", processor, sizeof(processor));
    assert_string_equal(processor, ""); /* no room */
}

TEST(without_a_gpu_those_that_need_one_are_told)
{
    fake.other = true;
    fake.said = 0;
    setenv("OMP_TARGET_OFFLOAD", "DEFAULT", 1);
    gpus_find();
    assert_int_equal(gpu_count(), 0);
    assert_int_equal(fake.said, 0);
    setenv("OMP_TARGET_OFFLOAD", "MANDATORY", 1);
    gpus_find();
    assert_int_equal(fake.said, 1);
    assert_non_null(strstr(fake.line, "no worker has an AMD GPU that it can use (4 devices of"));
    fake.other = false;
}

TEST(gpus_whose_answers_are_damaged_are_left_out_with_a_line)
{
    fake.damaged = true;
    fake.said = 0;
    gpus_find();
    assert_int_equal(gpu_count(), 0);
    assert_int_equal(fake.said, 2);
    assert_non_null(strstr(fake.line, "does not say which instruction set it has"));
}
