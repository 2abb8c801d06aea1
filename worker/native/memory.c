/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c: a short array of arenas. One is mapped (place_map()) and attached when it is made; the
 * last one takes the place of one that goes.
 */
#include "worker/native/memory.h"

#include "base/error.h"

static omprma_status_t attach(struct memory *memory, void *base, uint64_t bytes)
{
    struct datapath *path = memory->path;

    return path && path->attach ? path->attach(path, base, bytes) : OMPRMA_OK;
}

/* Takes `bytes` from the quota, if there is one. */
static omprma_status_t take(struct memory *memory, uint64_t bytes)
{
    if (!memory->quota || quota_take(memory->quota, bytes, memory->quota_bytes))
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                     "%llu MiB more would pass the worker's %llu MiB (%llu MiB attached, %llu MiB "
                     "by other programs that share it); free memory, use more workers, or set "
                     "OMPRMA_MEMORY",
                     (unsigned long long)(bytes >> 20),
                     (unsigned long long)(memory->quota_bytes >> 20),
                     (unsigned long long)(memory->used_bytes >> 20),
                     (unsigned long long)(quota_others(memory->quota) >> 20));
}

static void give(struct memory *memory, uint64_t bytes)
{
    if (memory->quota)
        quota_give(memory->quota, bytes);
}

/* Maps and attaches it. */
static omprma_status_t make(struct memory *memory, uint64_t bytes, uint64_t wish,
                            struct place_file *file, void **mapped)
{
    const struct place_memory where = {.huge_pages = memory->huge_pages,
                                       .below = datapath_below(memory->path),
                                       .wish = (void *)(uintptr_t)wish,
                                       .file = memory->shared ? file : NULL};
    omprma_status_t status = place_map(memory->place, bytes, &where, mapped);

    if (status != OMPRMA_OK)
        return status;
    status = attach(memory, *mapped, bytes);
    if (status != OMPRMA_OK)
        place_unmap(*mapped, bytes, file);
    return status;
}

omprma_status_t memory_grow(struct memory *memory, uint64_t bytes, uint64_t wish, uint64_t *base)
{
    struct place_file file = {.fd = -1};
    void *mapped = NULL;
    omprma_status_t status;

    if (memory->count == WIRE_ARENAS_MOST)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "all %d arenas of the device are in use; raise OMPRMA_ARENA",
                         memory->count);
    if (bytes > memory->limit_bytes || memory->used_bytes > memory->limit_bytes - bytes)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "%llu MiB more would pass the device's %llu MiB "
                         "(%llu MiB attached); free memory, use more devices, or set OMPRMA_MEMORY",
                         (unsigned long long)(bytes >> 20),
                         (unsigned long long)(memory->limit_bytes >> 20),
                         (unsigned long long)(memory->used_bytes >> 20));
    status = take(memory, bytes);
    if (status != OMPRMA_OK)
        return status;
    status = make(memory, bytes, wish, &file, &mapped);
    if (status != OMPRMA_OK) {
        give(memory, bytes);
        return status;
    }
    memory->arenas[memory->count++] =
        (struct memory_arena){.base = (uint64_t)(uintptr_t)mapped, .bytes = bytes, .file = file};
    memory->used_bytes += bytes;
    *base = (uint64_t)(uintptr_t)mapped;
    return OMPRMA_OK;
}

static void drop(struct memory *memory, int index)
{
    struct memory_arena *arena = &memory->arenas[index];
    void *base = (void *)(uintptr_t)arena->base;

    if (memory->path && memory->path->detach)
        memory->path->detach(memory->path, base);
    place_unmap(base, arena->bytes, &arena->file);
    give(memory, arena->bytes);
    memory->used_bytes -= arena->bytes;
    *arena = memory->arenas[--memory->count];
}

omprma_status_t memory_release(struct memory *memory, uint64_t base)
{
    for (int i = 0; i < memory->count; i++) {
        if (memory->arenas[i].base == base) {
            drop(memory, i);
            return OMPRMA_OK;
        }
    }
    return error_set(OMPRMA_ERR_ADDRESS, "0x%llx is not the start of an arena",
                     (unsigned long long)base);
}

bool memory_holds(const struct memory *memory, uint64_t address, uint64_t bytes)
{
    for (int i = 0; i < memory->count; i++) {
        const struct memory_arena *arena = &memory->arenas[i];

        if (address >= arena->base && address - arena->base <= arena->bytes &&
            bytes <= arena->bytes - (address - arena->base))
            return true;
    }
    return false;
}

struct shm_address memory_file(const struct memory *memory, uint64_t base)
{
    for (int i = 0; i < memory->count; i++)
        if (memory->arenas[i].base == base && memory->arenas[i].file.fd >= 0)
            return memory->arenas[i].file.address;
    return (struct shm_address){0};
}

void memory_close(struct memory *memory)
{
    while (memory->count)
        drop(memory, memory->count - 1);
}
