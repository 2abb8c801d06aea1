/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_hsa.c: AMD GPUs, by the HSA interface, as plugins of LLVM and as HIP use it: each copy, and
 * each launch behind which something else may follow, has a signal for what comes behind it. What a
 * call does is said in gpu.h.
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/exports.h"

enum { KERNELS_MOST = 16, SIGNALS = 64, PACKETS = 2048, ROW = GPU_WORDS * 8 + 256 };

struct gpu_kernel {
    uint64_t object;
    uint32_t group_bytes, private_bytes;
};

static struct {
    hsa_agent_t host, gpus[2];
    int count;
    hsa_amd_memory_pool_t memory[2], arguments, plain;
    hsa_queue_t *queue;
    hsa_executable_t executable;
    hsa_signal_t signals[SIGNALS]; /* in turns; one wait at least in so many operations */
    hsa_signal_t last;             /* of the operation before; of no operation: handle 0 */
    int used;                      /* signals, since gpu_wait() */
    bool last_is_copy;
    char *rows; /* of kernel arguments, in turns */
    uint64_t launches;
    struct gpu_kernel kernels[KERNELS_MOST];
    int kernel_count;
    char isa[128], name[64];
} at;

#define OK(call) check(#call, call)
static void check(const char *what, hsa_status_t status)
{
    const char *text = "";

    if (status == HSA_STATUS_SUCCESS)
        return;
    hsa_status_string(status, &text);
    fprintf(stderr, "gpu: %s: %s (%#x)\n", what, text ? text : "", (unsigned)status);
    exit(1);
}

/* ---- start ---- */

static hsa_status_t note_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;

    (void)data;
    OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU && !at.host.handle)
        at.host = agent;
    else if (type == HSA_DEVICE_TYPE_GPU && at.count < 2)
        at.gpus[at.count++] = agent;
    return HSA_STATUS_SUCCESS;
}

struct wanted {
    uint32_t flags;
    hsa_amd_memory_pool_t found;
};

static hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct wanted *wanted = data;
    hsa_amd_segment_t segment;
    uint32_t flags;

    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (!(flags & wanted->flags))
        return HSA_STATUS_SUCCESS;
    wanted->found = pool;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, uint32_t flags)
{
    struct wanted wanted = {.flags = flags};

    if (hsa_amd_agent_iterate_memory_pools(agent, note_pool, &wanted) != HSA_STATUS_INFO_BREAK) {
        fprintf(stderr, "gpu: there is no pool of memory with flags %#x\n", flags);
        exit(1);
    }
    return wanted.found;
}

static hsa_status_t note_isa(hsa_isa_t isa, void *data)
{
    (void)data;
    OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, at.isa));
    return HSA_STATUS_INFO_BREAK;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": of the last part, without features. */
static const char *processor(void)
{
    hsa_status_t status = hsa_agent_iterate_isas(at.gpus[0], note_isa, NULL);
    char *name;

    if (status != HSA_STATUS_INFO_BREAK)
        OK(status);
    at.isa[strcspn(at.isa, ":")] = '\0';
    name = strrchr(at.isa, '-');
    return name ? name + 1 : at.isa;
}

static void *read_code(const char *kernels, size_t *bytes)
{
    char path[4096];
    FILE *file;
    void *code;
    long end;

    snprintf(path, sizeof(path), "%s.%s", kernels, processor());
    file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "gpu: there is no code for %s here: %s\n", processor(), path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    end = ftell(file);
    rewind(file);
    *bytes = end > 0 ? (size_t)end : 0;
    code = malloc(*bytes + 1);
    if (!code || fread(code, 1, *bytes, file) != *bytes) {
        fprintf(stderr, "gpu: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return code;
}

static void load(const char *kernels)
{
    hsa_code_object_reader_t reader;
    size_t bytes;
    void *code = read_code(kernels, &bytes);

    OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, "",
                                 &at.executable));
    OK(hsa_code_object_reader_create_from_memory(code, bytes, &reader));
    OK(hsa_executable_load_agent_code_object(at.executable, at.gpus[0], reader, "", NULL));
    OK(hsa_executable_freeze(at.executable, ""));
    OK(hsa_code_object_reader_destroy(reader)); /* the code stays */
}

/* A kernel that faults ends here, or in the runtime's handler of memory faults. */
static void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    (void)data;
    check("the queue", status);
}

static void no_gpu(void)
{
    fputs("gpu: there is no AMD GPU here\n", stderr);
    exit(GPU_NONE);
}

