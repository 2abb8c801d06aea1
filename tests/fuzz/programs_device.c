/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* programs_device.c: see programs_device.h. Every operation is done by the call. */
#include "tests/fuzz/programs_device.h"

#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <omprma/omprma.h>
#include <omprma_private/common.h>

#include "base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fake/no_checks.h"
#include "tests/unit/fake/no_unwaited.h"
#include "tests/unit/fake/parts.h"

enum { BLOCKS_MOST = 512, BLOCK_BYTES_MOST = 1 << 16, GLOBAL_BYTES = 4096 };
enum { PAGE = 4096, LINE = 64 };

static struct block {
    char *start;
    size_t bytes, front; /* what lies in front of it */
} blocks[BLOCKS_MOST];
static size_t block_count;
static char globals[GLOBAL_BYTES]; /* kernels and variables of images */

size_t device_blocks(void)
{
    return block_count;
}

uint64_t device_block(size_t number)
{
    return (uintptr_t)blocks[number].start;
}

static bool lies_in(const char *start, size_t bytes, omprma_addr_t address, size_t length)
{
    return address >= (uintptr_t)start && address - (uintptr_t)start <= bytes &&
           length <= bytes - (address - (uintptr_t)start);
}

static bool on_device(omprma_addr_t address, size_t bytes)
{
    for (size_t i = 0; i < block_count; i++)
        if (lies_in(blocks[i].start, blocks[i].bytes, address, bytes))
            return true;
    return lies_in(globals, sizeof(globals), address, bytes);
}

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's */
extern const char __bss_start, _end;

/* Can it be read, and written to? Address space that a sanitizer has set aside is there, but
 * cannot.
 */
static bool is_accessible(char *at, size_t bytes, bool to)
{
    static int pipe_ends[2];
    const char *end = at + bytes;
    if (pipe_ends[1] == 0 && pipe(pipe_ends) != 0)
        abort();
    for (; at < end; at = (char *)(((uintptr_t)at | 4095) + 1)) {
        char byte;
        if (write(pipe_ends[1], at, 1) != 1)
            return false;
        if (read(pipe_ends[0], to ? at : &byte, 1) == 1)
            continue;
        hold(read(pipe_ends[0], &byte, 1) == 1);
        return false;
    }
    return true;
}

/* Memory of the program; wild addresses are somewhere where nothing is. */
static bool on_host(const void *address, size_t bytes, bool to)
{
    if (bytes > BLOCK_BYTES_MOST || (uintptr_t)address + bytes < bytes)
        return false;
    if (lies_in(program_memory, program_bytes, (uintptr_t)address, bytes))
        return !__asan_region_is_poisoned((void *)(uintptr_t)address, bytes);
    if ((const char *)address >= &__bss_start && (const char *)address < &_end)
        return false; /* the fuzz target's own */
    return !__asan_region_is_poisoned((void *)(uintptr_t)address, bytes) &&
           is_accessible((char *)(uintptr_t)address, bytes, to);
}

static omprma_status_t move(void *to, const void *from, size_t bytes, bool device_to,
                            bool device_from)
{
    if ((device_to && !on_device((uintptr_t)to, bytes)) ||
        (device_from && !on_device((uintptr_t)from, bytes)))
        return error_set(OMPRMA_ERR_ADDRESS, "%zu bytes at %p are not the device's", bytes,
                         device_to ? to : (void *)(uintptr_t)from);
    if ((!device_to && !on_host(to, bytes, true)) || (!device_from && !on_host(from, bytes, false)))
        return error_set(OMPRMA_ERR_ADDRESS, "%zu bytes are not the program's", bytes);
    if (bytes)
        memmove(to, from, bytes);
    return OMPRMA_OK;
}

/* ---- the interface -------------------------------------------------------------------------- */

omprma_status_t omprma_init(void)
{
    return OMPRMA_OK;
}

void omprma_finalize(void)
{
}

int omprma_device_count(void)
{
    return 2;
}

omprma_status_t omprma_device_info(int device, omprma_device_info_t *info)
{
    *info = (omprma_device_info_t){.cores = 1, .lanes = 1 + device, .native = true, .host = "here"};
    return OMPRMA_OK;
}

omprma_status_t omprma_alloc_like(int device, size_t bytes, const void *host,
                                  omprma_addr_t *address)
{
    size_t alignment = bytes >= PAGE ? PAGE : LINE, front = (uintptr_t)host % alignment;
    char *memory;
    if (block_count == BLOCKS_MOST || bytes > BLOCK_BYTES_MOST)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY, "device %d: %zu bytes are too many", device,
                         bytes);
    hold(posix_memalign((void **)&memory, alignment, front + bytes) == 0);
    blocks[block_count++] = (struct block){memory + front, bytes, front};
    *address = (uintptr_t)(memory + front);
    return OMPRMA_OK;
}

omprma_status_t omprma_alloc(int device, size_t bytes, omprma_addr_t *address)
{
    return omprma_alloc_like(device, bytes, NULL, address);
}

omprma_status_t omprma_fault_address(int device, omprma_addr_t *address)
{
    (void)device;
    *address = 0;
    return OMPRMA_OK;
}

omprma_status_t omprma_free(int device, omprma_addr_t address)
{
    (void)device;
    for (size_t i = 0; i < block_count; i++)
        if ((uintptr_t)blocks[i].start == address) {
            free(blocks[i].start - blocks[i].front);
            blocks[i] = blocks[--block_count];
            return OMPRMA_OK;
        }
    return error_set(OMPRMA_ERR_ADDRESS, "free of %llx", (unsigned long long)address);
}

