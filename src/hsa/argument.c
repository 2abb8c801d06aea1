/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * argument.c: code of gcc does not say how long its arguments are. They are the head of a block
 * whose rest is the kernel's output, to which one of them points: they end there.
 *
 * Any word that looks like an address in a known block is taken for one: kernels do not say which
 * words are pointers. Only blocks of some size are shipped; they travel whole, because a kernel may
 * use all of one.
 */
#include "hsa/argument.h"

#include <stdlib.h>
#include <string.h>

#include "hsa/gpu.h"
#include "hsa/memory.h"
#include "hsa/result.h"

enum { WORD = 8, HEAD_MOST = 64, SHIPPED_MOST = 8 << 20 };

struct shipment {
    struct shipment *next;
    int device;
    omprma_addr_t given;   /* on the GPU; 0: not yet */
    omprma_addr_t address; /* of the block, in the host's memory */
    size_t bytes;
    char *sent, *back; /* of `bytes` each */
};

/* ---- how long they are ---------------------------------------------------------------------- */

/* Up to the lowest place of the block that one of its own first words points to. */
static size_t head_bytes(const struct block *block, const void *address)
{
    omprma_addr_t begin = (omprma_addr_t)(uintptr_t)address;
    size_t most = block->address + block->bytes - begin;
    omprma_addr_t word;

    most = most < HEAD_MOST ? most : HEAD_MOST;
    for (size_t at = 0; at + WORD <= most; at += WORD) {
        memcpy(&word, (const char *)address + at, WORD);
        if (word > begin && word - begin < most)
            most = (size_t)(word - begin);
    }
    return most;
}

/* SIZE_MAX: not known. */
static size_t argument_bytes(const struct kernel *kernel, const void *address)
{
    struct block block;

    if (kernel->argument_bytes > 0)
        return kernel->argument_bytes;
    if (!address)
        return 0;
    return memory_find_host(address, &block) ? head_bytes(&block, address) : SIZE_MAX;
}

/* ---- words that are addresses --------------------------------------------------------------- */

static struct shipment *shipment_find(struct shipment *list, omprma_addr_t block)
{
    while (list && list->address != block)
        list = list->next;
    return list;
}

static void shipment_free(struct shipment *shipment)
{
    if (shipment->given)
        omprma_free(shipment->device, shipment->given);
    free(shipment->sent);
    free(shipment->back);
    free(shipment);
}

static void shipments_free(struct shipment *list)
{
    while (list) {
        struct shipment *next = list->next;
        shipment_free(list);
        list = next;
    }
}

/* False: no memory. */
static bool shipment_add(struct arguments *arguments, int device, const struct block *block)
{
    struct shipment *shipment = calloc(1, sizeof(*shipment));

    if (!shipment)
        return false;
    *shipment = (struct shipment){.next = arguments->shipments,
                                  .device = device,
                                  .address = block->address,
                                  .bytes = block->bytes,
                                  .sent = malloc(block->bytes),
                                  .back = malloc(block->bytes)};
    if (!shipment->sent || !shipment->back) {
        shipment_free(shipment);
        return false;
    }
    arguments->shipments = shipment;
    return true;
}

/* A word of the arguments. False: no memory. */
static bool word_look(struct arguments *arguments, struct gpu *gpu, const struct kernel *kernel,
                      size_t at)
{
    struct block block;
    omprma_addr_t word;

    memcpy(&word, (const char *)arguments->bytes + at, WORD);
    if (word == 0 ||
        !memory_find_host((const void *)(uintptr_t)word, // NOLINT(performance-no-int-to-ptr)
                          &block) ||
        shipment_find(arguments->shipments, block.address))
        return true;
    if (block.bytes > SHIPPED_MOST) {
        report_error("HSA: kernel %s: the word at %zu of its arguments is an address in a block of "
                     "the host's memory of %zu MiB, which a GPU of a worker cannot reach; up to %d "
                     "MiB would be copied there and back; copy it to device memory instead",
                     kernel->name, at, block.bytes >> 20, SHIPPED_MOST >> 20);
        return true;
    }
    return shipment_add(arguments, gpu->device, &block);
}

