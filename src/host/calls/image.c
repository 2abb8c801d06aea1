/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.c: sends an image over the data path, once per device, and has it loaded. The first device
 * gets it from the application; further ones get it from a device that has it, so that the
 * application's link carries it once. Public functions of omprma.h.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_check.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "host/device/blocks.h"
#include "host/device/devices.h"
#include "host/device/kernel_names.h"

enum { SYMBOLS_AT_ONCE = 4096, PIECE_BYTES = 32 << 20, MIB = 1 << 20 };

static struct image_record *find(const struct device *device, XXH128_hash_t hash, uint64_t bytes)
{
    for (struct image_record *record = device->images; record; record = record->next)
        if (record->bytes == bytes && XXH128_isEqual(record->hash, hash))
            return record;
    return NULL;
}

/* The nearest device before this one that has the image: devices that load it in turn form a chain,
 * in which each serves one other. */
static struct device *find_source(struct device *device, XXH128_hash_t hash, uint64_t bytes,
                                  struct image_record **record)
{
    struct runtime *runtime = device->runtime;

    for (int i = device->number - 1; i > device->number - runtime->device_count; i--) {
        struct device *other =
            runtime->devices[(i + runtime->device_count) % runtime->device_count];

        *record = device_is_well(other) ? find(other, hash, bytes) : NULL;
        if (*record)
            return other;
    }
    return NULL;
}

/* Brings the bytes to the device, in pieces, so that one can see how far that is. */
static omprma_status_t deliver(struct device *device, struct image_record *record,
                               const void *image)
{
    struct image_record *there;
    struct device *source;
    omprma_queue_t *queue;
    omprma_status_t status;

    runtime_lock(device->runtime);
    source = find_source(device, record->hash, record->bytes, &there);
    runtime_unlock(device->runtime);
    status = omprma_queue_create(source ? source->number : device->number, &queue);
    if (status != OMPRMA_OK)
        return status;
    for (uint64_t at = 0, bytes; at < record->bytes && status == OMPRMA_OK; at += bytes) {
        bytes = record->bytes - at < PIECE_BYTES ? record->bytes - at : PIECE_BYTES;
        progress_line_show("omprma: image for device %d: %" PRIu64 " of %" PRIu64 " MiB are there",
                           device->number, at / MIB, record->bytes / MIB);
        if (source)
            status = omprma_exchange(queue, there->address + at, device->number,
                                     record->address + at, bytes);
        else
            status = omprma_submit(queue, record->address + at, (const char *)image + at, bytes);
        if (status == OMPRMA_OK)
            status = omprma_queue_synchronize(queue);
    }
    omprma_queue_destroy(queue);
    return status;
}

static omprma_status_t make_record(struct device *device, const void *image, uint64_t bytes,
                                   struct image_record **out)
{
    XXH128_hash_t hash = XXH3_128bits(image, bytes);
    struct image_record *record;
    omprma_status_t status;

    runtime_lock(device->runtime);
    *out = find(device, hash, bytes);
    runtime_unlock(device->runtime);
    if (*out)
        return OMPRMA_OK;
    record = calloc(1, sizeof(*record));
    if (!record)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an image");
    record->hash = hash;
    record->bytes = bytes;
    status = blocks_alloc(device, bytes, fit_plain(bytes), &record->address);
    if (status == OMPRMA_OK)
        status = deliver(device, record, image);
    if (status != OMPRMA_OK) {
        blocks_release(device, record->address);
        free(record);
        return status;
    }
    runtime_lock(device->runtime);
    record->next = device->images;
    device->images = record;
    runtime_unlock(device->runtime);
    *out = record;
    return OMPRMA_OK;
}

/* The list of symbols as the worker reads it; see worker/command_device.c. NULL without memory. */
static char *encode_names(const omprma_symbol_t *symbols, size_t count, size_t *bytes)
{
    char *names, *at;

    *bytes = 16;
    for (size_t i = 0; i < count; i++)
        *bytes += 8 + ((strlen(symbols[i].name) + 8) & ~(size_t)7);
    at = names = calloc(1, *bytes);
    for (size_t i = 0; names && i < count; i++) {
        size_t length = strlen(symbols[i].name);

        memcpy(at, &symbols[i].bytes, 8);
        memcpy(at + 8, symbols[i].name, length);
        at += 8 + ((length + 8) & ~(size_t)7);
    }
    return names;
}

/* What runs on a device may ask for its number. Devices that have memory in common are one to the
 * program: the first of them. */
