/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* program.h: what tests of the HSA library's work begin with: GPUs, pools, queues, kernels. */
#ifndef OMPRMA_TESTS_HSA_PROGRAM_H
#define OMPRMA_TESTS_HSA_PROGRAM_H

#include "hsa/exports.h"
#include "tests/unit/hsa/late_gpus.h"

#define OK(call) assert_int_equal((call), HSA_STATUS_SUCCESS)

static struct program {
    hsa_agent_t host, gpu[LATE_DEVICES];
    int count;
    hsa_amd_memory_pool_t memory[LATE_DEVICES], arguments;
    hsa_queue_t *queue[LATE_DEVICES];
    hsa_executable_t executable[LATE_DEVICES];
    hsa_status_t told[LATE_DEVICES]; /* by the callbacks of the queues */
} program;

static hsa_status_t program_agent(hsa_agent_t agent, void *data)
{
    uint32_t kind;

    (void)data;
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &kind));
    if (kind == 1)
        program.gpu[program.count++] = agent;
    else
        program.host = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t program_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_memory_pool_t *found = data;
    uint32_t segment, flags;

    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (!(flags & found->handle))
        return HSA_STATUS_SUCCESS;
    *found = pool;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_amd_memory_pool_t program_pool_of(hsa_agent_t agent, uint32_t flag)
{
    hsa_amd_memory_pool_t pool = {flag};

    assert_int_equal(hsa_amd_agent_iterate_memory_pools(agent, program_pool, &pool),
                     HSA_STATUS_INFO_BREAK);
    return pool;
}

static void program_told(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    assert_non_null(queue);
    __atomic_store_n((hsa_status_t *)data, status, __ATOMIC_SEQ_CST);
}

static void program_load(int gpu)
{
    hsa_code_object_reader_t reader;

    OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                 &program.executable[gpu]));
    OK(hsa_code_object_reader_create_from_memory("code", 4, &reader));
    OK(hsa_executable_load_agent_code_object(program.executable[gpu], program.gpu[gpu], reader,
                                             NULL, NULL));
    OK(hsa_executable_freeze(program.executable[gpu], NULL));
    OK(hsa_code_object_reader_destroy(reader));
}

static int program_start(void **state)
{
    (void)state;
    OK(hsa_init());
    OK(hsa_iterate_agents(program_agent, NULL));
    assert_int_equal(program.count, LATE_DEVICES);
    program.arguments = program_pool_of(program.host, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
    for (int i = 0; i < LATE_DEVICES; i++) {
        program.memory[i] =
            program_pool_of(program.gpu[i], HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
        program_load(i);
        OK(hsa_queue_create(program.gpu[i], 64, HSA_QUEUE_TYPE_MULTI, program_told,
                            &program.told[i], 0, 0, &program.queue[i]));
    }
    return 0;
}

static inline int program_end(void **state)
{
    (void)state;
    for (int i = 0; i < LATE_DEVICES; i++) {
        OK(hsa_queue_destroy(program.queue[i]));
        OK(hsa_executable_destroy(program.executable[i]));
    }
    assert_int_equal(late.unloaded, LATE_DEVICES);
    OK(hsa_shut_down());
    return 0;
}

static inline void *program_allocate(hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *memory = NULL;

    OK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    return memory;
}

static inline hsa_signal_t program_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal;

    OK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

static inline void program_wait(hsa_signal_t signal)
{
    assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                               HSA_WAIT_STATE_BLOCKED),
                     0);
}

/* Into the next place of the queue. */
static inline void program_packet(int gpu, const void *packet, unsigned type)
{
    hsa_queue_t *queue = program.queue[gpu];
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    char *place = (char *)queue->base_address + index % queue->size * 64;

    assert_true(index - hsa_queue_load_read_index_relaxed(queue) < queue->size);
    memcpy(place + 2, (const char *)packet + 2, 62);
    __atomic_store_n((uint16_t *)(void *)place, (uint16_t)type, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static inline uint64_t program_kernel(int gpu, const char *name)
{
    hsa_executable_symbol_t symbol;
    uint64_t object = 0;

    OK(hsa_executable_get_symbol_by_name(program.executable[gpu], name, &program.gpu[gpu],
                                         &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    return object;
}

static inline void program_launch(int gpu, const char *name, void *words, hsa_signal_t done)
{
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = 64,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = 256,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .group_segment_size = 16,
                                           .private_segment_size = 32,
                                           .kernel_object = program_kernel(gpu, name),
                                           .kernarg_address = words,
                                           .completion_signal = done};
    program_packet(gpu, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

static inline void program_barrier(int gpu, const hsa_signal_t *needed, int count,
                                   hsa_signal_t done)
{
    hsa_barrier_and_packet_t packet = {.completion_signal = done};

    for (int i = 0; i < count; i++)
        packet.dep_signal[i] = needed[i];
    program_packet(gpu, &packet, HSA_PACKET_TYPE_BARRIER_AND);
}

static inline void program_copy(int gpu, void *to, const void *from, size_t bytes,
                                const hsa_signal_t *needed, uint32_t count, hsa_signal_t done)
{
    OK(hsa_amd_memory_async_copy(to, program.gpu[gpu], from, program.gpu[gpu], bytes, count,
                                 count ? needed : NULL, done));
}

#endif
