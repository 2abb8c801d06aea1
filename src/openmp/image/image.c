/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.c: An image is made when its library registers: its entries are copied, and its shared
 * object is found by dl_iterate_phdr(). The first use on a device places it: the bytes are loaded,
 * all names are looked up in one call, function pointers get stand-ins on the worker, variables
 * are mapped for good, then constructors run. `addresses` has a row per device.
 */
#include "openmp/image/image.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/variables.h>

#include "openmp/abi/offload_binary.h"
#include "openmp/device/devices.h"
#include "openmp/run/work.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

/* ---- making --------------------------------------------------------------------------------- */

/* Images that are plainly for somebody else are left out without a word: no ELF file at all (LLVM
 * bitcode, PTX), or one for a GPU, as programs for several kinds of devices have them. */
static bool image_is_foreign(const char *start, size_t bytes)
{
    if (bytes < SELFMAG || memcmp(start, ELFMAG, SELFMAG) != 0)
        return true;
    if (bytes < sizeof(Elf64_Ehdr))
        return false;
    Elf64_Half machine;
    memcpy(&machine, start + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
    return machine == EM_CUDA || machine == EM_AMDGPU;
}

/* Entries that are neither a kernel nor a variable carry no name or no address. */
static bool entry_is_symbol(const struct entry *entry)
{
    return entry->name && entry->name[0] && (entry->address || entry->bytes) &&
           !(entry->flags & (ENTRY_REQUIRES | ENTRY_VTABLE));
}

static bool image_take_entry(const struct entry *entry, void *context)
{
    struct image *image = context;
    if (!entry_is_symbol(entry))
        return true;
    if ((image->count & (image->count - 1)) == 0) { /* full: none, or a power of two */
        size_t room = image->count ? 2 * image->count : 1;
        struct entry *longer = reallocarray(image->entries, room, sizeof(*longer));
        if (!longer)
            return report(NULL, NULL, "no host memory for the entries of a device image");
        image->entries = longer;
    }
    image->entries[image->count++] = *entry;
    return true;
}

/* flang makes kernels for CPUs as it makes those for GPUs, each with an object of this name. An
 * image need not say who made it. */
static void image_note_flang(struct image *image)
{
    char name[1024];
    bool may_be = image->by.flang || image->by.newest == 0;
    for (size_t i = 0; may_be && i < image->count; i++) {
        struct entry *entry = &image->entries[i];
        int length = snprintf(name, sizeof(name), "%s_kernel_environment", entry->name);
        entry->as_on_gpus = entry->bytes == 0 && length < (int)sizeof(name) &&
                            elf_has_symbol(image->start, image->bytes, name);
    }
}

/* Clang before 16, which an image may hold as well, has other calls. */
static bool image_note_leading(struct image *image)
{
    bool leads = image->by.newest == CLANG_DYN_PTR;
    if (leads && image->by.oldest >= CLANG_DYN_PTR - 2 && image->by.oldest < CLANG_DYN_PTR)
        return report(NULL, NULL,
                      "a device image of the program was made by clang %d and %d, whose regions "
                      "cannot be told apart: compile all of it with one of them",
                      image->by.oldest, image->by.newest);
    for (size_t i = 0; i < image->count; i++)
        image->entries[i].has_leading = leads;
    return true;
}

static void range_take(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
    *low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        *low = begin < *low ? begin : *low;
        *high = end > *high ? end : *high;
    }
}

/* dl_iterate_phdr callback: the shared object that registered the image. */
static int image_find_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct image *image = context;
    uintptr_t low, high = 0;
    (void)size;
    range_take(info, &low, &high);
    if ((uintptr_t)image->library < low || (uintptr_t)image->library >= high)
        return 0;
    image->low = low;
    image->high = high;
    return 1;
}

struct image *image_make(const struct abi_library *library, const struct abi_image *registered,
                         uint64_t copy)
{
    const char *start = registered->start;
    size_t bytes = (size_t)(registered->end - start);
    if (!offload_binary_open(&start, &bytes)) {
        report(NULL, NULL,
               "a device image of the program is damaged: it says that it is longer "
               "than it is, or of an unknown version; compile the program again");
        return NULL;
    }
    if (image_is_foreign(start, bytes))
        return NULL;
    if (omprma_image_check(start, bytes) != OMPRMA_OK) {
        report_start();
        return NULL;
    }
    struct image *image = calloc(1, sizeof(*image));
    if (!image) {
        report(NULL, NULL, "no host memory for a device image");
        return NULL;
    }
    image->library = library;
    image->start = start;
    image->bytes = bytes;
    image->copy = copy;
    image->by = elf_compilers(start, bytes);
    dl_iterate_phdr(image_find_object, image);
    if (!entries_each(registered->entries_begin, registered->entries_end, image_take_entry,
                      image) ||
        !image_note_leading(image)) {
        image_free(image);
        return NULL;
    }
    image_note_flang(image);
    return image;
}

