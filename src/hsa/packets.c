/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * packets.c: kernels and barriers. Packets of a queue are done in order, whether they ask for that
 * or not. Dependencies on ends of operations become waits of the lane; only those on signals that
 * the program moves on hold the queue back.
 */
#include "hsa/packets.h"

#include "hsa/argument.h"
#include "hsa/condition.h"
#include "hsa/gpu.h"
#include "hsa/kernel.h"
#include "hsa/result.h"

enum { DEPENDENCIES = 5, BARRIER_MET_BELOW = 1 };

static enum packet_step packet_refuse(struct queue *queue, hsa_status_t status)
{
    queue_fail(queue, status);
    return PACKET_FAILED;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* False: the packet makes no sense; its line has been printed. */
static bool geometry_of(const hsa_kernel_dispatch_packet_t *packet, const struct kernel *kernel,
                        omprma_geometry_t *geometry)
{
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    const uint32_t group[3] = {packet->workgroup_size_x, packet->workgroup_size_y,
                               packet->workgroup_size_z};
    uint32_t dimensions = packet->setup & 3;

    *geometry = (omprma_geometry_t){.teams = {1, 1, 1},
                                    .threads = {1, 1, 1},
                                    .shared_bytes = packet->group_segment_size,
                                    .private_bytes = packet->private_segment_size};
    for (uint32_t i = 0; i < dimensions; i++) {
        if (group[i] == 0 || grid[i] == 0 || grid[i] % group[i] != 0) {
            report_error("HSA: kernel %s: its grid of %u work items in dimension %u is no multiple "
                         "of its groups of %u, which GPUs of workers do not run",
                         kernel->name, grid[i], i, group[i]);
            return false;
        }
        geometry->teams[i] = grid[i] / group[i];
        geometry->threads[i] = group[i];
    }
    return dimensions > 0;
}

/* With the lock of the lanes held. */
static omprma_status_t launch(struct lane *lane, const struct kernel *kernel,
                              const omprma_geometry_t *geometry, struct arguments *arguments,
                              struct signal *signal)
{
    static const struct needs nothing;
    omprma_status_t status = lane_join(lane, &nothing);

    if (status == OMPRMA_OK)
        status = arguments_ship(arguments, lane);
    if (status == OMPRMA_OK)
        status = omprma_launch_packed(lane->queue, kernel->address, geometry, arguments->bytes,
                                      arguments->size);
    if (status == OMPRMA_OK) {
        lane_issued(lane);
        lane->lanes->recent = lane;
        status = arguments_bring_back(arguments, lane);
    }
    if (status == OMPRMA_OK && (arguments->shipments || signal))
        lane_tell(lane, signal, arguments_over, arguments->shipments);
    if (status != OMPRMA_OK && arguments->shipments)
        omprma_queue_synchronize(lane->queue); /* nothing may read them any more */
    return status;
}

static enum packet_step kernel_run(struct queue *queue, const hsa_kernel_dispatch_packet_t *packet)
{
    struct signal *signal = signal_of(packet->completion_signal);
    struct arguments arguments;
    omprma_geometry_t geometry;
    struct kernel *kernel = kernel_find(queue->gpu, packet->kernel_object);

