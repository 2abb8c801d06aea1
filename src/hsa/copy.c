/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.c: a copy begins at once if what it depends on are ends of operations, which its lane then
 * waits for. Where the program itself has to move a signal on, the attendant waits for that, so
 * that the copy does not stand in the way of others.
 *
 * Copies to a GPU that wait for nothing let their signal go at once (lanes.h): the sources of small
 * ones are read by the call. A source that something before the copy may still write is read in its
 * turn.
 */
#include "hsa/copy.h"

#include <stdlib.h>
#include <string.h>

#include <omprma_private/in_turn.h>
#include <omprma_private/owner.h>

#include "hsa/attendant.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/lanes.h"
#include "hsa/memory.h"
#include "hsa/operations.h"
#include "hsa/result.h"

/* Largest source that is read by the call. Plugins of LLVM copy less than this by blocks of their
 * own. */
enum { COPIED_MOST = 1 << 20 };

static omprma_addr_t number_of(const void *address)
{
    return (omprma_addr_t)(uintptr_t)address;
}

/* ---- whose ---------------------------------------------------------------------------------- */

static hsa_status_t find_end(const void *address, size_t bytes, const char *what, struct gpu **gpu)
{
    struct place place;
    omprma_addr_t block;
    uint64_t block_bytes;

    memory_find(address, &place);
    *gpu = place.gpu;
    if (!place.known && bytes > 0 && omprma_owner(number_of(address), &block, &block_bytes) >= 0) {
        report_error("HSA: %s of a copy, %p, is memory of a GPU that is not allocated", what,
                     address);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (!memory_fits(&place, address, bytes)) {
        report_error(
            "HSA: %s of a copy, %zu bytes at %p, runs past its block of %zu bytes at 0x%llx", what,
            bytes, address, place.block.bytes, (unsigned long long)place.block.address);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return place.gpu ? gpu_usable(place.gpu) : HSA_STATUS_SUCCESS;
}

hsa_status_t copy_find(struct copy *copy, size_t to_bytes, size_t from_bytes)
{
    if (copy->bytes > 0 && (!copy->to || !copy->from))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = find_end(copy->to, to_bytes, "the destination", &copy->to_gpu);
    if (status == HSA_STATUS_SUCCESS)
        status = find_end(copy->from, from_bytes, "the source", &copy->from_gpu);
    return status;
}

/* ---- within the host ------------------------------------------------------------------------ */

static void copy_rows(const struct copy *copy)
{
    const omprma_shape_t *shape = &copy->shape;

    for (size_t z = 0; z < shape->count[1]; z++) {
        for (size_t y = 0; y < shape->count[0]; y++)
            memmove((char *)copy->to + y * shape->to_stride[0] + z * shape->to_stride[1],
                    (const char *)copy->from + y * shape->from_stride[0] +
                        z * shape->from_stride[1],
                    shape->bytes);
    }
}

static void copy_here(const struct copy *copy)
{
    if (copy->shaped)
        copy_rows(copy);
    else
        memmove(copy->to, copy->from, copy->bytes);
}

/* ---- into lanes ----------------------------------------------------------------------------- */

/* Reads the source before it returns. */
static omprma_status_t submit_now(struct lane *lane, const struct copy *copy)
{
    omprma_addr_t to = number_of(copy->to);

    if (copy->shaped)
        return omprma_submit_strided(lane->queue, to, copy->from, &copy->shape);
    return omprma_submit_copied(lane->queue, to, copy->from, copy->bytes);
}

static bool is_early(const struct copy *copy, const struct needs *needs)
{
    return needs->count == 0 &&
           copy->bytes <= (copy->shaped ? OMPRMA_COPIED_SUBMIT : (size_t)COPIED_MOST);
}

static omprma_status_t put_in(struct lane *lane, const struct copy *copy, const struct needs *needs)
{
    if (copy->shaped)
        return omprma_submit_strided(lane->queue, number_of(copy->to), copy->from, &copy->shape);
    if (needs->count > 0)
        return omprma_submit_in_turn(lane->queue, number_of(copy->to), copy->from, copy->bytes);
    return omprma_submit(lane->queue, number_of(copy->to), copy->from, copy->bytes);
}

static omprma_status_t put(struct lane *lane, const struct copy *copy, const struct needs *needs)
{
    omprma_addr_t to = number_of(copy->to), from = number_of(copy->from);

    if (!copy->from_gpu)
        return put_in(lane, copy, needs);
    if (!copy->to_gpu && copy->shaped)
        return omprma_retrieve_strided(lane->queue, copy->to, from, &copy->shape);
    if (!copy->to_gpu)
        return omprma_retrieve(lane->queue, copy->to, from, copy->bytes);
    if (copy->shaped)
        return omprma_exchange_strided(lane->queue, from, copy->to_gpu->device, to, &copy->shape);
    return omprma_exchange(lane->queue, from, copy->to_gpu->device, to, copy->bytes);
}

/* Behind what other copies to the GPU at the other end have let go early. */
static omprma_status_t join_other_end(struct lane *lane, const struct copy *copy)
{
    if (!copy->to_gpu || !copy->from_gpu || copy->to_gpu == copy->from_gpu)
        return OMPRMA_OK;
    struct lanes *other = lanes_of(copy->to_gpu);
    struct mark *mark = lanes_fence_mark(other);
    omprma_status_t status = mark ? omprma_event_wait(mark->event, lane->queue) : OMPRMA_OK;
    mark_drop(mark);
    return status;
}

/* With the lock of the lanes held. Sets *early. */
static omprma_status_t put_ordered(struct lane *lane, const struct copy *copy,
                                   const struct needs *needs, bool *early)
{
    omprma_status_t status = lane_join(lane, needs);

    if (status == OMPRMA_OK)
        status = join_other_end(lane, copy);
    *early = !copy->from_gpu && is_early(copy, needs);
    if (status == OMPRMA_OK)
        status = *early ? submit_now(lane, copy) : put(lane, copy, needs);
    if (status == OMPRMA_OK && *early)
        status = lane_fence(lane);
    return status;
}

/* What it needs is known: puts it into a lane. */
static hsa_status_t copy_issue(const struct copy *copy, const struct needs *needs,
                               struct signal *signal)
{
    struct gpu *gpu = copy->from_gpu ? copy->from_gpu : copy->to_gpu;
    struct lanes *lanes = lanes_of(gpu);
    omprma_status_t status;
    bool early = false;

    lanes_lock(lanes);
    struct lane *lane = lane_for_copy(lanes, needs, !copy->from_gpu, &status);
    if (lane)
        status = put_ordered(lane, copy, needs, &early);
    if (status == OMPRMA_OK && !early) {
        lane_issued(lane);
        lane_tell(lane, signal, NULL, NULL);
    }
    hsa_status_t result = result_of(gpu, status);
    lanes_unlock(lanes);
    if (early && result == HSA_STATUS_SUCCESS)
        signal_count_down(signal, false);
    return result;
}

/* ---- what it depends on --------------------------------------------------------------------- */

/* A copy that has to wait for a signal of the program. */
struct waiting {
    struct watch watch; /* first */
    struct copy copy;
    struct needs needs;
    struct signal *signal;
    uint32_t count, next;          /* of the dependencies; the first that is not looked at */
    struct signal *dependencies[]; /* those before `next` may be gone */
};

/* Goes on with the dependencies. False: the next one is the program's. */
static bool look_at_dependencies(struct waiting *waiting)
{
    bool here = !waiting->copy.to_gpu && !waiting->copy.from_gpu;

    for (; waiting->next < waiting->count; waiting->next++) {
        struct signal *signal = waiting->dependencies[waiting->next];
        if (!(here ? signal_is_met(signal) : needs_add(&waiting->needs, signal)))
            return false;
    }
    return true;
}

static hsa_status_t waiting_issue(struct waiting *waiting)
{
    const struct copy *copy = &waiting->copy;
    hsa_status_t status = HSA_STATUS_SUCCESS;

    if (copy->bytes > 0 && (copy->to_gpu || copy->from_gpu)) {
        status = copy_issue(copy, &waiting->needs, waiting->signal);
    } else {
        copy_here(copy);
        signal_count_down(waiting->signal, false);
    }
    needs_drop(&waiting->needs);
    return status;
}

/* On the attendant, when the signal that it waited for is 0, or has been destroyed. */
static void waiting_run(struct watch *watch)
{
    struct waiting *waiting = (struct waiting *)watch;

    waiting->next++;
    watch->dropped = false;
    if (!look_at_dependencies(waiting)) {
        signal_watch(waiting->dependencies[waiting->next], watch);
        return;
    }
    if (waiting_issue(waiting) != HSA_STATUS_SUCCESS)
        signal_count_down(waiting->signal, true);
    free(waiting);
}

static hsa_status_t copy_wait(const struct copy *copy, uint32_t count,
                              const hsa_signal_t *dependencies, struct signal *signal)
{
    size_t bytes = sizeof(struct waiting) + count * sizeof(struct signal *);
    struct waiting *waiting = malloc(bytes);

    if (!waiting)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *waiting = (struct waiting){.watch = {.condition = HSA_SIGNAL_CONDITION_LT,
                                          .compare = 1,
                                          .mask = -1,
                                          .run = waiting_run},
                                .copy = *copy,
                                .signal = signal,
                                .count = count};
    for (uint32_t i = 0; i < count; i++)
        waiting->dependencies[i] = signal_of(dependencies[i]);
    if (!look_at_dependencies(waiting)) {
        if (signal_watch(waiting->dependencies[waiting->next], &waiting->watch))
            return HSA_STATUS_SUCCESS;
        needs_drop(&waiting->needs);
        free(waiting);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    hsa_status_t status = waiting_issue(waiting);
    free(waiting);
    return status;
}

hsa_status_t copy_begin(const struct copy *copy, uint32_t count, const hsa_signal_t *dependencies,
                        hsa_signal_t handle)
{
    static const struct needs nothing;
    struct signal *signal = signal_of(handle);

    signal_begins(signal);
    while (count > 0 && signal_is_met(signal_of(dependencies[count - 1])))
        count--;
    if (count > 0)
        return copy_wait(copy, count, dependencies, signal);
    if (copy->bytes > 0 && (copy->to_gpu || copy->from_gpu))
        return copy_issue(copy, &nothing, signal);
    copy_here(copy);
    signal_count_down(signal, false);
    return HSA_STATUS_SUCCESS;
}

/* ---- exported ------------------------------------------------------------------------------- */

hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from,
                                       hsa_agent_t from_agent, size_t bytes, uint32_t count,
                                       const hsa_signal_t *dependencies, hsa_signal_t signal)
{
    struct call call;
    struct copy copy = {.to = to, .from = from, .bytes = bytes};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!agent_exists(to_agent) || !agent_exists(from_agent)))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && (count > 0) != (dependencies != NULL))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !signal_of(signal))
        status = HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (status == HSA_STATUS_SUCCESS)
        status = copy_find(&copy, bytes, bytes);
    if (status == HSA_STATUS_SUCCESS)
        status = copy_begin(&copy, count, dependencies, signal);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                                 hsa_agent_t from_agent, size_t bytes,
                                                 uint32_t count, const hsa_signal_t *dependencies,
                                                 hsa_signal_t signal,
                                                 hsa_amd_sdma_engine_id_t engine, bool force)
{
    (void)engine, (void)force;
    return hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, count, dependencies,
                                     signal);
}

