/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy.c: see copy.h. Up to four dimensions of a rectangle are one operation; of one that has more,
 * each step of the others is one, and all of them go into one queue. */
#include "openmp/copy/copy.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "openmp/device/device.h"
#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/image/choice.h"
#include "openmp/place/addressed.h"
#include "openmp/place/placement.h"
#include "openmp/place/recompute.h"
#include "openmp/run/work.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

struct route {
    struct device *to, *from; /* NULL: the host */
    struct work *work;        /* NULL: from host to host */
    bool locked;              /* its space, until all is issued: several sites serve it */
    struct ompt_op op;        /* the last one */
    bool told;                /* has one begun? */
};

/* False: there is no such device. */
static bool route_end(int number, struct device **device)
{
    *device = NULL;
    enum choice choice = device_of_function_bare(number, device);
    return choice == CHOICE_DEVICE || (choice == CHOICE_HOST && !devices_ended());
}

/* Where several sites serve the space, on the one that suits. Others may follow the work from then
 * on, so the lock is kept until it has issued all. */
static bool route_place(struct route *route, struct device *owner, const struct ends *ends)
{
    pthread_mutex_lock(&owner->space->lock);
    route->locked = true;
    if (!recompute_lost(owner, NULL))
        return false;
    owner = placement_is_on() ? ends_choose(owner, ends) : placement_last();
    if (route->to)
        route->to = owner;
    if (route->from)
        route->from = owner;
    route->work = work_begin_locked(owner, NULL, WORK_WAITED);
    return route->work && ends_bring(route->work, ends);
}

static bool route_begin(struct route *route, const struct copy *copy, const struct ends *ends)
{
    struct device *owner = route->from ? route->from : route->to;
    bool right = true;
    ompt_call(owner->number, copy->code, copy->async);
    if (owner->space->sites > 1)
        right = route_place(route, owner, ends);
    else
        route->work = work_begin(owner, NULL, WORK_WAITED);
    if (!route->work)
        ompt_end();
    return right && route->work;
}

static bool end_is_lost(const char *function, struct device *end)
{
    return end && loss_refuses(function, &device_living(end)->site);
}

/* From one index of a dimension to the next. */
static size_t step_of(const struct copy *copy, const size_t *dimensions, int level)
{
    size_t step = copy->bytes;
    for (int inner = level + 1; inner < copy->dimensions; inner++)
        step *= dimensions[inner];
    return step;
}

/* Where the rectangle begins, from the begin of its array. */
static size_t begin_of(const struct copy *copy, const size_t *offsets, const size_t *dimensions,
                       int level)
{
    size_t begin = 0;
    for (int i = level; i < copy->dimensions; i++)
        begin += offsets[i] * step_of(copy, dimensions, i);
    return begin;
}

/* Where on devices it begins. */
static struct ends route_ends(const struct route *route, const struct copy *copy)
{
    omprma_addr_t to = (uintptr_t)copy->to, from = (uintptr_t)copy->from;
    if (copy->dimensions > 0) {
        to += begin_of(copy, copy->to_offsets, copy->to_dimensions, 0);
        from += begin_of(copy, copy->from_offsets, copy->from_dimensions, 0);
    }
    return (struct ends){route->to ? to : 0, route->from ? from : 0};
}

static bool route_open(struct route *route, const struct copy *copy)
{
    *route = (struct route){0};
    if (!route_end(copy->to_device, &route->to) || !route_end(copy->from_device, &route->from))
        return false;
    if (end_is_lost("omp_target_memcpy", route->from) ||
        end_is_lost("omp_target_memcpy", route->to))
        return false;
    const struct ends ends = route_ends(route, copy);
    return (!route->to && !route->from) || route_begin(route, copy, &ends);
}

/* The last of its operations ends with all of it, the others when they are issued. */
static void route_tell(struct route *route, const struct ompt_op *next)
{
    if (route->told)
        ompt_op_end(&route->op);
    route->told = next != NULL;
    if (!next)
        return;
    route->op = *next;
    ompt_op_begin(&route->op);
}

static bool route_close(struct route *route)
{
    struct device *placed = route->from ? route->from : route->to;
    if (route->locked)
        pthread_mutex_unlock(&placed->space->lock);
    bool right = !route->work || work_finish(route->work);
    if (route->work) {
        route_tell(route, NULL);
        ompt_end();
    }
    if (route->to)
        device_leave();
    if (route->from)
        device_leave();
    return right;
}

static void route_tell_copy(struct route *route, const char *to, const char *from, size_t bytes)
{
    const struct ompt_op op = {.type = route->from ? OMPT_FROM : OMPT_TO,
                               .from = from,
                               .to = to,
                               .from_device = route->from ? route->from->number : OMPT_HOST,
                               .to_device = route->to ? route->to->number : OMPT_HOST,
                               .bytes = bytes};
    if (route->work)
        route_tell(route, &op);
}

/* Bytes or, with a shape (else NULL), runs, which never stay on the host. */
static bool route_copy(struct route *route, char *to, const char *from, size_t bytes,
                       const omprma_shape_t *shape)
{
    struct work *work = route->work;
    omprma_addr_t to_address = (uintptr_t)to, from_address = (uintptr_t)from;
    route_tell_copy(route, to, from, bytes);
    if (!work)
        memmove(to, from, bytes);
    else if (!route->from)
        return work_submit(work, to_address, from, bytes, shape);
    else if (!route->to)
        return work_retrieve(work, to, from_address, bytes, shape);
    else
        return work_exchange(work, from_address, &route->to->site, to_address, bytes, shape);
    return true;
}

