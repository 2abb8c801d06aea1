/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* motion.c: moving the data of mapped ranges, and the pointers in them. See maps.h. */
#include <string.h>

#include "openmp/abi/location.h"
#include "openmp/device/info.h"
#include "openmp/map/maps.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

omprma_addr_t maps_look_up(struct work *work, const void *begin, size_t bytes)
{
    struct mapped *mapped;
    if (mapping_find(&work->device->mapping, (uintptr_t)begin, bytes, &mapped) != OVERLAP_INSIDE)
        return 0;
    return mapped_address(mapped, (uintptr_t)begin);
}

static void info_copy(const struct work *work, bool back, const void *host, omprma_addr_t device,
                      size_t bytes, const char *map_name)
{
    struct name name = name_of(map_name);
    unsigned long long there = device, here = (uintptr_t)host;
    info_print(work->device->number,
               "Copying data from %s, %s=0x%016llx, %s=0x%016llx, Size=%zu, Name=%.*s\n",
               back ? "device to host" : "host to device", back ? "TgtPtr" : "HstPtr",
               back ? there : here, back ? "HstPtr" : "TgtPtr", back ? here : there, bytes,
               name.length, name.text);
}

struct resubmit {
    struct work *work;
    struct mapped *mapped;
    bool right;
};

/* To where the host has its own. */
static bool pointer_submit(struct work *work, const struct mapped *mapped, uintptr_t pointer,
                           const void *value, size_t bytes)
{
    omprma_addr_t to = mapped_address(mapped, pointer);
    struct ompt_op op = ompt_to((const void *)pointer, work->device->number, to, bytes);
    ompt_op_begin(&op);
    bool right = work_submit(work, to, value, bytes);
    ompt_op_end(&op);
    return right;
}

static void pointer_resubmit(const struct attached *pointer, void *context)
{
    struct resubmit *resubmit = context;
    if (resubmit->right)
        resubmit->right = pointer_submit(resubmit->work, resubmit->mapped, pointer->pointer,
                                         pointer->device_value, pointer->bytes);
}

bool pointers_submit(struct work *work, struct mapped *mapped)
{
    struct resubmit resubmit = {work, mapped, true};
    mapped_each_pointer(mapped, mapped->begin, mapped->end - mapped->begin, pointer_resubmit,
                        &resubmit);
    work_write(work, mapped);
    return resubmit.right;
}

bool range_submit(struct work *work, struct mapped *mapped, const void *begin, size_t bytes)
{
    omprma_addr_t to = mapped_address(mapped, (uintptr_t)begin);
    if (info_wants(INFO_TRANSFERS))
        info_copy(work, false, begin, to, bytes, mapped->name);
    struct resubmit resubmit = {work, mapped, true};
    struct ompt_op op = ompt_to(begin, work->device->number, to, bytes);
    ompt_op_begin(&op);
    work->moved = mapped->name;
    bool right = work_follow(work, mapped) && work_submit_part(work, mapped, begin, bytes);
    work->moved = NULL;
    ompt_op_end(&op);
    if (!right)
        return false;
    work_write(work, mapped);
    if (mapped_has_pointers(mapped))
        mapped_each_pointer(mapped, (uintptr_t)begin, bytes, pointer_resubmit, &resubmit);
    if (!resubmit.right || !work_pin(work, mapped, (uintptr_t)begin, 0))
        return false;
    if ((uintptr_t)begin == mapped->begin && bytes == mapped->end - mapped->begin)
        LIST_FIRST(&mapped->pins)->given = true;
    return true;
}

struct retrieve {
    struct work *work;
    struct mapped *mapped;
    uintptr_t at; /* what lies before it is retrieved, or stays */
    size_t pointers;
    bool right;
};

static void pointer_count(const struct attached *pointer, void *context)
{
    struct retrieve *retrieve = context;
    (void)pointer;
    retrieve->pointers++;
}

static void retrieve_until(struct retrieve *retrieve, uintptr_t end)
{
    if (retrieve->right && retrieve->at < end)
        retrieve->right = work_retrieve_part(retrieve->work, retrieve->mapped, (void *)retrieve->at,
                                             end - retrieve->at);
}

static void pointer_pass(const struct attached *pointer, void *context)
{
    struct retrieve *retrieve = context;
    retrieve_until(retrieve, pointer->pointer);
    retrieve->at = pointer->pointer + pointer->bytes;
}

/* A pointer that is attached keeps its value on the host. Other threads may read it at any time,
 * those that come to the next construct that maps what it points to, so the device's value is not
 * to stand there even for a moment: only what lies between pointers is retrieved. Where there are
 * *many, all is, and the pointers are put right when the construct ends. */