/* To a GPU it returns when the source may be overwritten. */
static hsa_status_t copy_and_wait(const struct copy *copy)
{
    struct gpu *gpu = copy->from_gpu ? copy->from_gpu : copy->to_gpu;
    struct signal *signal = signal_make(1);

    if (!signal)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    hsa_status_t status = copy_begin(copy, 0, NULL, signal_handle(signal));
    if (status == HSA_STATUS_SUCCESS && signal_wait(signal_handle(signal), HSA_SIGNAL_CONDITION_LT,
                                                    1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) < 0) {
        lanes_look(lanes_of(gpu));
        status = gpu_usable(gpu);
        if (status == HSA_STATUS_SUCCESS)
            status = HSA_STATUS_ERROR;
    }
    signal_free(signal);
    return status;
}

hsa_status_t hsa_memory_copy(void *to, const void *from, size_t bytes)
{
    struct call call;
    struct copy copy = {.to = to, .from = from, .bytes = bytes};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = copy_find(&copy, bytes, bytes);
    if (status == HSA_STATUS_SUCCESS && bytes > 0)
        status = copy_and_wait(&copy);
    return api_end(&call, status);
}

static hsa_status_t fill_device(struct gpu *gpu, void *address, uint32_t value, size_t count)
{
    static const struct needs nothing;
    struct lanes *lanes = lanes_of(gpu);
    omprma_status_t status;

    lanes_lock(lanes);
    struct lane *lane = lane_for_copy(lanes, &nothing, true, &status);
    if (lane)
        status = lane_join(lane, &nothing);
    if (status == OMPRMA_OK)
        status = omprma_fill(lane->queue, number_of(address), &value, sizeof(value), count);
    if (status == OMPRMA_OK)
        status = lane_fence(lane);
    hsa_status_t result = result_of(gpu, status);
    lanes_unlock(lanes);
    return result;
}

/* What comes behind it on a GPU is ordered behind it, so it need not be waited for. */
hsa_status_t hsa_amd_memory_fill(void *address, uint32_t value, size_t count)
{
    struct call call;
    struct gpu *gpu = NULL;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS &&
        (!address || (uintptr_t)address % sizeof(value) != 0 || count > SIZE_MAX / sizeof(value)))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = find_end(address, count * sizeof(value), "the destination", &gpu);
    if (status == HSA_STATUS_SUCCESS && count > 0) {
        if (gpu)
            status = fill_device(gpu, address, value, count);
        else
            for (size_t i = 0; i < count; i++)
                ((uint32_t *)address)[i] = value;
    }
    return api_end(&call, status);
}
