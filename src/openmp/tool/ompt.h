/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ompt.h: what tools are told of target constructs, by OMPT (OpenMP 5.2). libomp knows the tool, as
 * it loads it; from 16 on it hands its functions on to the library for devices. Where no tool wants
 * to know of devices, each function here is a look at a flag.
 *
 * A thread is in one construct or function of the program's at a time. What it does there is told
 * when it is issued, in the order of the clauses, as LLVM's libomptarget does: small data leaves
 * with the region, and memory may be kept. When it was done is for the device to tell, see
 * ompt_trace.h.
 *
 * Thread: any. Blocks: as the tool's functions do, which are called with a device's lock held.
 */
#ifndef OMPRMA_OPENMP_TOOL_OMPT_H
#define OMPRMA_OPENMP_TOOL_OMPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi/ompt_abi.h"

struct block_traced;

/* Does a tool want to know? From when it was told of the devices until it ends. */
extern atomic_bool ompt_flag;

static inline bool ompt_is_on(void)
{
    return __builtin_expect(atomic_load_explicit(&ompt_flag, memory_order_relaxed), 0);
}

/* ---- devices ---- */

/* Before omprma_init(). */
void ompt_prepare(void);

/* Asks libomp, the first time, and tells of all devices, which have been made; and before they end.
 * libomp may ask for their number meanwhile. */
extern atomic_bool ompt_asked;
void ompt_connect_first(void);
void ompt_devices_end(void);

static inline void ompt_connect(void)
{
    if (!atomic_load_explicit(&ompt_asked, memory_order_relaxed))
        ompt_connect_first();
}

/* Is the calling thread in a function of the tool's that may not use a device? */
bool ompt_is_telling(void);

/* An image, by where it is here; it is known by `module` until it goes. */
void ompt_load(int device, const void *image, size_t bytes, uint64_t module);
void ompt_unload(int device, uint64_t module);

/* ---- constructs and functions ---- */

/* `code`: where the program goes on after its call. */
void ompt_begin_told(int kind, int device, const void *code);
void ompt_end_told(void);
void ompt_call_told(int device, const void *code, bool async);

static inline void ompt_begin(enum ompt_kind kind, bool nowait, int device, const void *code)
{
    if (ompt_is_on())
        ompt_begin_told((int)kind + (nowait ? OMPT_KIND_NOWAIT : 0), device, code);
}

static inline void ompt_end(void)
{
    if (ompt_is_on())
        ompt_end_told();
}

/* A function, between the two: all that follows belongs to it. ompt_end() as well. `async`: a task
 * of the program's does it. */
static inline void ompt_call(int device, const void *code, bool async)
{
    if (ompt_is_on())
        ompt_call_told(device, code, async);
}

/* Where operations of what the thread is in go. */
void ompt_queue_told(omprma_queue_t *queue);

static inline void ompt_queue(omprma_queue_t *queue)
{
    if (ompt_is_on())
        ompt_queue_told(queue);
}

/* What the thread is in will be left in flight: it is told as asynchronous. Then it leaves: what is
 * not told yet is told, and what the device tells is that of what is returned; NULL: nothing. */
void ompt_fly_told(void);
struct block_traced *ompt_depart_told(void);

static inline void ompt_fly(void)
{
    if (ompt_is_on())
        ompt_fly_told();
}

static inline struct block_traced *ompt_depart(void)
{
    return ompt_is_on() ? ompt_depart_told() : NULL;
}

/* What has departed is over; not NULL. */
void ompt_arrive_told(struct block_traced *block);

/* ---- operations ---- */

enum { OMPT_HOST = -1 }; /* a device's number here */

struct ompt_op {
    enum ompt_op_type type;
    const void *from, *to;
    int from_device, to_device;
    size_t bytes;
    uint64_t id; /* the rest is ompt.c's */
    size_t traced;
};

/* Around what issues it. */
void ompt_op_begin_told(struct ompt_op *op);
void ompt_op_end_told(struct ompt_op *op);

static inline void ompt_op_begin(struct ompt_op *op)
{
    if (ompt_is_on())
        ompt_op_begin_told(op);
}

static inline void ompt_op_end(struct ompt_op *op)
{
    if (ompt_is_on())
        ompt_op_end_told(op);
}

/* From the host to a device, and back. */
static inline struct ompt_op ompt_to(const void *host, int device, uint64_t there, size_t bytes)
{
    return (struct ompt_op){.type = OMPT_TO,
                            .from = host,
                            .to = (const void *)(uintptr_t)there,
                            .from_device = OMPT_HOST,
                            .to_device = device,
                            .bytes = bytes};
}

static inline struct ompt_op ompt_from(int device, uint64_t there, const void *host, size_t bytes)
{
    return (struct ompt_op){.type = OMPT_FROM,
                            .from = (const void *)(uintptr_t)there,
                            .to = host,
                            .from_device = device,
                            .to_device = OMPT_HOST,
                            .bytes = bytes};
}

/* Memory for what is at `host` (NULL: for nothing there), was given, belongs to what is there by
 * omp_target_associate_ptr(), or no longer. */
void ompt_memory_told(enum ompt_op_type type, int device, const void *host, uint64_t there,
                      size_t bytes);

static inline void ompt_memory(enum ompt_op_type type, int device, const void *host, uint64_t there,
                               size_t bytes)
{
    if (ompt_is_on())
        ompt_memory_told(type, device, host, there, bytes);
}

/* Memory is given back when the construct ends; private variables' after all other. */
void ompt_gives_told(int device, uint64_t there, bool is_private);

static inline void ompt_gives(int device, uint64_t there, bool is_private)
{
    if (ompt_is_on())
        ompt_gives_told(device, there, is_private);
}

/* The region's kernel; `teams`: see struct region_call. */
void ompt_submit_told(int teams);

static inline void ompt_submit(int teams)
{
    if (ompt_is_on())
        ompt_submit_told(teams);
}

#endif