/* ---- rectangles ----------------------------------------------------------------------------- */

/* The dimensions from `level` on, and their rows as runs. */
static omprma_shape_t shape_of(const struct copy *copy, int level)
{
    int last = copy->dimensions - 1;
    omprma_shape_t shape = {.bytes = copy->volume[last] * copy->bytes, .count = {1, 1, 1}};
    for (int i = last - 1; i >= level; i--) {
        shape.count[last - 1 - i] = copy->volume[i];
        shape.to_stride[last - 1 - i] = step_of(copy, copy->to_dimensions, i);
        shape.from_stride[last - 1 - i] = step_of(copy, copy->from_dimensions, i);
    }
    return shape;
}

static bool rectangle_copy(struct route *route, const struct copy *copy, int level, char *to,
                           const char *from)
{
    if (route->work && copy->dimensions - 1 - level <= OMPRMA_SHAPE_RANK) {
        const omprma_shape_t shape = shape_of(copy, level);
        return route_copy(route, to + begin_of(copy, copy->to_offsets, copy->to_dimensions, level),
                          from + begin_of(copy, copy->from_offsets, copy->from_dimensions, level),
                          shape_bytes(&shape), &shape);
    }
    size_t to_step = step_of(copy, copy->to_dimensions, level);
    size_t from_step = step_of(copy, copy->from_dimensions, level);
    to += copy->to_offsets[level] * to_step;
    from += copy->from_offsets[level] * from_step;
    if (level == copy->dimensions - 1)
        return route_copy(route, to, from, copy->volume[level] * copy->bytes, NULL);
    for (size_t i = 0; i < copy->volume[level]; i++)
        if (!rectangle_copy(route, copy, level + 1, to + i * to_step, from + i * from_step))
            return false;
    return true;
}

/* Does the rectangle end where memory may be? What follows relies on it. */
static bool rectangle_fits(const struct copy *copy, const size_t *offsets, const size_t *dimensions)
{
    size_t step = copy->bytes, end = 0, reach;
    for (int level = copy->dimensions - 1; level >= 0; level--) {
        if (__builtin_add_overflow(offsets[level], copy->volume[level], &reach) ||
            __builtin_mul_overflow(reach, step, &reach) ||
            __builtin_add_overflow(end, reach, &end) || end > PTRDIFF_MAX >> 16 ||
            (level > 0 && __builtin_mul_overflow(step, dimensions[level], &step)))
            return report(NULL, NULL,
                          "omp_target_memcpy_rect: volume and offset of dimension %d are beyond "
                          "all memory",
                          level);
    }
    return true;
}

static bool copy_is_sound(const struct copy *copy)
{
    if (!copy->to || !copy->from)
        return report(NULL, NULL, "omp_target_memcpy: neither pointer may be NULL");
    if (copy->dimensions == 0)
        return true;
    if (copy->dimensions < 0 || copy->dimensions > RECTANGLE_DIMENSIONS)
        return report(NULL, NULL, "omp_target_memcpy_rect: %d dimensions; 1 to %d are possible",
                      copy->dimensions, RECTANGLE_DIMENSIONS);
    if (copy->bytes == 0 || !copy->volume || !copy->to_offsets || !copy->from_offsets ||
        !copy->to_dimensions || !copy->from_dimensions)
        return report(NULL, NULL,
                      "omp_target_memcpy_rect: no list may be NULL, nor the size of an "
                      "element 0");
    return rectangle_fits(copy, copy->to_offsets, copy->to_dimensions) &&
           rectangle_fits(copy, copy->from_offsets, copy->from_dimensions);
}

int copy_run(const struct copy *copy)
{
    struct route route;
    if (copy->dimensions == 0 && copy->bytes == 0)
        return 0;
    if (!copy_is_sound(copy))
        return EINVAL;
    bool right = route_open(&route, copy);
    if (right && copy->dimensions > 0)
        right = rectangle_copy(&route, copy, 0, copy->to, copy->from);
    else if (right)
        right = route_copy(&route, copy->to, copy->from, copy->bytes, NULL);
    return route_close(&route) && right ? 0 : EINVAL;
}

/* ---- filling -------------------------------------------------------------------------------- */

int fill_run(const struct copy *filled, int value)
{
    struct route route = {0};
    char *to = filled->to;
    size_t bytes = filled->bytes;
    if (!to || bytes == 0)
        return 0;
    bool right = route_end(filled->to_device, &route.to);
    if (right && !route.to) {
        memset(to, value, bytes);
        return 0;
    }
    if (right) {
        right = !end_is_lost("omp_target_memset", route.to);
        const struct ends ends = {(uintptr_t)to, 0};
        right = right && route_begin(&route, filled, &ends);
        route_tell_copy(&route, to, NULL, bytes);
        right = right && work_fill(route.work, (uintptr_t)to, (unsigned char)value, bytes);
    }
    return route_close(&route) && right ? 0 : EINVAL;
}
