/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_rect.c: copies of rows and planes, as omprma's strided copies. */
#include "hsa/copy.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/signal.h"

static size_t offset_of(const hsa_pitched_ptr_t *end, const hsa_dim3_t *offset)
{
    return offset->x + offset->y * end->pitch + offset->z * end->slice;
}

/* From the first byte to behind the last one. */
static size_t reach_of(const hsa_pitched_ptr_t *end, const hsa_dim3_t *range)
{
    return range->x + (range->y - 1) * end->pitch + (range->z - 1) * end->slice;
}

static bool is_empty(const hsa_dim3_t *range)
{
    return range->x == 0 || range->y == 0 || range->z == 0;
}

/* Rows that overlap cannot be copied. */
static bool makes_sense(const hsa_pitched_ptr_t *end, const hsa_dim3_t *range)
{
    return end->base && (range->y <= 1 || end->pitch >= range->x) &&
           (range->z <= 1 || end->slice >= range->x + (range->y - 1) * end->pitch);
}

static hsa_status_t rectangle_find(struct copy *copy, const hsa_pitched_ptr_t *to,
                                   const hsa_dim3_t *to_offset, const hsa_pitched_ptr_t *from,
                                   const hsa_dim3_t *from_offset, const hsa_dim3_t *range)
{
    *copy = (struct copy){.shaped = true};
    if (is_empty(range)) {
        copy->shape = (omprma_shape_t){.bytes = 0};
        return HSA_STATUS_SUCCESS;
    }
    if (!makes_sense(to, range) || !makes_sense(from, range))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    copy->to = (char *)to->base + offset_of(to, to_offset);
    copy->from = (const char *)from->base + offset_of(from, from_offset);
    copy->bytes = (size_t)range->x * range->y * range->z;
    copy->shape = (omprma_shape_t){.bytes = range->x,
                                   .count = {range->y, range->z, 1},
                                   .to_stride = {to->pitch, to->slice, 0},
                                   .from_stride = {from->pitch, from->slice, 0}};
    return copy_find(copy, reach_of(to, range), reach_of(from, range));
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to,
                                            const hsa_dim3_t *to_offset,
                                            const hsa_pitched_ptr_t *from,
                                            const hsa_dim3_t *from_offset, const hsa_dim3_t *range,
                                            hsa_agent_t agent, hsa_amd_copy_direction_t direction,
                                            uint32_t count, const hsa_signal_t *dependencies,
                                            hsa_signal_t signal)
{
    struct call call;
    struct copy copy;
    hsa_status_t status = api_begin(&call);

    (void)direction; /* addresses tell */
    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && (!to || !to_offset || !from || !from_offset || !range ||
                                         (count > 0) != (dependencies != NULL)))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !signal_of(signal))
        status = HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (status == HSA_STATUS_SUCCESS)
        status = rectangle_find(&copy, to, to_offset, from, from_offset, range);
    if (status == HSA_STATUS_SUCCESS)
        status = copy_begin(&copy, count, dependencies, signal);
    return api_end(&call, status);
}