    if (!kernel) {
        report_error("HSA: a packet names kernel object 0x%llx, which is none of GPU %d",
                     (unsigned long long)packet->kernel_object, queue->gpu->ordinal);
        return packet_refuse(queue, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    }
    if (!geometry_of(packet, kernel, &geometry) ||
        !arguments_collect(&arguments, queue->gpu, kernel, packet->kernarg_address))
        return packet_refuse(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    signal_begins(signal);
    lanes_lock(queue->lane->lanes);
    omprma_status_t status = launch(queue->lane, kernel, &geometry, &arguments, signal);
    hsa_status_t result = result_of(queue->gpu, status);
    lanes_unlock(queue->lane->lanes);
    arguments_end(&arguments, status != OMPRMA_OK);
    return result == HSA_STATUS_SUCCESS ? PACKET_DONE : packet_refuse(queue, result);
}

/* ---- barriers ------------------------------------------------------------------------------- */

/* Its dependencies are known or over. */
static enum packet_step barrier_pass(struct queue *queue, hsa_signal_t completion)
{
    struct signal *signal = signal_of(completion);
    struct lane *lane = queue->lane;
    struct needs *needs = &queue->needs;

    signal_begins(signal);
    lanes_lock(lane->lanes);
    bool idle = needs->count == 0 && lane_is_idle(lane);
    omprma_status_t status = idle ? OMPRMA_OK : lane_join(lane, needs);
    if (status == OMPRMA_OK && !idle)
        lane_issued(lane);
    if (status == OMPRMA_OK && !idle && signal)
        lane_tell(lane, signal, NULL, NULL);
    hsa_status_t result = result_of(queue->gpu, status);
    lanes_unlock(lane->lanes);
    needs_drop(needs);
    if (idle)
        signal_count_down(signal, false);
    return result == HSA_STATUS_SUCCESS ? PACKET_DONE : packet_refuse(queue, result);
}

static enum packet_step barrier_and_run(struct queue *queue, const hsa_barrier_and_packet_t *packet)
{
    for (; queue->next < DEPENDENCIES; queue->next++) {
        struct signal *signal = signal_of(packet->dep_signal[queue->next]);
        if (needs_add(&queue->needs, signal))
            continue;
        queue->next++; /* it will have been met */
        queue_waits_for(queue, signal, HSA_SIGNAL_CONDITION_LT, BARRIER_MET_BELOW, -1);
        return PACKET_WAITS;
    }
    queue->next = 0;
    return barrier_pass(queue, packet->completion_signal);
}

/* A wait that has ended has met one of them. */
static enum packet_step barrier_or_run(struct queue *queue, const hsa_barrier_or_packet_t *packet)
{
    bool any = false;

    for (int i = 0; i < DEPENDENCIES && queue->next == 0; i++) {
        struct signal *signal = signal_of(packet->dep_signal[i]);
        any |= signal != NULL;
        if (signal && signal_is_met(signal))
            queue->next = DEPENDENCIES;
    }
    if (!any || queue->next > 0) {
        queue->next = 0;
        return barrier_pass(queue, packet->completion_signal);
    }
    queue->next = DEPENDENCIES;
    for (int i = 0; i < DEPENDENCIES; i++) {
        struct signal *signal = signal_of(packet->dep_signal[i]);
        if (signal)
            queue_waits_for(queue, signal, HSA_SIGNAL_CONDITION_LT, BARRIER_MET_BELOW, -1);
    }
    return PACKET_WAITS;
}

static enum packet_step barrier_value_run(struct queue *queue,
                                          const hsa_amd_barrier_value_packet_t *packet)
{
    struct signal *signal = signal_of(packet->signal);

    if (packet->header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE ||
        packet->cond > HSA_SIGNAL_CONDITION_GTE)
        return packet_refuse(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    if (signal && queue->next == 0) {
        queue->next = 1;
        queue_waits_for(queue, signal, (hsa_signal_condition_t)packet->cond, packet->value,
                        packet->mask);
        return PACKET_WAITS;
    }
    queue->next = 0;
    return barrier_pass(queue, packet->completion_signal);
}

enum packet_step packet_run(struct queue *queue, const union packet *packet)
{
    unsigned type = packet->header & 0xff;

    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        return kernel_run(queue, &packet->dispatch);
    case HSA_PACKET_TYPE_BARRIER_AND:
        return barrier_and_run(queue, &packet->barrier);
    case HSA_PACKET_TYPE_BARRIER_OR:
        return barrier_or_run(queue, &packet->barrier);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        return barrier_value_run(queue, &packet->value);
    default:
        report_error("HSA: a queue of GPU %d got a packet of type %u, which is not executed",
                     queue->gpu->ordinal, type);
        return packet_refuse(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    }
}
