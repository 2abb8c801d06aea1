/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hsa_program.h: what plain programs for the HSA interface begin with: all GPUs, each with the
 * kernels of the stand-in and a queue; signals, packets. Where something fails, it says so and
 * ends.
 */
#ifndef OMPRMA_TESTS_HSA_PROGRAM_H
#define OMPRMA_TESTS_HSA_PROGRAM_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/hsa/code_object.h"

enum { GPUS_MOST = 16 };

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == HSA_STATUS_SUCCESS)

struct gpu {
    hsa_agent_t agent;
    hsa_amd_memory_pool_t memory;
    hsa_executable_t executable;
    hsa_queue_t *queue;
};

static struct gpu gpus[GPUS_MOST];
static hsa_agent_t host;
static hsa_amd_memory_pool_t arguments;
static int count;

/* ---- what there is ---- */

static inline hsa_status_t note_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;

    (void)data;
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        host = agent;
    else
        gpus[count++].agent = agent;
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void *data)
{
    const uint32_t *wanted = data;
    hsa_amd_segment_t segment;
    uint32_t flags;

    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (!(flags & *wanted))
        return HSA_STATUS_SUCCESS;
    memcpy(data, &pool, sizeof(pool));
    return HSA_STATUS_INFO_BREAK;
}

static inline hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, uint32_t flag)
{
    uint64_t found = flag;

    CHECK(hsa_amd_agent_iterate_memory_pools(agent, note_pool, &found) == HSA_STATUS_INFO_BREAK);
    return (hsa_amd_memory_pool_t){found};
}

static inline void load(struct gpu *gpu)
{
    hsa_code_object_reader_t reader;
    size_t bytes;
    void *image = code_object_of_standin(&bytes);

    OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, "",
                                 &gpu->executable));
    OK(hsa_code_object_reader_create_from_memory(image, bytes, &reader));
    OK(hsa_executable_load_agent_code_object(gpu->executable, gpu->agent, reader, "", NULL));
    OK(hsa_executable_freeze(gpu->executable, ""));
    OK(hsa_code_object_reader_destroy(reader));
    free(image);
}

static hsa_status_t expected; /* from the queue */

static inline void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    CHECK(queue && data == &expected);
    if (expected && status == expected)
        puts("right");
    else
        printf("queue error %#x\n", status);
    fflush(stdout);
    _exit(expected && status == expected ? 0 : 3);
}

static inline void start(void)
{
    OK(hsa_init());
    OK(hsa_iterate_agents(note_agent, NULL));
    arguments = pool_of(host, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
    for (int i = 0; i < count; i++) {
        gpus[i].memory = pool_of(gpus[i].agent, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
        load(&gpus[i]);
        OK(hsa_queue_create(gpus[i].agent, 64, HSA_QUEUE_TYPE_MULTI, on_queue_error, &expected,
                            UINT32_MAX, UINT32_MAX, &gpus[i].queue));
    }
}

static inline void end(void)
{
    for (int i = 0; i < count; i++) {
        OK(hsa_queue_destroy(gpus[i].queue));
        OK(hsa_executable_destroy(gpus[i].executable));
    }
    OK(hsa_shut_down());
}

/* ---- pieces ---- */

static inline hsa_signal_t signal_at(hsa_signal_value_t value)
{
    hsa_signal_t signal;

    OK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

static inline void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) != 0)
        ;
}

static inline hsa_executable_symbol_t symbol_of(const struct gpu *gpu, const char *name)
{
    hsa_executable_symbol_t symbol;

    OK(hsa_executable_get_symbol_by_name(gpu->executable, name, &gpu->agent, &symbol));
    return symbol;
}

/* A packet, with the barrier bit or without. */
static inline void submit(const struct gpu *gpu, const void *packet, uint16_t type, bool barrier)
{
    uint16_t header =
        (uint16_t)(type << HSA_PACKET_HEADER_TYPE | barrier << HSA_PACKET_HEADER_BARRIER |
                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    uint64_t index = hsa_queue_add_write_index_relaxed(gpu->queue, 1);
    char *at = (char *)gpu->queue->base_address + index % gpu->queue->size * 64;

    while (index - hsa_queue_load_read_index_scacquire(gpu->queue) >= gpu->queue->size)
        usleep(100);
    memcpy(at + 2, (const char *)packet + 2, 62);
    __atomic_store_n((uint16_t *)(void *)at, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(gpu->queue->doorbell_signal, (hsa_signal_value_t)index);
}

static inline void launch(const struct gpu *gpu, const char *name, uint64_t *words, bool barrier,
                          hsa_signal_t done)
{
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = 64,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = 256,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernarg_address = words,
                                           .completion_signal = done};
    hsa_executable_symbol_t symbol = symbol_of(gpu, name);

    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                      &packet.kernel_object));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
                                      &packet.group_segment_size));
    OK(hsa_executable_symbol_get_info(symbol,
                                      HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                      &packet.private_segment_size));
    submit(gpu, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier);
}

static inline void *allocate(hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *memory;

    OK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    return memory;
}

#endif
