/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.c: a dispatch packet is looked at as hardware would, and a host function is called in the
 * kernel's place; what happens when that goes wrong. See standin.h.
 */
#include "standin.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLERS_MOST = 8, GROUP_MOST = 1024, SHARED_MOST = 65536 };

/* ---- faults ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    hsa_amd_system_event_callback_t function;
    void *data;
} handlers[HANDLERS_MOST];
static int handler_count;

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t function,
                                                   void *data)
{
    bool room;

    ENTER;
    pthread_mutex_lock(&lock);
    room = handler_count < HANDLERS_MOST;
    if (room) {
        handlers[handler_count].function = function;
        handlers[handler_count++].data = data;
    }
    pthread_mutex_unlock(&lock);
    return room ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

void handlers_forget(void)
{
    pthread_mutex_lock(&lock);
    handler_count = 0;
    pthread_mutex_unlock(&lock);
}

struct fault {
    struct agent *agent;
    uint64_t address;
    struct queue *queue; /* of what is no memory fault */
    hsa_status_t status;
    char words[256];
};

static void tell_memory_fault(void *data)
{
    struct fault *fault = data;
    const hsa_amd_event_t event = {HSA_AMD_GPU_MEMORY_FAULT_EVENT,
                                   {{agent_handle(fault->agent), fault->address, 1}}};
    bool handled = false;

    for (int i = 0; i < handler_count; i++)
        handled |= handlers[i].function(&event, handlers[i].data) == HSA_STATUS_SUCCESS;
    if (!handled) {
        fprintf(stderr, "stand-in: GPU %d touched address %#llx: %s\n", fault->agent->device,
                (unsigned long long)fault->address, fault->words);
        abort();
    }
    free(fault);
}

static void tell_queue_fault(void *data)
{
    struct fault *fault = data;

    if (fault->queue->on_error)
        fault->queue->on_error(fault->status, &fault->queue->amd.hsa_queue, fault->queue->data);
    free(fault);
}

static struct fault *make_fault(struct agent *agent, const char *words)
{
    struct fault *fault = calloc(1, sizeof(*fault));

    if (!fault)
        abort();
    fault->agent = agent;
    snprintf(fault->words, sizeof(fault->words), "%s", words);
    return fault;
}

void agent_fault(struct agent *agent, uint64_t address, const char *words)
{
    struct fault *fault;

    if (agent->device < 0)
        agent = agent_of_device(0);
    if (copies_lose(agent))
        return;
    fault = make_fault(agent, words);
    fault->address = address;
    handlers_call(tell_memory_fault, fault);
}

void queue_fault(struct queue *queue, hsa_status_t status, const char *words)
{
    struct fault *fault = make_fault(queue->agent, words);

    fprintf(stderr, "stand-in: GPU %d: %s\n", queue->agent->device, words);
    queue->inactive = true;
    fault->queue = queue;
    fault->status = status;
    handlers_call(tell_queue_fault, fault);
}

/* ---- packets ---- */

/* What is wrong with it; NULL: nothing. */
static const char *check_packet(const hsa_kernel_dispatch_packet_t *packet,
                                const struct kernel *kernel)
{
    unsigned dimensions = packet->setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS & 3;
    uint32_t threads =
        (uint32_t)packet->workgroup_size_x * packet->workgroup_size_y * packet->workgroup_size_z;

    if (dimensions < 1)
        return "a packet without dimensions";
    if (threads == 0 || threads > GROUP_MOST)
        return "a work group of a size that no GPU has";
    if (!packet->grid_size_x || !packet->grid_size_y || !packet->grid_size_z)
        return "a grid without work items";
    if (dimensions < 2 && (packet->grid_size_y != 1 || packet->workgroup_size_y != 1))
        return "a grid of more dimensions than the packet says";
    if (dimensions < 3 && (packet->grid_size_z != 1 || packet->workgroup_size_z != 1))
        return "a grid of more dimensions than the packet says";
    if (packet->group_segment_size < kernel->symbol->group_bytes ||
        packet->group_segment_size > SHARED_MOST)
        return "a packet with less group memory than its kernel needs, or more than there is";
    if (packet->private_segment_size < kernel->symbol->private_bytes)
        return "a packet with less private memory than its kernel needs";
    return NULL;
}

