/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launch.c: kernels, in queues of the runtime. A queue does one packet behind the other where that
 * has the barrier bit, so a kernel behind one of its stream needs nothing else. Behind a copy there
 * is a barrier packet with the signal of that, which holds the queue; streams that share it wait
 * for no more than that copy. A packet counts from the moment when its header is written, so that
 * comes last. GPUs do wrong with numbers that do not fit, so these are checked before.
 */
#include <sched.h>
#include <string.h>

#include "worker/hsa/hsa.h"

enum {
    FENCES = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
             HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
    DISPATCH = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | FENCES,
    BARRIER = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | FENCES,
    IN_ORDER = 1 << HSA_PACKET_HEADER_BARRIER
};

/* ---- queues ---- */

static hsa_queue_t *any_queue(const struct hsa *hsa)
{
    hsa_queue_t *queue = NULL;

    for (int i = 0; i < HSA_LANES && !queue; i++)
        queue = hsa->lanes[i];
    return queue;
}

/* Where the GPU has no further one, another does. */
static int find_queue(struct hsa *hsa, gpu_stream stream)
{
    hsa_queue_t **lane = &hsa->lanes[stream->number % HSA_LANES];
    int code = HSA_STATUS_SUCCESS;

    if (stream->queue)
        return HSA_STATUS_SUCCESS;
    if (!*lane)
        code = hsa->rocr->queue_create(hsa->agent, hsa->queue_packets, HSA_QUEUE_TYPE_MULTI,
                                       rocr_fault_of_queue, hsa, UINT32_MAX, UINT32_MAX, lane);
    if (code)
        *lane = NULL;
    stream->queue = *lane ? *lane : any_queue(hsa);
    return stream->queue ? HSA_STATUS_SUCCESS : code;
}

void rocr_lanes_free(struct hsa *hsa)
{
    for (int i = 0; i < HSA_LANES; i++)
        if (hsa->lanes[i])
            hsa->rocr->queue_destroy(hsa->lanes[i]);
}

/* Numbers of `count` packets in the queue; with the lock of the server, so there is one thread that
 * takes some. Waits while it is full. */
static int take_packets(const struct hsa *hsa, const hsa_queue_t *queue, uint64_t count,
                        uint64_t *first)
{
    const struct rocr *rocr = hsa->rocr;
    int code = HSA_STATUS_SUCCESS;

    *first = rocr->queue_add_write_index_relaxed(queue, count);
    while (!code && *first + count - rocr->queue_load_read_index_scacquire(queue) > queue->size) {
        sched_yield();
        code = rocr_fault_code(hsa);
    }
    return code;
}

/* All of a packet but its header, and then that. */
static void put_packet(const hsa_queue_t *queue, uint64_t number, const void *packet,
                       uint16_t header)
{
    char *to = (char *)queue->base_address +
               (number & (queue->size - 1)) * sizeof(hsa_kernel_dispatch_packet_t);

    memcpy(to + sizeof(header), (const char *)packet + sizeof(header),
           sizeof(hsa_kernel_dispatch_packet_t) - sizeof(header));
    __atomic_store_n((uint16_t *)(void *)to, header, __ATOMIC_RELEASE);
}

/* The kernel, behind the step before it in its stream. */
static int put_kernel(const struct hsa *hsa, const hsa_queue_t *queue,
                      const hsa_kernel_dispatch_packet_t *kernel, const struct hsa_step *before)
{
    bool barrier = before && !before->kernel;
    uint16_t order = before && before->kernel ? IN_ORDER : 0;
    uint64_t number;
    int code = take_packets(hsa, queue, barrier ? 2 : 1, &number);

    if (code)
        return code;
    if (barrier) {
        const hsa_barrier_and_packet_t wait = {.dep_signal = {before->signal}};

        put_packet(queue, number++, &wait, BARRIER);
    }
    put_packet(queue, number, kernel, (uint16_t)(DISPATCH | order));
    hsa->rocr->signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)number);
    return HSA_STATUS_SUCCESS;
}

/* ---- kernels ---- */