omprma_status_t omprma_address_inside(int device, omprma_addr_t address, size_t bytes, bool *inside)
{
    (void)device;
    *inside = on_device(address, bytes);
    return OMPRMA_OK;
}

/* What is wrong inside of images is the target `elf`'s to find. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
omprma_status_t __wrap_omprma_image_check(const void *image, size_t bytes);
omprma_status_t __wrap_omprma_image_check(const void *image, size_t bytes)
{
    (void)image;
    return bytes % 16 ? OMPRMA_OK : error_set(OMPRMA_ERR_IMAGE, "image of %zu bytes", bytes);
}

/* The names are read, and each gets an address; the worker would look for them. */
omprma_status_t omprma_image_load(int device, const void *image, size_t bytes,
                                  omprma_symbol_t *symbols, size_t count)
{
    (void)image, (void)bytes;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(symbols[i].name);
        if (length == 0 || symbols[i].bytes > GLOBAL_BYTES)
            return error_set(OMPRMA_ERR_SYMBOL, "device %d: no symbol %s", device, symbols[i].name);
        symbols[i].address = (uintptr_t)globals;
    }
    return OMPRMA_OK;
}

struct omprma_queue {
    int device;
};
struct omprma_event {
    int recorded;
};

omprma_status_t omprma_queue_create(int device, omprma_queue_t **queue)
{
    *queue = calloc(1, sizeof(**queue));
    hold(*queue != NULL);
    (*queue)->device = device;
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_destroy(omprma_queue_t *queue)
{
    free(queue);
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_synchronize(omprma_queue_t *queue)
{
    (void)queue;
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_flush(omprma_queue_t *queue)
{
    (void)queue;
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_query(omprma_queue_t *queue, bool *done)
{
    (void)queue;
    *done = true;
    return OMPRMA_OK;
}

omprma_status_t omprma_event_create(omprma_event_t **event)
{
    *event = calloc(1, sizeof(**event));
    hold(*event != NULL);
    return OMPRMA_OK;
}

void omprma_event_destroy(omprma_event_t *event)
{
    free(event);
}

omprma_status_t omprma_event_record(omprma_event_t *event, omprma_queue_t *queue)
{
    (void)queue;
    event->recorded++;
    return OMPRMA_OK;
}

omprma_status_t omprma_event_wait(omprma_event_t *event, omprma_queue_t *queue)
{
    (void)queue;
    hold(event->recorded > 0);
    return OMPRMA_OK;
}

omprma_status_t omprma_event_query(omprma_event_t *event, bool *done)
{
    hold(event->recorded > 0);
    *done = true;
    return OMPRMA_OK;
}

omprma_status_t omprma_event_synchronize(omprma_event_t *event)
{
    hold(event->recorded > 0);
    return OMPRMA_OK;
}

omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                              size_t bytes)
{
    (void)queue;
    return move((void *)(uintptr_t)to, from, bytes, true, false);
}

omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from, size_t bytes)
{
    (void)queue;
    return move(to, (void *)(uintptr_t)from, bytes, false, true);
}

/* One device has its memory alone. */
omprma_status_t omprma_memory_join(const int *devices, int count)
{
    (void)devices, (void)count;
    return error_set(OMPRMA_ERR_ARGUMENT, "no other device");
}

bool omprma_device_is_lost(int device)
{
    (void)device;
    return false;
}

omprma_status_t omprma_exchange_cost(int from, int to, omprma_exchange_cost_t *cost)
{
    (void)from, (void)to;
    *cost = (omprma_exchange_cost_t){0};
    return OMPRMA_OK;
}

omprma_status_t omprma_exchange(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                omprma_addr_t to, size_t bytes)
{
    (void)queue, (void)to_device;
    return move((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, true, true);
}

omprma_status_t omprma_fill(omprma_queue_t *queue, omprma_addr_t to, const void *pattern,
                            size_t pattern_bytes, size_t count)
{
    (void)queue;
    if (!on_device(to, pattern_bytes * count))
        return error_set(OMPRMA_ERR_ADDRESS, "fill of %llx", (unsigned long long)to);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)(uintptr_t)to + i * pattern_bytes, pattern, pattern_bytes);
    return OMPRMA_OK;
}

/* Kernels compute nothing, but all of their words are read, whatever their form. */
omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const omprma_geometry_t *geometry, const uint64_t *arguments,
                              size_t count)
{
    uint64_t sum = 0;
    (void)queue, (void)geometry;
    if (!on_device(kernel, 0)) /* a function's pointer is what the device has */
        return error_set(OMPRMA_ERR_ADDRESS, "no kernel");
    if (count > OMPRMA_LAUNCH_ARGUMENTS)
        return error_set(OMPRMA_ERR_ARGUMENT, "%zu arguments", count);
    for (size_t i = 0; i < count; i++)
        sum |= arguments[i] >> 1;
    hold(sum >> 63 == 0);
    return OMPRMA_OK;
}

omprma_status_t omprma_launch_context(omprma_queue_t *queue, omprma_addr_t kernel,
                                      const omprma_geometry_t *geometry, const uint64_t *arguments,
                                      size_t count)
{
    return omprma_launch(queue, kernel, geometry, arguments, count);
}
