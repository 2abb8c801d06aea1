/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shape.c: rows of the innermost dimension are copied by a loop that knows the size of a run where
 * that is an element's. */
#include "base/shape.h"

#include <string.h>

bool shape_is_sound(const struct shape *shape)
{
    uint64_t reach = shape->bytes, all = shape->bytes, more;

    if (shape->bytes == 0 || shape->bytes > SHAPE_MOST)
        return false;
    for (int i = 0; i < SHAPE_RANK; i++)
        if (shape->count[i] == 0 ||
            __builtin_mul_overflow(shape->count[i] - 1, shape->stride[i], &more) ||
            __builtin_add_overflow(reach, more, &reach) || reach > SHAPE_MOST ||
            __builtin_mul_overflow(all, shape->count[i], &all) || all > SHAPE_MOST)
            return false;
    return true;
}

uint64_t shape_runs(const struct shape *shape)
{
    uint64_t runs = 1;

    for (int i = 0; i < SHAPE_RANK; i++)
        runs *= shape->count[i];
    return runs;
}

uint64_t shape_reach(const struct shape *shape)
{
    uint64_t reach = shape->bytes;

    for (int i = 0; i < SHAPE_RANK; i++)
        reach += (shape->count[i] - 1) * shape->stride[i];
    return reach;
}

uint64_t shape_at(const struct shape *shape, uint64_t run)
{
    uint64_t at = 0;

    for (int i = 0; i < SHAPE_RANK; i++) {
        at += run % shape->count[i] * shape->stride[i];
        run /= shape->count[i];
    }
    return at;
}

/* Runs of a row. */
struct row {
    char *to;
    const char *from;
    uint64_t to_step, from_step, runs;
};

static inline void copy_row(const struct row *row, uint64_t bytes)
{
    char *to = row->to;
    const char *from = row->from;

    for (uint64_t i = 0; i < row->runs; i++) {
        memcpy(to, from, bytes);
        to += row->to_step;
        from += row->from_step;
    }
}

/* A constant size makes a load and a store of each run. */
static void copy_runs(const struct row *row, uint64_t bytes)
{
    switch (bytes) {
    case 4:
        copy_row(row, 4);
        break;
    case 8:
        copy_row(row, 8);
        break;
    case 16:
        copy_row(row, 16);
        break;
    default:
        copy_row(row, bytes);
    }
}

void shape_copy(const struct shape *from_shape, const void *from, const struct shape *to_shape,
                void *to, uint64_t first, uint64_t runs)
{
    while (runs > 0) {
        uint64_t left = from_shape->count[0] - first % from_shape->count[0];
        struct row row = {
            .to = (char *)to + shape_at(to_shape, first),
            .from = (const char *)from + shape_at(from_shape, first),
            .to_step = to_shape->stride[0],
            .from_step = from_shape->stride[0],
            .runs = left < runs ? left : runs,
        };

        copy_runs(&row, from_shape->bytes);
        first += row.runs;
        runs -= row.runs;
    }
}

/* The same runs behind each other. */
static struct shape packed_shape(const struct shape *shape)
{
    struct shape packed = *shape;
    uint64_t stride = shape->bytes;

    for (int i = 0; i < SHAPE_RANK; i++) {
        packed.stride[i] = stride;
        stride *= shape->count[i];
    }
    return packed;
}

void shape_pack(const struct shape *shape, const void *at, uint64_t first, uint64_t runs,
                void *packed)
{
    const struct shape to = packed_shape(shape);

    shape_copy(shape, at, &to, (char *)packed - first * shape->bytes, first, runs);
}

void shape_unpack(const struct shape *shape, void *at, uint64_t first, uint64_t runs,
                  const void *packed)
{
    const struct shape from = packed_shape(shape);

    shape_copy(&from, (const char *)packed - first * shape->bytes, shape, at, first, runs);
}