int gpu_begin(const char *kernels)
{
    hsa_status_t status = hsa_init();

    if (status == HSA_STATUS_ERROR_OUT_OF_RESOURCES)
        no_gpu();
    OK(status);
    OK(hsa_iterate_agents(note_agent, NULL));
    if (at.count == 0)
        no_gpu();
    load(kernels);
    OK(hsa_agent_get_info(at.gpus[0], HSA_AGENT_INFO_NAME, at.name));
    at.arguments = pool_of(at.host, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
    at.plain = pool_of(at.host, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    for (int i = 0; i < at.count; i++)
        at.memory[i] = pool_of(at.gpus[i], HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    OK(hsa_queue_create(at.gpus[0], PACKETS, HSA_QUEUE_TYPE_MULTI, on_queue_error, NULL, UINT32_MAX,
                        UINT32_MAX, &at.queue));
    for (int i = 0; i < SIGNALS; i++)
        OK(hsa_signal_create(1, 0, NULL, &at.signals[i]));
    OK(hsa_amd_memory_pool_allocate(at.arguments, (size_t)GPU_AHEAD * ROW, 0, (void **)&at.rows));
    OK(hsa_amd_agents_allow_access(1, at.gpus, NULL, at.rows));
    return at.count;
}

const char *gpu_name(void)
{
    return at.name;
}

/* ---- memory ---- */

uint64_t gpu_allocate(int gpu, size_t bytes)
{
    void *memory;

    OK(hsa_amd_memory_pool_allocate(at.memory[gpu], bytes, 0, &memory));
    if (at.count > 1)
        OK(hsa_amd_agents_allow_access(1, &at.gpus[1 - gpu], NULL, memory));
    return (uint64_t)(uintptr_t)memory;
}

void *gpu_host(size_t bytes)
{
    void *memory;

    OK(hsa_amd_memory_pool_allocate(at.plain, bytes, 0, &memory));
    OK(hsa_amd_agents_allow_access((uint32_t)at.count, at.gpus, NULL, memory));
    memset(memory, 0, bytes);
    return memory;
}

/* ---- kernels ---- */

const struct gpu_kernel *gpu_kernel(const char *name)
{
    struct gpu_kernel *kernel = &at.kernels[at.kernel_count++];
    hsa_executable_symbol_t symbol;
    char full[128];

    if (at.kernel_count > KERNELS_MOST)
        abort();
    snprintf(full, sizeof(full), "%s.kd", name);
    OK(hsa_executable_get_symbol_by_name(at.executable, full, &at.gpus[0], &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                      &kernel->object));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
                                      &kernel->group_bytes));
    OK(hsa_executable_symbol_get_info(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &kernel->private_bytes));
    return kernel;
}

/* For the operation that is asked for now. */
static hsa_signal_t next_signal(bool copy)
{
    if (at.used == SIGNALS) { /* all have been used since the last wait */
        fputs("gpu: too many operations before a wait\n", stderr);
        exit(1);
    }
    at.last = at.signals[at.used++];
    at.last_is_copy = copy;
    hsa_signal_store_relaxed(at.last, 1);
    return at.last;
}

static void put_packet(const void *packet, unsigned type)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(at.queue, 1);
    char *slot = (char *)at.queue->base_address + index % at.queue->size * 64;
    uint16_t header = (uint16_t)(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);

    memcpy(slot + 2, (const char *)packet + 2, 62);
    __atomic_store_n((uint16_t *)(void *)slot, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(at.queue->doorbell_signal, (hsa_signal_value_t)index);
}

void gpu_launch(const struct gpu_kernel *kernel, unsigned groups, const uint64_t *words,
                unsigned count, enum gpu_behind behind)
{
    char *row = at.rows + at.launches++ % GPU_AHEAD * ROW;
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = GPU_GROUP,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = groups * GPU_GROUP,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .private_segment_size = kernel->private_bytes,
                                           .group_segment_size = kernel->group_bytes,
                                           .kernel_object = kernel->object,
                                           .kernarg_address = row};

    memcpy(row, words, count * sizeof(*words));
    if (at.last.handle && at.last_is_copy && hsa_signal_load_scacquire(at.last) != 0) {
        hsa_barrier_and_packet_t barrier = {.dep_signal = {at.last}};

        put_packet(&barrier, HSA_PACKET_TYPE_BARRIER_AND);
    }
    at.last = (hsa_signal_t){0};
    if (behind == GPU_LAST)
        packet.completion_signal = next_signal(false);
    put_packet(&packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

/* ---- copies ---- */

static void copy(uint64_t to, hsa_agent_t to_agent, uint64_t from, hsa_agent_t from_agent,
                 size_t bytes)
{
    hsa_signal_t before = at.last, done;
    uint32_t count = before.handle && hsa_signal_load_scacquire(before) != 0;

    done = next_signal(true);
    OK(hsa_amd_memory_async_copy((void *)(uintptr_t)to, to_agent, (void *)(uintptr_t)from,
                                 from_agent, bytes, count, count ? &before : NULL, done));
}

void gpu_submit(uint64_t to, const void *from, size_t bytes)
{
    copy(to, at.gpus[0], (uint64_t)(uintptr_t)from, at.gpus[0], bytes);
}

void gpu_retrieve(void *to, uint64_t from, size_t bytes)
{
    copy((uint64_t)(uintptr_t)to, at.gpus[0], from, at.gpus[0], bytes);
}

void gpu_exchange(uint64_t to, uint64_t from, size_t bytes)
{
    copy(to, at.gpus[1], from, at.gpus[0], bytes);
}

void gpu_wait(void)
{
    hsa_signal_value_t value = at.last.handle ? 1 : 0;

    while (value > 0)
        value = hsa_signal_wait_scacquire(at.last, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                          HSA_WAIT_STATE_BLOCKED);
    if (value < 0) {
        fputs("gpu: a copy or a kernel has failed\n", stderr);
        exit(1);
    }
    at.last = (hsa_signal_t){0};
    at.used = 0;
}