void image_free(struct image *image)
{
    for (int i = 0; i < image->devices; i++)
        free(image->addresses[i]);
    free(image->addresses);
    free(image->entries);
    free(image);
}

/* ---- placing -------------------------------------------------------------------------------- */

bool image_is_placed(const struct image *image, const struct device *device)
{
    return image->addresses && image->addresses[device->site.index];
}

bool image_has_variables(const struct image *image)
{
    for (size_t i = 0; i < image->count; i++)
        if (image->entries[i].bytes > 0)
            return true;
    return elf_has_variables(image->start, image->bytes);
}

static size_t functions_count(const struct image *image)
{
    size_t count = 0;
    for (size_t i = 0; i < image->count; i++)
        count += (image->entries[i].flags & ENTRY_INDIRECT) != 0;
    return count;
}

/* Images stay loaded on their devices, and the same bytes are loaded once. A library that is opened
 * again is to find its variables as they were at first, so its image is made another one: what
 * follows an ELF file's parts is of no account. */
static bool image_send(const struct image *image, struct device *device,
                       const struct location *where, omprma_symbol_t *symbols, size_t count)
{
    const void *start = image->start;
    size_t bytes = image->bytes;
    char *copy = NULL;
    if (image->copy > 0) {
        copy = malloc(bytes + sizeof(image->copy));
        if (!copy)
            return report(where, &device->site, "no host memory for a device image");
        memcpy(copy, start, bytes);
        memcpy(copy + bytes, &image->copy, sizeof(image->copy));
        start = copy;
        bytes += sizeof(image->copy);
    }
    omprma_status_t status = omprma_image_load(device->site.remote, start, bytes, symbols, count);
    bool right = loss_status(where, &device->site, status);
    free(copy);
    return right;
}

/* Asks for the symbols of all entries in one request, and for what devices add to images: the
 * streams, with placement the kernel for variables, and last, if there are functions that need it,
 * the kernel that makes stand-ins. */
static bool image_load(struct image *image, struct device *device, omprma_addr_t *addresses,
                       const struct location *where)
{
    static const char *const streams[STREAMS] = {OMPRMA_SYMBOL_STDIN, OMPRMA_SYMBOL_STDOUT,
                                                 OMPRMA_SYMBOL_STDERR};
    size_t count = image->count;
    omprma_symbol_t *symbols = calloc(count + STREAMS + 2, sizeof(*symbols));
    if (!symbols)
        return report(where, &device->site, "no host memory for the symbols of a device image");
    for (size_t i = 0; i < count; i++) {
        symbols[i].name = image->entries[i].name;
        symbols[i].bytes = image->entries[i].bytes;
    }
    for (int i = 0; i < STREAMS; i++)
        symbols[count++] = (omprma_symbol_t){.name = streams[i], .bytes = sizeof(FILE)};
    if (devices_are_placed())
        symbols[count++].name = OMPRMA_SYMBOL_VARIABLES;
    if (functions_count(image) > 0)
        symbols[count++].name = OMPRMA_SYMBOL_STAND_IN;
    bool right = image_send(image, device, where, symbols, count);
    for (size_t i = 0; i < image->count; i++)
        addresses[i] = symbols[i].address;
    for (int i = 0; i < STREAMS; i++)
        device->site.streams[i] = symbols[image->count + (size_t)i].address;
    if (devices_are_placed())
        device->site.variables = symbols[image->count + STREAMS].address;
    addresses[image->count] = symbols[count - 1].address;
    free(symbols);
    return right;
}

/* What the image has of a function that may be called through pointers is a pointer to it. The
 * function itself is what corresponds to the host's: a pointer to that becomes one to this. */
static bool image_find_functions(struct image *image, struct device *device,
                                 omprma_addr_t *addresses, const struct location *where)
{
    struct work *work = NULL;
    bool right = true;
    for (size_t i = 0; i < image->count && right; i++) {
        if (!(image->entries[i].flags & ENTRY_INDIRECT))
            continue;
        if (!work)
            work = work_begin(device, where, WORK_WAITED);
        right =
            work && work_retrieve(work, &addresses[i], addresses[i], sizeof(addresses[i]), NULL);
    }
    return (!work || work_finish(work)) && right;
}

static void stand_in_failed(const struct image *image, const struct device *device, size_t entry,
                            uint64_t error, const struct location *where)
{
    report(where, &device->site,
           "calls through pointers inside of data do not find %s of the program's address %p: %s; "
           "have one device per worker, or pass the pointer as a variable of its own",
           image->entries[entry].name, image->entries[entry].address, strerror((int)error));
}

/* Pointers to functions also come to a device inside of data, where nobody sees them. So the
 * program's address of a function is made to work on the device. Where that cannot be, regions may
 * still do without. */
