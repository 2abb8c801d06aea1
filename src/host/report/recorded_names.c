/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recorded_names.c: what was asked for once is found again by its address, in a table in which each
 * address has one place; what has lost that is looked for among all kernels.
 */
#include "host/report/recorded_names.h"

#include <string.h>

#include "base/kernel_name.h"
#include "base/kernel_source.h"
#include "host/device/kernel_names.h"
#include "host/queue/queue.h"

enum { SOURCE_BYTES = 512 };

static struct known_name *find_known(struct recorded_names *names, uint64_t key, uint32_t device)
{
    return &names->known[(key / 16 + key / 4096 + device) % RECORDED_NAMES];
}

uint32_t recorded_text(struct recorded_names *names, const char *text)
{
    uint64_t key = (uint64_t)(uintptr_t)text;
    struct known_name *known = find_known(names, key, UINT32_MAX);

    if (known->key != key || known->device != UINT32_MAX)
        *known = (struct known_name){key, UINT32_MAX, recording_text(names->recording, text)};
    return known->text;
}

/* With its source file, or "", behind it. */
static uint32_t make_kernel(struct recorded_names *names, const char *symbol)
{
    char source[SOURCE_BYTES];
    struct kernel_name name;
    uint32_t text = recording_text(names->recording, symbol);

    if (!kernel_name_split(symbol, &name) || !kernel_source_find(&name, source, sizeof(source)))
        source[0] = '\0';
    if (text && !recording_text(names->recording, source))
        return 0;
    if (text && names->kernel_count < RECORDED_KERNELS)
        names->kernels[names->kernel_count++] = text;
    return text;
}

/* The images that it belongs to may be gone at the end, and other processes do not have them. */
static uint32_t keep_kernel(struct recorded_names *names, const char *symbol)
{
    for (uint32_t i = 0; i < names->kernel_count; i++)
        if (strcmp(recording_words(names->recording, names->kernels[i]), symbol) == 0)
            return names->kernels[i];
    return make_kernel(names, symbol);
}

uint32_t recorded_kernel(struct recorded_names *names, const struct operation *launch)
{
    const struct device *device = launch->queue->device;
    uint64_t key = launch->command.entry;
    uint32_t number = (uint32_t)device->number;
    struct known_name *known = find_known(names, key, number);

    if (known->key != key || known->device != number)
        *known = (struct known_name){
            key, number, keep_kernel(names, kernel_names_find(device, launch->command.entry))};
    return known->text;
}

bool recorded_is_programs(const struct recorded_names *names, uint32_t kernel)
{
    static const char own[] = "__omprma_";

    return strncmp(recording_words(names->recording, kernel), own, sizeof(own) - 1) != 0;
}