bool arguments_collect(struct arguments *arguments, struct gpu *gpu, const struct kernel *kernel,
                       const void *address)
{
    size_t bytes = argument_bytes(kernel, address);

    *arguments = (struct arguments){.bytes = address, .size = bytes};
    if (bytes == SIZE_MAX || (bytes > 0 && !address)) {
        report_error("HSA: kernel %s: its arguments at %p are in no block of a pool of the host's",
                     kernel->name, address);
        arguments->size = 0;
        return false;
    }
    for (size_t at = 0; at + WORD <= bytes; at += WORD) {
        if (word_look(arguments, gpu, kernel, at))
            continue;
        shipments_free(arguments->shipments);
        report_error("HSA: kernel %s: no memory for what its arguments point to", kernel->name);
        return false;
    }
    return true;
}

/* ---- there and back ------------------------------------------------------------------------- */

/* Words that point into the block get addresses of its copy. */
static void rebase(struct arguments *arguments, const struct shipment *shipment)
{
    omprma_addr_t word;

    for (size_t at = 0; at + WORD <= arguments->size; at += WORD) {
        /* The original, because a new address may look like another block's. */
        memcpy(&word, (const char *)arguments->bytes + at, WORD);
        if (word - shipment->address >= shipment->bytes)
            continue;
        word = word - shipment->address + shipment->given;
        memcpy((char *)arguments->changed + at, &word, WORD);
    }
}

static omprma_status_t ship(struct shipment *shipment, struct lane *lane)
{
    omprma_status_t status = omprma_alloc(shipment->device, shipment->bytes, &shipment->given);

    if (status != OMPRMA_OK)
        return status;
    memcpy(shipment->sent,
           (const void *)(uintptr_t)shipment->address, // NOLINT(performance-no-int-to-ptr)
           shipment->bytes);
    return omprma_submit(lane->queue, shipment->given, shipment->sent, shipment->bytes);
}

omprma_status_t arguments_ship(struct arguments *arguments, struct lane *lane)
{
    omprma_status_t status = OMPRMA_OK;

    if (!arguments->shipments)
        return OMPRMA_OK;
    arguments->changed = malloc(arguments->size);
    if (!arguments->changed)
        return OMPRMA_ERR_HOST_MEMORY;
    memcpy(arguments->changed, arguments->bytes, arguments->size);
    for (struct shipment *each = arguments->shipments; each && status == OMPRMA_OK;
         each = each->next) {
        status = ship(each, lane);
        if (status == OMPRMA_OK)
            rebase(arguments, each);
    }
    arguments->bytes = arguments->changed;
    return status;
}

omprma_status_t arguments_bring_back(struct arguments *arguments, struct lane *lane)
{
    omprma_status_t status = OMPRMA_OK;

    for (struct shipment *each = arguments->shipments; each && status == OMPRMA_OK;
         each = each->next)
        status = omprma_retrieve(lane->queue, each->back, each->given, each->bytes);
    return status;
}

/* The program may have written to the rest of the block meanwhile. */
static void write_changes(const struct shipment *shipment)
{
    char *to = (char *)(uintptr_t)shipment->address; // NOLINT(performance-no-int-to-ptr)
    struct block block;

    if (!memory_find_host(to, &block) || block.bytes < shipment->bytes)
        return; /* it has been freed */
    for (size_t at = 0; at < shipment->bytes;) {
        size_t bytes = shipment->bytes - at < 64 ? shipment->bytes - at : 64;
        if (memcmp(shipment->sent + at, shipment->back + at, bytes) != 0) {
            for (size_t i = at; i < at + bytes; i++) {
                if (shipment->sent[i] != shipment->back[i])
                    to[i] = shipment->back[i];
            }
        }
        at += bytes;
    }
}

void arguments_over(struct operation *operation, omprma_status_t status)
{
    struct shipment *list = operation->data;

    for (const struct shipment *each = list; each && status == OMPRMA_OK; each = each->next)
        write_changes(each);
    shipments_free(list);
}

void arguments_end(struct arguments *arguments, bool failed)
{
    if (failed)
        shipments_free(arguments->shipments);
    free(arguments->changed);
}
