/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.c: device images: whether this plugin takes one, and tables of what is in it. Knows nothing
 * of queues.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/plugin.h"

static size_t image_bytes(const struct tgt_image *image)
{
    return (size_t)((const char *)image->end - (const char *)image->start);
}

/* Images that are plainly for somebody else are refused without a word: no ELF file at all (LLVM
 * bitcode, PTX), or one for a GPU, as programs for several kinds of devices have them. */
static bool image_is_foreign(const struct tgt_image *image)
{
    const Elf64_Ehdr *header = image->start;
    if (image_bytes(image) < SELFMAG || memcmp(image->start, ELFMAG, SELFMAG) != 0)
        return true;
    if (image_bytes(image) < sizeof(*header))
        return false;
    Elf64_Half machine;
    memcpy(&machine, (const char *)image->start + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
    return machine == EM_CUDA || machine == EM_AMDGPU;
}

int32_t image_accept(const struct tgt_image *image)
{
    if (image_is_foreign(image)) {
        mixed_note();
        return 0;
    }
    if (plugin_start() == 0)
        return 0;
    if (omprma_image_check(image->start, image_bytes(image)) == OMPRMA_OK)
        return 1;
    plugin_fail(-1, omprma_error());
    return 0;
}

/* Entries that are neither a kernel nor a variable: LLVM 18 passes requires clauses as one. */
static bool entry_is_symbol(const struct offload_entry *entry)
{
    return entry->name && entry->name[0] && (entry->address || entry->bytes);
}

/* Asks for the symbols of all entries in one request and writes their addresses into the copy. */
static int32_t image_load(int device, const struct tgt_image *image, struct offload_entry *entries,
                          size_t count)
{
    omprma_symbol_t *symbols = calloc(count + 1, sizeof(*symbols));
    if (!symbols)
        return plugin_fail(device, "no host memory for the symbols of a device image");
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (entry_is_symbol(&entries[i]))
            symbols[used++] = (omprma_symbol_t){.name = entries[i].name, .bytes = entries[i].bytes};
    int32_t result = plugin_result(
        omprma_image_load(plugin_number(device), image->start, image_bytes(image), symbols, used));
    used = 0;
    for (size_t i = 0; i < count && result == RTL_SUCCESS; i++)
        entries[i].address =
            entry_is_symbol(&entries[i]) ? (void *)(uintptr_t)symbols[used++].address : NULL;
    free(symbols);
    return result;
}

struct tgt_table *image_place(int device, const struct tgt_image *image)
{
    size_t count = (size_t)(image->entries_end - image->entries_begin);
    struct tgt_table *table = malloc(sizeof(*table) + count * sizeof(*table->begin));
    if (!table) {
        plugin_fail(device, "no host memory for the table of a device image");
        return NULL;
    }
    table->begin = (struct offload_entry *)(table + 1);
    table->end = table->begin + count;
    if (count)
        memcpy(table->begin, image->entries_begin, count * sizeof(*table->begin));
    if (image_load(device, image, table->begin, count) == RTL_SUCCESS)
        return table;
    free(table);
    return NULL;
}

void *image_find(const struct tgt_table *table, const char *name)
{
    for (const struct offload_entry *entry = table->begin; entry != table->end; entry++)
        if (entry->name && strcmp(entry->name, name) == 0)
            return entry->address;
    return NULL;
}