static void tell_number(const struct device *device)
{
    struct peer *peer = device->peer;
    bool one = device->memory == device->runtime->common;
    const struct wire_record record = {
        .code = WIRE_NUMBER,
        .device = WIRE_NO_DEVICE,
        .word = {(uint64_t)(one ? device->memory->devices[0]->number : peer->first_device)},
    };

    if (!peer->numbered)
        peer->numbered = peer_send_record(peer, &record, false) == OMPRMA_OK;
}

/* Loads (or finds) the image and looks up some symbols, in one round trip. */
static omprma_status_t look_up(struct device *device, struct image_record *record,
                               omprma_symbol_t *symbols, size_t count, uint64_t *addresses)
{
    size_t bytes;
    char *names = encode_names(symbols, count, &bytes);
    omprma_addr_t there = 0;
    omprma_queue_t *queue = NULL;
    struct wire_record command;
    omprma_status_t status;

    if (!names)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a list of symbols");
    status = blocks_alloc(device, bytes, fit_plain(bytes), &there);
    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &queue);
    if (status == OMPRMA_OK)
        status = omprma_submit(queue, there, names, bytes);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (queue)
        omprma_queue_destroy(queue);
    free(names);
    if (status == OMPRMA_OK) {
        command = (struct wire_record){
            .code = WIRE_LOAD,
            .word = {record->address, record->bytes, there, (uint64_t)count << 32 | bytes},
        };
        progress_line_show("omprma: image of %" PRIu64 " MiB: device %d loads it",
                           record->bytes / MIB, device->number);
        runtime_lock(device->runtime);
        tell_number(device);
        status = device_command(device, &command, NULL, addresses, (uint32_t)(8 * count));
        for (size_t i = 0; i < count && status == OMPRMA_OK; i++) {
            symbols[i].address = addresses[i];
            if (symbols[i].bytes == 0)
                status = kernel_names_add(record, &symbols[i]);
        }
        runtime_unlock(device->runtime);
    }
    if (there)
        blocks_release(device, there);
    return status;
}

/* What other kinds of devices take their workers know. */
static omprma_status_t check(const struct device *device, const void *image, size_t bytes)
{
    if (device->native)
        return elf_check(image, bytes);
    return image && bytes
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_ARGUMENT, "an image of %zu bytes at %p", bytes, image);
}

omprma_status_t omprma_image_load(int number, const void *image, size_t bytes,
                                  omprma_symbol_t *symbols, size_t count)
{
    /* One load at a time: two threads with the same image must not both send it. */
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct device *device;
    struct image_record *record;
    uint64_t *addresses;
    omprma_status_t status = device_require(number, &device);

    if (status == OMPRMA_OK)
        status = check(device, image, bytes);
    if (status != OMPRMA_OK)
        return status;
    if (count && !symbols)
        return error_set(OMPRMA_ERR_ARGUMENT, "%zu symbols at NULL", count);
    addresses = calloc(SYMBOLS_AT_ONCE, sizeof(*addresses));
    if (!addresses)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %zu symbols", count);
    pthread_mutex_lock(&one_at_a_time);
    progress_line_begin();
    status = make_record(device, image, bytes, &record);
    for (size_t at = 0; status == OMPRMA_OK && (at < count || at == 0); at += SYMBOLS_AT_ONCE) {
        size_t some = count - at < SYMBOLS_AT_ONCE ? count - at : SYMBOLS_AT_ONCE;

        status = look_up(device, record, symbols + at, some, addresses);
    }
    progress_line_clear();
    pthread_mutex_unlock(&one_at_a_time);
    free(addresses);
    return status;
}

/* The bytes are needed on the device until it has loaded them. */
static omprma_status_t load_module(struct device *device, const void *image, size_t bytes,
                                   uint64_t *module)
{
    struct wire_record command = {.code = WIRE_LOAD, .flags = WIRE_MODULE, .word = {0, bytes}};
    omprma_queue_t *queue = NULL;
    omprma_status_t status = blocks_alloc(device, bytes, fit_plain(bytes), &command.word[0]);

    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &queue);
    if (status == OMPRMA_OK)
        status = omprma_submit(queue, command.word[0], image, bytes);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (queue)
        omprma_queue_destroy(queue);
    if (status == OMPRMA_OK) {
        runtime_lock(device->runtime);
        status = device_command(device, &command, module, NULL, 0);
        runtime_unlock(device->runtime);
    }
    if (command.word[0])
        blocks_release(device, command.word[0]);
    return status;
}

omprma_status_t omprma_module_load(int number, const void *image, size_t bytes, uint64_t *module)
{
    struct device *device;
    omprma_status_t status = device_require(number, &device);

    if (status != OMPRMA_OK)
        return status;
    if (!image || !bytes || !module)
        return error_set(OMPRMA_ERR_ARGUMENT, "a module of %zu bytes at %p", bytes, image);
    return load_module(device, image, bytes, module);
}
