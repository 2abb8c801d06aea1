/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* device.c: devices, contexts and memory of the stand-in. See standin.h. */
#define _GNU_SOURCE
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct block {
    struct block *next;
    uint64_t address;
    size_t bytes;
    int device; /* -1: a variable that lies in code */
};

struct registration {
    struct registration *next;
    const char *memory;
    size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context contexts[DEVICES_MOST] = {
    [0 ... DEVICES_MOST - 1] = {.kernels = PTHREAD_MUTEX_INITIALIZER,
                                .work = PTHREAD_RWLOCK_INITIALIZER}};
static struct block *blocks;
static struct registration *registrations;
static size_t used[DEVICES_MOST];
static bool initialized;
static _Thread_local struct context *current;

/* ---- errors in words ---- */

static const struct {
    int code;
    const char *name, *words;
} errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {PEER_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const char *const *find_error(int code, bool words)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].code == code)
            return words ? &errors[i].words : &errors[i].name;
    return NULL;
}

EXPORT int cuGetErrorName(int code, const char **name)
{
    const char *const *found = find_error(code, false);

    *name = found ? *found : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuGetErrorString(int code, const char **text)
{
    const char *const *found = find_error(code, true);

    *text = found ? *found : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

/* ---- devices ---- */

EXPORT int cuDriverGetVersion(int *version)
{
    settings_read();
    *version = settings.version;
    return SUCCESS;
}

EXPORT int cuInit(unsigned flags)
{
    settings_read();
    ENTER;
    if (flags)
        return INVALID_VALUE;
    initialized = settings.devices > 0;
    return initialized ? SUCCESS : NO_DEVICE;
}

EXPORT int cuDeviceGetCount(int *count)
{
    ENTER;
    if (!initialized)
        return NOT_INITIALIZED;
    *count = settings.devices;
    return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
    ENTER;
    if (ordinal < 0 || ordinal >= settings.devices)
        return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int bytes, int device)
{
    ENTER;
    snprintf(name, (size_t)bytes, "Stand-in %d", device);
    return SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    ENTER;
    (void)device;
    *bytes = settings.memory_bytes;
    return SUCCESS;
}

EXPORT int cuDeviceGetUuid(unsigned char uuid[16], int device)
{
    ENTER;
    memset(uuid, 0x50 + device, 16);
    return SUCCESS;
}

EXPORT int cuDeviceGetPCIBusId(char *bus, int bytes, int device)
{
    ENTER;
    snprintf(bus, (size_t)bytes, "0000:%02X:00.0", 0xa0 + device);
    return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    /* By number, those that runtimes ask for. */
    static const struct {
        int attribute, value;
    } known[] = {
        {1, 1024},     {2, 1024},     {3, 1024},  {4, 64},       {5, 2147483647},  {6, 65535},
        {7, 65535},    {8, 49152},    {9, 65536}, {10, 32},      {11, 2147483647}, {12, 65536},
        {13, 1000000}, {14, 512},     {15, 1},    {16, 4},       {17, 0},          {18, 0},
        {19, 1},       {20, 0},       {31, 1},    {32, 0},       {33, 160},        {34, 0},
        {35, 0},       {36, 1000000}, {37, 512},  {38, 1 << 20}, {39, 2048},       {40, 1},
        {41, 1},       {75, 9},       {76, 0},    {78, 1},       {79, 1},          {80, 1},
        {81, 233472},  {82, 65536},   {83, 0},    {86, 0},       {88, 0},          {89, 0},
        {95, 1},       {97, 232448},  {99, 1},    {102, 0},      {106, 32},        {115, 0},
    };

    ENTER;
    if (device < 0 || device >= settings.devices)
        return INVALID_DEVICE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].attribute != attribute)
            continue;
        *value = attribute == 75   ? settings.capability / 10
                 : attribute == 76 ? settings.capability % 10
                                   : known[i].value;
        return SUCCESS;
    }
    return INVALID_VALUE;
}

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    ENTER;
    *can = device != peer;
    return SUCCESS;
}

/* ---- contexts ---- */

EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    ENTER;
    (void)device, (void)flags;
    return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRetain(struct context **context, int device)
{
    ENTER;
    pthread_mutex_lock(&lock);
    *context = &contexts[device];
    if (contexts[device].references++ == 0) {
        contexts[device].device = device;
        contexts[device].fault = SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    counts_add(&counts.contexts, 1);
    return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    ENTER;
    pthread_mutex_lock(&lock);
    contexts[device].references--;
    pthread_mutex_unlock(&lock);
    counts_add(&counts.contexts, -1);
    return SUCCESS;
}

EXPORT int cuCtxSetCurrent(struct context *context)
{
    ENTER;
    current = context;
    return SUCCESS;
}

void standin_forget_contexts(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < DEVICES_MOST; i++)
        contexts[i].references = 0;
    pthread_mutex_unlock(&lock);
}