/* Bytes of a team. The words of omprma_launch() come with what is wanted beside the kernel's own;
 * parameters as the kernel has them come from a packet, which says all. */
static uint64_t group_bytes(const struct gpu_kernel *kernel, const struct wire_launch *with)
{
    uint64_t own = kernel->group_bytes, wanted = with->geometry.shared_bytes;

    if (!with->packed)
        return own + wanted;
    return wanted > own ? wanted : own;
}

static uint64_t private_bytes(const struct gpu_kernel *kernel, const struct wire_launch *with)
{
    uint64_t own = kernel->private_bytes, wanted = with->geometry.private_bytes;

    return wanted > own ? wanted : own;
}

static size_t given_bytes(const struct wire_launch *with)
{
    return with->packed ? with->packed_bytes : 8 * (size_t)with->count;
}

/* The grid counts threads. */
static bool fits(const struct hsa *hsa, const struct gpu_kernel *kernel,
                 const struct wire_launch *with, const unsigned size[6])
{
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        if (size[3 + i] > UINT16_MAX || (uint64_t)size[i] * size[3 + i] > UINT32_MAX)
            return false;
        threads *= size[3 + i];
    }
    return threads <= hsa->threads_most && private_bytes(kernel, with) <= UINT32_MAX &&
           group_bytes(kernel, with) <= (hsa->group_most ? hsa->group_most : UINT32_MAX);
}

static hsa_kernel_dispatch_packet_t packet_of(const struct gpu_kernel *kernel,
                                              const struct wire_launch *with,
                                              const unsigned size[6], const struct hsa_step *step)
{
    return (hsa_kernel_dispatch_packet_t){
        .setup = 3 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
        .workgroup_size_x = (uint16_t)size[3],
        .workgroup_size_y = (uint16_t)size[4],
        .workgroup_size_z = (uint16_t)size[5],
        .grid_size_x = size[0] * size[3],
        .grid_size_y = size[1] * size[4],
        .grid_size_z = size[2] * size[5],
        .private_segment_size = (uint32_t)private_bytes(kernel, with),
        .group_segment_size = (uint32_t)group_bytes(kernel, with),
        .kernel_object = kernel->address,
        .kernarg_address = step->block,
        .completion_signal = step->signal,
    };
}

/* A step with the arguments; what the kernel has beyond those that are given is 0. */
static int take_arguments(struct hsa *hsa, const struct gpu_kernel *kernel,
                          const struct wire_launch *with, struct hsa_step **step)
{
    size_t given = given_bytes(with), own = kernel->argument_bytes;
    size_t bytes = given > own ? given : own;
    int code = rocr_step_take(hsa, step);

    if (code)
        return code;
    (*step)->kernel = true;
    (*step)->block = rocr_block_take(hsa->rocr, bytes, &code);
    (*step)->block_bytes = bytes;
    if (!(*step)->block) {
        rocr_step_drop(hsa, *step);
        return code;
    }
    if (given)
        memcpy((*step)->block, with->arguments, given);
    memset((char *)(*step)->block + given, 0, bytes - given);
    return HSA_STATUS_SUCCESS;
}

int rocr_launch(const struct gpu *gpu, const struct gpu_kernel *kernel,
                const struct wire_launch *with, const unsigned size[6], gpu_stream stream)
{
    struct hsa *hsa = hsa_of(gpu);
    hsa_kernel_dispatch_packet_t packet;
    const struct hsa_step *before;
    struct hsa_step *step;
    int code =
        fits(hsa, kernel, with, size) ? find_queue(hsa, stream) : HSA_STATUS_ERROR_INVALID_ARGUMENT;

    if (!code)
        code = take_arguments(hsa, kernel, with, &step);
    if (code)
        return code;
    before = rocr_stream_last(hsa, stream, &code);
    packet = packet_of(kernel, with, size, step);
    if (!code)
        code = put_kernel(hsa, stream->queue, &packet, before);
    if (code)
        rocr_step_drop(hsa, step);
    else
        rocr_step_append(stream, step);
    return code;
}