/* Of one argument: by value, or its address where it is larger. */
static uint64_t word_of(const char *block, const struct object_argument *argument)
{
    uint64_t word = 0;

    if (argument->bytes > sizeof(word))
        return (uint64_t)(uintptr_t)(block + argument->offset);
    memcpy(&word, block + argument->offset, argument->bytes);
    return word;
}

/* gcc says nothing of its arguments: a kernel has one, the block's first word. */
static uint32_t count_words(const struct object_symbol *symbol)
{
    if (symbol->described && symbol->count)
        return symbol->count;
    return symbol->argument_bytes ? symbol->argument_bytes / 8 : 1;
}

static size_t bytes_of_words(const struct object_symbol *symbol)
{
    return symbol->argument_bytes ? symbol->argument_bytes : 8;
}

static int call(const struct kernel *kernel, const char *block,
                const struct code_geometry *geometry)
{
    const struct object_symbol *symbol = kernel->symbol;
    uint32_t count = block ? count_words(symbol) : 0;
    uint64_t words[count + 1];
    int code;

    for (uint32_t i = 0; i < count; i++) {
        const struct object_argument plain = {i * 8, 8};

        words[i] =
            word_of(block, symbol->described && symbol->count ? &symbol->arguments[i] : &plain);
    }
    pthread_mutex_lock(&kernel->agent->kernels);
    memory_begin(kernel->agent);
    code = code_call(kernel->function, words, count, geometry, settings_measure());
    memory_end(kernel->agent);
    fflush(stdout);
    pthread_mutex_unlock(&kernel->agent->kernels);
    return code;
}

/* Compilers' own kernels, for constructors: nobody has constructors here. */
static bool does_nothing(const char *name)
{
    static const char *const names[] = {"_init_array", "_fini_array", "amdgcn.device.init",
                                        "amdgcn.device.fini"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void fail(struct queue *queue, int code, const char *name)
{
    char words[256];

    snprintf(words, sizeof(words), "kernel %.200s went wrong", name);
    if (code == CODE_SEGFAULT)
        agent_fault(queue->agent, code_fault_address(), words);
    else if (code == HSA_STATUS_ERROR_MEMORY_FAULT)
        agent_fault(queue->agent, 0x1000, words);
    else
        queue_fault(queue, code == CODE_ABORT ? HSA_STATUS_ERROR_EXCEPTION : (hsa_status_t)code,
                    words);
}

/* 0, or what went wrong, which is told. */
static int run(struct queue *queue, const hsa_kernel_dispatch_packet_t *packet,
               const struct kernel *kernel)
{
    const struct code_geometry geometry = {
        8,
        {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z, packet->workgroup_size_x,
         packet->workgroup_size_y, packet->workgroup_size_z, packet->group_segment_size,
         packet->private_segment_size}};
    const char *block = NULL;
    int code;

    if (packet->kernarg_address) {
        block = memory_reach(packet->kernarg_address, bytes_of_words(kernel->symbol), queue->agent,
                             false);
        if (!block) {
            agent_fault(queue->agent, (uint64_t)(uintptr_t)packet->kernarg_address,
                        "arguments that it may not touch");
            return CODE_SEGFAULT;
        }
    }
    if (!kernel->function)
        return 0;
    code = call(kernel, block, &geometry);
    if (code != 0)
        fail(queue, code, kernel->name);
    return code;
}

void kernel_run(struct queue *queue, const hsa_kernel_dispatch_packet_t *packet)
{
    const struct kernel *kernel = kernel_find(packet->kernel_object);
    uint64_t start = now_ns();
    const char *wrong;
    char words[640];

    if (!kernel || kernel->agent != queue->agent) {
        agent_fault(queue->agent, packet->kernel_object, "a kernel that is not loaded there");
        return;
    }
    wrong = check_packet(packet, kernel);
    if (wrong) {
        queue_fault(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, wrong);
        return;
    }
    if (!kernel->function && !does_nothing(kernel->name)) {
        snprintf(words, sizeof(words), "no host code for kernel %s: see STANDIN_CODE",
                 kernel->name);
        queue_fault(queue, (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, words);
        return;
    }
    if (run(queue, packet, kernel) != 0)
        return;
    counts_add(&counts.kernels, 1);
    signal_times(packet->completion_signal, start, now_ns());
    signal_subtract(packet->completion_signal, 1);
}