static bool image_stand_in(struct image *image, struct device *device,
                           const omprma_addr_t *addresses, const struct location *where)
{
    size_t count = functions_count(image), at = 0;
    if (count == 0)
        return true;
    uint64_t *results = calloc(count, sizeof(*results));
    struct work *work = results ? work_begin(device, where, WORK_WAITED) : NULL;
    omprma_addr_t block = 0;
    if (work) {
        pthread_mutex_lock(&device->space->lock);
        block = work_private(work, count * sizeof(*results));
        pthread_mutex_unlock(&device->space->lock);
    }
    bool right = block != 0;
    for (size_t i = 0; i < image->count && right; i++) {
        if (!(image->entries[i].flags & ENTRY_INDIRECT))
            continue;
        const uint64_t words[] = {block + at++ * sizeof(*results),
                                  (uintptr_t)image->entries[i].address, addresses[i]};
        right = work_launch(work, addresses[image->count], NULL, words, 3);
    }
    right = right && work_retrieve(work, results, block, count * sizeof(*results), NULL);
    right = (!work || work_finish(work)) && right;
    at = 0;
    for (size_t i = 0; i < image->count && right; i++)
        if ((image->entries[i].flags & ENTRY_INDIRECT) && results[at++])
            stand_in_failed(image, device, i, results[at - 1], where);
    free(results);
    return right;
}

/* Variables of the image are mapped for good. One that several images have belongs to the first. */
static bool image_map_variables(struct image *image, struct device *device,
                                const omprma_addr_t *addresses)
{
    for (size_t i = 0; i < image->count; i++) {
        const struct entry *entry = &image->entries[i];
        struct mapped *mapped;
        uintptr_t host = (uintptr_t)entry->address;
        if (entry->bytes == 0 ||
            mapping_find(&device->space->mapping, host, entry->bytes, &mapped) != OVERLAP_NONE)
            continue;
        mapped = mapping_add(&device->space->mapping, host, entry->bytes, addresses[i], false);
        if (!mapped)
            return report(NULL, &device->site, "no host memory to map the variable %s",
                          entry->name);
        mapped->references = COUNT_INFINITE;
        mapped->present = UINT64_MAX;
        mapped->variable = true;
        mapped->name = entry->name;
    }
    return true;
}

/* Constructors and destructors of clang up to 18 are kernels without arguments. */
static bool image_run(struct image *image, struct device *device, const omprma_addr_t *addresses,
                      uint32_t flag, const struct location *where)
{
    struct work *work = NULL;
    bool right = true;
    for (size_t i = 0; i < image->count && right; i++) {
        if (!(image->entries[i].flags & flag) || image->entries[i].bytes > 0)
            continue;
        if (!work)
            work = work_begin(device, where, WORK_WAITED);
        right = work && work_launch(work, addresses[i], NULL, NULL, 0);
    }
    return (!work || work_finish(work)) && right;
}

static bool image_make_room(struct image *image)
{
    if (image->addresses)
        return true;
    int count = devices_sites();
    image->addresses = calloc((size_t)count, sizeof(*image->addresses));
    image->devices = image->addresses ? count : 0;
    return image->addresses != NULL;
}

bool image_place(struct image *image, struct device *device, const struct location *where)
{
    static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
    omprma_addr_t *addresses = calloc(image->count + 1, sizeof(*addresses));
    pthread_mutex_lock(&room_lock);
    bool right = image_make_room(image) && addresses;
    pthread_mutex_unlock(&room_lock);
    if (!right)
        report(where, &device->site, "no host memory for the symbols of a device image");
    right = right && image_load(image, device, addresses, where) &&
            image_find_functions(image, device, addresses, where) &&
            image_stand_in(image, device, addresses, where);
    if (right) {
        pthread_mutex_lock(&device->space->lock);
        right = image_map_variables(image, device, addresses);
        pthread_mutex_unlock(&device->space->lock);
    }
    right = right && image_run(image, device, addresses, ENTRY_CONSTRUCTOR, where);
    if (right)
        image->addresses[device->site.index] = addresses;
    if (!right)
        free(addresses);
    else if (device_is_seen(device))
        ompt_load(device->number, image->start, image->bytes, image->order);
    return right;
}

/* ---- displacing ----------------------------------------------------------------------------- */

void image_displace(struct image *image, struct device *device)
{
    if (!image_is_placed(image, device))
        return;
    const omprma_addr_t *addresses = image->addresses[device->site.index];
    image_run(image, device, addresses, ENTRY_DESTRUCTOR, NULL);
    if (device_is_seen(device))
        ompt_unload(device->number, image->order);
    pthread_mutex_lock(&device->space->lock);
    for (size_t i = 0; i < image->count; i++) {
        const struct entry *entry = &image->entries[i];
        struct mapped *mapped;
        if (entry->bytes > 0 &&
            mapping_find(&device->space->mapping, (uintptr_t)entry->address, entry->bytes,
                         &mapped) == OVERLAP_INSIDE &&
            mapped->device == addresses[i])
            mapping_drop(&device->space->mapping, mapped);
    }
    pthread_mutex_unlock(&device->space->lock);
}