int context_current(struct context **context)
{
    if (!current || current->references == 0)
        return INVALID_CONTEXT;
    *context = current;
    return current->fault;
}

void context_lose(struct context *context, int code)
{
    pthread_rwlock_wrlock(&context->work);
    if (context->fault == SUCCESS)
        context->fault = code;
    pthread_rwlock_unlock(&context->work);
}

EXPORT int cuCtxEnablePeerAccess(struct context *peer, unsigned flags)
{
    ENTER;
    (void)flags;
    return peer ? SUCCESS : INVALID_CONTEXT;
}

/* Of a thread's stack, of what kernels print, and of what they allocate. */
enum { LIMITS = 3 };
static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20};

EXPORT int cuCtxGetLimit(size_t *value, int limit)
{
    ENTER;
    if (limit < 0 || limit >= LIMITS)
        return INVALID_VALUE;
    *value = limits[limit];
    return SUCCESS;
}

EXPORT int cuCtxSetLimit(int limit, size_t value)
{
    ENTER;
    if (limit < 0 || limit >= LIMITS)
        return INVALID_VALUE;
    limits[limit] = value;
    return SUCCESS;
}

/* ---- memory ---- */

static int note(uint64_t address, size_t bytes, int device)
{
    struct block *block = malloc(sizeof(*block));

    if (!block)
        return OUT_OF_MEMORY;
    *block = (struct block){.address = address, .bytes = bytes, .device = device};
    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    if (device >= 0)
        used[device] += bytes;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* Takes a block that begins there out of the list. */
static struct block *forget(uint64_t address)
{
    struct block **link = &blocks, *block;

    pthread_mutex_lock(&lock);
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    block = *link;
    if (block) {
        *link = block->next;
        if (block->device >= 0)
            used[block->device] -= block->bytes;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static bool lies_in(uint64_t address, size_t bytes, uint64_t base, size_t whole)
{
    return address >= base && address - base <= whole && bytes <= whole - (address - base);
}

bool memory_is_valid(uint64_t address, size_t bytes)
{
    bool valid = false;

    pthread_mutex_lock(&lock);
    for (const struct block *block = blocks; block && !valid; block = block->next)
        valid = lies_in(address, bytes, block->address, block->bytes);
    pthread_mutex_unlock(&lock);
    return valid;
}

uint64_t memory_take(int device, size_t bytes)
{
    void *memory;

    if (bytes > settings.memory_bytes || used[device] > settings.memory_bytes - bytes)
        return 0;
    memory = standin_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    if (memory == MAP_FAILED)
        return 0;
    if (note((uint64_t)(uintptr_t)memory, bytes, device) == SUCCESS)
        return (uint64_t)(uintptr_t)memory;
    standin_unmap(memory, bytes);
    return 0;
}

void memory_give(uint64_t address)
{
    struct block *block = forget(address);

    standin_unmap((void *)(uintptr_t)address, block->bytes);
    free(block);
}

int memory_note(uint64_t address, size_t bytes)
{
    return note(address, bytes, -1);
}

void memory_forget(uint64_t address)
{
    free(forget(address));
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    struct context *context;
    int code;

    ENTER;
    code = context_current(&context);
    if (code != SUCCESS)
        return code;
    if (bytes == 0)
        return INVALID_VALUE;
    *address = memory_take(context->device, bytes);
    if (!*address)
        return OUT_OF_MEMORY;
    memset((void *)(uintptr_t)*address, 0xee, bytes < 65536 ? bytes : 65536);
    counts_add(&counts.blocks, 1);
    return SUCCESS;
}

EXPORT int cuMemFree_v2(uint64_t address)
{
    ENTER;
    if (!memory_is_valid(address, 1))
        return INVALID_VALUE;
    memory_give(address);
    counts_add(&counts.blocks, -1);
    return SUCCESS;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    struct context *context;
    int code;

    ENTER;
    code = context_current(&context);
    if (code != SUCCESS)
        return code;
    *total_bytes = settings.memory_bytes;
    *free_bytes = settings.memory_bytes - used[context->device];
    return SUCCESS;
}

EXPORT int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    struct registration *registration;

    ENTER;
    (void)flags;
    registration = malloc(sizeof(*registration));
    if (!registration)
        return OUT_OF_MEMORY;
    *registration = (struct registration){.memory = memory, .bytes = bytes};
    pthread_mutex_lock(&lock);
    registration->next = registrations;
    registrations = registration;
    pthread_mutex_unlock(&lock);
    counts_add(&counts.registrations, 1);
    return SUCCESS;
}

EXPORT int cuMemHostUnregister(void *memory)
{
    struct registration **link = &registrations, *found;

    ENTER;
    pthread_mutex_lock(&lock);
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    if (!found)
        return INVALID_VALUE;
    free(found);
    counts_add(&counts.registrations, -1);
    return SUCCESS;
}

/* ---- copies and fills ---- */

struct copy {
    void *to;
    const void *from;
    size_t bytes;
};

static int do_copy(void *data)
{
    const struct copy *copy = data;

    memcpy(copy->to, copy->from, copy->bytes);
    return SUCCESS;
}

/* `device_to`, `device_from`: which end is memory of a device. */
static int add_copy(uint64_t to, bool device_to, uint64_t from, bool device_from, size_t bytes,
                    struct stream *stream)
{
    struct context *context;
    struct copy *copy;
    int code = context_current(&context);

    if (code != SUCCESS)
        return code;
    if ((device_to && !memory_is_valid(to, bytes)) ||
        (device_from && !memory_is_valid(from, bytes)))
        return INVALID_VALUE;
    if (settings.gbps && bytes >= STREAM_ENGINE_LEAST && !calls_copy_moves(bytes)) {
        stream_add_copy(stream, device_to, bytes);
        return SUCCESS;
    }
    copy = malloc(sizeof(*copy));
    if (copy)
        *copy = (struct copy){(void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes};
    return stream_add(stream, do_copy, copy);
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, struct stream *stream)
{
    ENTER;
    return add_copy(to, true, (uint64_t)(uintptr_t)from, false, bytes, stream);
}

static bool is_registered(const char *memory, size_t bytes)
{
    bool registered = false;

    pthread_mutex_lock(&lock);
    for (const struct registration *one = registrations; one && !registered; one = one->next)
        registered = lies_in((uintptr_t)memory, bytes, (uintptr_t)one->memory, one->bytes);
    pthread_mutex_unlock(&lock);
    return registered;
}

/* To memory that is not page-locked it returns when it is done, as the real one. */
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, struct stream *stream)
{
    int code;

    ENTER;
    code = add_copy((uint64_t)(uintptr_t)to, false, from, true, bytes, stream);
    return code == SUCCESS && !is_registered(to, bytes) ? stream_wait(stream) : code;
}

EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, struct stream *stream)
{
    ENTER;
    if (to < from + bytes && from < to + bytes)
        return INVALID_VALUE; /* the real one copies something */
    return add_copy(to, true, from, true, bytes, stream);
}

EXPORT int cuMemcpyPeerAsync(uint64_t to, const struct context *to_context, uint64_t from,
                             const struct context *from_context, size_t bytes,
                             struct stream *stream)
{
    ENTER;
    if (!to_context->references || !from_context->references)
        return INVALID_CONTEXT;
    return add_copy(to, true, from, true, bytes, stream);
}

struct fill {
    char *to;
    size_t pitch, width, height, pattern_bytes;
    uint32_t pattern;
};

static int do_fill(void *data)
{
    const struct fill *fill = data;

    for (size_t row = 0; row < fill->height; row++)
        for (size_t i = 0; i < fill->width; i++)
            memcpy(fill->to + row * fill->pitch + i * fill->pattern_bytes, &fill->pattern,
                   fill->pattern_bytes);
    return SUCCESS;
}

static int add_fill(struct fill fill, struct stream *stream)
{
    struct context *context;
    struct fill *copy;
    size_t bytes = fill.pitch * (fill.height - 1) + fill.width * fill.pattern_bytes;
    int code = context_current(&context);

    if (code != SUCCESS)
        return code;
    if (!memory_is_valid((uint64_t)(uintptr_t)fill.to, bytes) ||
        (uint64_t)(uintptr_t)fill.to % fill.pattern_bytes)
        return INVALID_VALUE;
    copy = malloc(sizeof(*copy));
    if (copy)
        *copy = fill;
    return stream_add(stream, do_fill, copy);
}

EXPORT int cuMemsetD8Async(uint64_t to, unsigned char pattern, size_t count, struct stream *stream)
{
    ENTER;
    return add_fill((struct fill){(char *)(uintptr_t)to, 0, count, 1, 1, pattern}, stream);
}

EXPORT int cuMemsetD16Async(uint64_t to, unsigned short pattern, size_t count,
                            struct stream *stream)
{
    ENTER;
    return add_fill((struct fill){(char *)(uintptr_t)to, 0, count, 1, 2, pattern}, stream);
}

EXPORT int cuMemsetD32Async(uint64_t to, unsigned pattern, size_t count, struct stream *stream)
{
    ENTER;
    return add_fill((struct fill){(char *)(uintptr_t)to, 0, count, 1, 4, pattern}, stream);
}

EXPORT int cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned pattern, size_t width,
                              size_t height, struct stream *stream)
{
    ENTER;
    return add_fill((struct fill){(char *)(uintptr_t)to, pitch, width, height, 4, pattern}, stream);
}
