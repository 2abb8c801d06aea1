/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.c: copies and fills. Each copy is one of the runtime's that does not wait, and begins when
 * the step before it in its stream is over. Memory of this process that is not locked goes by way
 * of a block of the host, and so does what one GPU cannot get from another. The runtime's own fill
 * waits, and knows words of 4 bytes only: so the beginning is copied from a block, and then what
 * has been filled so far is copied behind itself.
 */
#include <string.h>

#include "worker/device.h"
#include "worker/hsa/hsa.h"

enum { FILL_BYTES = 64 << 10 /* from a block; a multiple of every pattern */ };

/* One copy of the runtime's: where to and from, as GPUs see it, and whose memory that is. */
struct piece {
    void *to;
    const void *from;
    hsa_agent_t to_agent, from_agent;
    size_t bytes;
};

/* `step` is gone if it fails. */
static int issue(struct hsa *hsa, gpu_stream stream, struct hsa_step *step,
                 const struct piece *piece)
{
    int code;
    const struct hsa_step *before = rocr_stream_last(hsa, stream, &code);

    if (!code)
        code = hsa->rocr->amd_memory_async_copy(piece->to, piece->to_agent, piece->from,
                                                piece->from_agent, piece->bytes, before ? 1 : 0,
                                                before ? &before->signal : NULL, step->signal);
    if (code)
        rocr_step_drop(hsa, step);
    else
        rocr_step_append(stream, step);
    return code;
}

/* A step, with a block of so many bytes. */
static int take_with_block(struct hsa *hsa, struct hsa_step **step, size_t bytes)
{
    int code = rocr_step_take(hsa, step);

    if (code)
        return code;
    (*step)->block = rocr_block_take(hsa->rocr, bytes, &code);
    (*step)->block_bytes = bytes;
    if (!(*step)->block)
        rocr_step_drop(hsa, *step);
    return code;
}

/* ---- between a GPU and memory of this process ---- */

static int copy_in(struct hsa *hsa, uint64_t to, const void *from, size_t bytes, gpu_stream stream)
{
    struct piece piece = {(void *)(uintptr_t)to, rocr_host_at(from, bytes), hsa->agent,
                          hsa->rocr->host, bytes};
    struct hsa_step *step;
    int code = piece.from ? rocr_step_take(hsa, &step) : take_with_block(hsa, &step, bytes);

    if (code)
        return code;
    if (!piece.from)
        piece.from = memcpy(step->block, from, bytes);
    return issue(hsa, stream, step, &piece);
}

static int copy_out(struct hsa *hsa, void *to, uint64_t from, size_t bytes, gpu_stream stream)
{
    struct piece piece = {rocr_host_at(to, bytes), (const void *)(uintptr_t)from, hsa->rocr->host,
                          hsa->agent, bytes};
    struct hsa_step *step;
    int code = piece.to ? rocr_step_take(hsa, &step) : take_with_block(hsa, &step, bytes);

    if (code)
        return code;
    if (!piece.to) {
        piece.to = step->block;
        step->to = to;
        step->to_bytes = bytes;
    }
    return issue(hsa, stream, step, &piece);
}

/* ---- between GPUs ---- */

static int copy_direct(struct hsa *hsa, const struct hsa *other, const struct backend_copy *copy,
                       gpu_stream stream)
{
    const struct piece piece = {(void *)(uintptr_t)copy->to, (const void *)(uintptr_t)copy->from,
                                other->agent, hsa->agent, copy->bytes};
    struct hsa_step *step;
    int code = rocr_step_take(hsa, &step);

    if (code)
        return code;
    step->other = other == hsa ? NULL : other;
    return issue(hsa, stream, step, &piece);
}

/* The block goes with the second step. */
static int copy_by_host(struct hsa *hsa, const struct hsa *other, const struct backend_copy *copy,
                        gpu_stream stream)
{
    struct piece there = {NULL, (const void *)(uintptr_t)copy->from, hsa->rocr->host, hsa->agent,
                          copy->bytes};
    struct piece on = {(void *)(uintptr_t)copy->to, NULL, other->agent, hsa->rocr->host,
                       copy->bytes};
    struct hsa_step *first, *second;
    int code = take_with_block(hsa, &second, copy->bytes);

    if (code)
        return code;
    second->other = other == hsa ? NULL : other;
    there.to = second->block;
    on.from = second->block;
    code = rocr_step_take(hsa, &first);
    if (!code)
        code = issue(hsa, stream, first, &there);
    if (code) {
        rocr_step_drop(hsa, second);
        return code;
    }
    return issue(hsa, stream, second, &on);
}

static int copy_between(struct hsa *hsa, const struct backend_copy *copy, gpu_stream stream)
{
    struct hsa *other = copy->to_device->state;
    bool own_to, own_from;

    if (!rocr_range_is(hsa, copy->from, copy->bytes, &own_from) ||
        !rocr_range_is(other, copy->to, copy->bytes, &own_to))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa == other || (own_to && own_from && rocr_reaches(hsa, other))
               ? copy_direct(hsa, other, copy, stream)
               : copy_by_host(hsa, other, copy, stream);
}

int rocr_copy(const struct gpu *gpu, const struct backend_copy *copy, gpu_stream stream)
{
    struct hsa *hsa = hsa_of(gpu);
    bool own;

    if (copy->to_device && copy->from_device)
        return copy_between(hsa, copy, stream);
    if (!rocr_range_is(hsa, copy->from_device ? copy->from : copy->to, copy->bytes, &own))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return copy->to_device
               ? copy_in(hsa, copy->to, (const void *)(uintptr_t)copy->from, copy->bytes, stream)
               : copy_out(hsa, (void *)(uintptr_t)copy->to, copy->from, copy->bytes, stream);
}

/* ---- fills ---- */

static void repeat(char *at, size_t bytes, const struct backend_fill *fill)
{
    for (size_t done = 0; done < bytes; done += fill->pattern_bytes)
        memcpy(at + done, &fill->pattern, fill->pattern_bytes);
}

static int fill_first(struct hsa *hsa, const struct backend_fill *fill, size_t bytes,
                      gpu_stream stream)
{
    struct piece piece = {(void *)(uintptr_t)fill->to, NULL, hsa->agent, hsa->rocr->host, bytes};
    struct hsa_step *step;
    int code = take_with_block(hsa, &step, bytes);

    if (code)
        return code;
    repeat(step->block, bytes, fill);
    piece.from = step->block;
    return issue(hsa, stream, step, &piece);
}

int rocr_fill(const struct gpu *gpu, const struct backend_fill *fill, gpu_stream stream)
{
    struct hsa *hsa = hsa_of(gpu);
    uint64_t bytes = fill->count * fill->pattern_bytes;
    uint64_t done = bytes < FILL_BYTES ? bytes : FILL_BYTES;
    bool own;
    int code;

    if (!rocr_range_is(hsa, fill->to, bytes, &own))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    code = fill_first(hsa, fill, done, stream);
    while (!code && done < bytes) {
        uint64_t more = bytes - done < done ? bytes - done : done;
        const struct backend_copy copy = {.to = fill->to + done, .from = fill->to, .bytes = more};

        code = copy_direct(hsa, hsa, &copy, stream);
        done += more;
    }
    return code;
}
