/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c: of runs the first and the last are looked at, and all that lies between them as it was
 * when memory was last looked at; only where something between is not the program's they are looked
 * at one by one.
 */
#include "host/calls/memory.h"

#include <omprma_private/memory.h>

#include "base/access.h"
#include "base/error.h"
#include "host/core/device.h"

static omprma_status_t refuse(const struct device *device, enum access_answer answer,
                              const void *at, uint64_t bytes, bool write, uint64_t bad)
{
    return error_set(OMPRMA_ERR_ARGUMENT,
                     "%s%s%s of %llu bytes: memory of the program at %p, byte %llu, %s",
                     device ? device_name(device) : "", device ? ": " : "",
                     write ? "retrieve" : "submit", (unsigned long long)bytes,
                     (void *)(uintptr_t)bad, (unsigned long long)(bad - (uintptr_t)at),
                     access_words(answer, write ? ACCESS_WRITE : ACCESS_READ));
}

omprma_status_t memory_check_now(const struct device *device, const void *at, uint64_t bytes,
                                 bool write)
{
    uint64_t bad = 0;
    enum access_answer answer = access_look(at, bytes, write ? ACCESS_WRITE : ACCESS_READ, &bad);

    return answer == ACCESS_GRANTED ? OMPRMA_OK : refuse(device, answer, at, bytes, write, bad);
}

omprma_status_t memory_check_known(const struct device *device, const void *at, uint64_t bytes,
                                   bool write)
{
    uint64_t bad = 0;
    enum access_answer answer =
        access_look_small(at, bytes, write ? ACCESS_WRITE : ACCESS_READ, &bad);

    return answer == ACCESS_GRANTED ? OMPRMA_OK : refuse(device, answer, at, bytes, write, bad);
}

omprma_status_t memory_check(const struct device *device, const void *at, uint64_t bytes,
                             bool write)
{
    return bytes > OMPRMA_COPIED_SUBMIT ? memory_check_now(device, at, bytes, write)
                                        : memory_check_known(device, at, bytes, write);
}

omprma_status_t memory_check_runs(const struct device *device, const void *at,
                                  const struct shape *shape, bool write)
{
    uint64_t runs = shape_runs(shape);
    const char *begin = at;
    omprma_status_t status = memory_check(device, begin, shape->bytes, write);

    if (status == OMPRMA_OK)
        status = memory_check(device, begin + shape_at(shape, runs - 1), shape->bytes, write);
    if (status != OMPRMA_OK ||
        access_was_granted(begin, shape_reach(shape), write ? ACCESS_WRITE : ACCESS_READ))
        return status;
    for (uint64_t i = 1; i + 1 < runs && status == OMPRMA_OK; i++)
        status = memory_check(device, begin + shape_at(shape, i), shape->bytes, write);
    return status;
}

omprma_status_t omprma_memory_check(const void *at, size_t bytes, bool write)
{
    return memory_check(NULL, at, bytes, write);
}

bool omprma_memory_is_constant(const void *at, size_t bytes)
{
    uint64_t bad;

    return access_look_small(at, bytes > 0 ? 1 : 0, ACCESS_WRITE, &bad) == ACCESS_CONSTANT;
}