static bool retrieve_around(struct work *work, struct mapped *mapped, void *begin, size_t bytes,
                            bool *many)
{
    enum { FEW = 64 };
    struct retrieve retrieve = {work, mapped, (uintptr_t)begin, 0, true};
    if (bytes > FEW * sizeof(void *))
        mapped_each_pointer(mapped, (uintptr_t)begin, bytes, pointer_count, &retrieve);
    *many = retrieve.pointers > FEW;
    if (!*many)
        mapped_each_pointer(mapped, (uintptr_t)begin, bytes, pointer_pass, &retrieve);
    retrieve_until(&retrieve, (uintptr_t)begin + bytes);
    return retrieve.right;
}

bool range_retrieve(struct work *work, struct mapped *mapped, void *begin, size_t bytes)
{
    bool many = false;
    omprma_addr_t from = mapped_address(mapped, (uintptr_t)begin);
    if (info_wants(INFO_TRANSFERS))
        info_copy(work, true, begin, from, bytes, mapped->name);
    struct ompt_op op = ompt_from(work->device->number, from, begin, bytes);
    ompt_op_begin(&op);
    work->moved = mapped->name;
    bool right = work_follow(work, mapped) &&
                 (mapped_has_pointers(mapped) ? retrieve_around(work, mapped, begin, bytes, &many)
                                              : work_retrieve_part(work, mapped, begin, bytes));
    work->moved = NULL;
    ompt_op_end(&op);
    if (!right)
        return false;
    work_write(work, mapped);
    right = work_pin(work, mapped, (uintptr_t)begin, many ? bytes : 0);
    if (right)
        LIST_FIRST(&mapped->pins)->retrieved = true;
    return right;
}

static bool runs_go_together(const struct work *work, const struct mapped *mapped)
{
    return !work->spared && !mapped_has_pointers(mapped) && !info_wants(INFO_TRANSFERS);
}

bool range_submit_runs(struct work *work, struct mapped *mapped, const void *begin,
                       const omprma_shape_t *shape, bool *done)
{
    *done = runs_go_together(work, mapped);
    if (!*done)
        return true;
    omprma_addr_t to = mapped_address(mapped, (uintptr_t)begin);
    struct ompt_op op = ompt_to(begin, work->device->number, to, shape_bytes(shape));
    ompt_op_begin(&op);
    work->moved = mapped->name;
    bool right = work_follow(work, mapped) && work_submit_strided(work, to, begin, shape);
    work->moved = NULL;
    ompt_op_end(&op);
    if (!right)
        return false;
    work_write(work, mapped);
    return work_pin(work, mapped, (uintptr_t)begin, 0);
}

bool range_retrieve_runs(struct work *work, struct mapped *mapped, void *begin,
                         const omprma_shape_t *shape, bool *done)
{
    *done = runs_go_together(work, mapped);
    if (!*done)
        return true;
    omprma_addr_t from = mapped_address(mapped, (uintptr_t)begin);
    struct ompt_op op = ompt_from(work->device->number, from, begin, shape_bytes(shape));
    ompt_op_begin(&op);
    work->moved = mapped->name;
    bool right = work_follow(work, mapped) && work_retrieve_strided(work, begin, from, shape);
    work->moved = NULL;
    ompt_op_end(&op);
    if (!right)
        return false;
    work_write(work, mapped);
    right = work_pin(work, mapped, (uintptr_t)begin, 0);
    if (right)
        LIST_FIRST(&mapped->pins)->retrieved = true;
    return right;
}

bool pointer_attach(struct work *work, struct mapped *mapped, void *pointer, size_t bytes,
                    const void *pointee, omprma_addr_t address)
{
    enum { FEW_BYTES = 256 }; /* the longest descriptor of Fortran has less */
    unsigned char value[FEW_BYTES];
    bool changed;
    if (bytes < sizeof(void *) || bytes > FEW_BYTES)
        return report(work->where, work->site, "a pointer of %zu bytes cannot be attached", bytes);
    memcpy(value, pointer, bytes);
    uintptr_t base;
    memcpy(&base, pointer, sizeof(base));
    uint64_t device_base = address ? address - ((uintptr_t)pointee - base) : 0;
    memcpy(value, &device_base, sizeof(device_base));
    if (!mapped_attach(mapped, (uintptr_t)pointer, bytes, value, &changed))
        return report(work->where, work->site, "no host memory to attach a pointer");
    if (!changed)
        return work_follow(work, mapped);
    if (info_wants(INFO_TRANSFERS))
        info_copy(work, false, pointer, mapped_address(mapped, (uintptr_t)pointer), bytes, NULL);
    if (!work_follow(work, mapped) ||
        !pointer_submit(work, mapped, (uintptr_t)pointer, value, bytes))
        return false;
    work_write(work, mapped);
    return true;
}
