/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault_address.c: arenas that were given back are kept in a short ring per device. Whether the
 * program has something at an address is read from /proc/self/maps.
 */
#include "host/core/fault_address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

/* In words too: " (heap of the program)". */
static bool program_has(uint64_t address, char *words, size_t room)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false;

    while (maps && !found && fgets(line, sizeof(line), maps)) {
        uint64_t low, high;
        char mode[8], file[256] = "";
        const char *slash;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %255s", &low, &high, mode, file) <
                3 ||
            address < low || address >= high || mode[0] != 'r')
            continue;
        slash = strrchr(file, '/');
        if (strcmp(file, "[stack]") == 0 || strcmp(file, "[heap]") == 0)
            snprintf(words, room, " (%.*s of the program)", (int)strlen(file) - 2, file + 1);
        else if (slash)
            snprintf(words, room, " (%s of %s)", mode[2] == 'x' ? "code" : "variables", slash + 1);
        else
            snprintf(words, room, " (memory of the program)");
        found = true;
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool was_given_back(const struct device *device, uint64_t address)
{
    for (uint32_t i = 0; i < DEVICE_RELEASED && i < device->released_count; i++)
        if (address - device->released[i].base < device->released[i].bytes)
            return true;
    return false;
}

void fault_address_note_release(struct device *device, omprma_addr_t base, uint64_t bytes)
{
    uint32_t at = device->released_count++ % DEVICE_RELEASED;

    device->released[at].base = base;
    device->released[at].bytes = bytes;
}

void fault_address_explain(struct device *device, uint64_t address, char *text, size_t room)
{
    size_t used = strlen(text);
    char where[300];

    device->fault_address = address;
    if (address < PAGE_BYTES) /* a null pointer, as the worker has said, or unknown */
        return;
    if (was_given_back(device, address))
        snprintf(text + used, room - used, ": that is device memory which was freed");
    else if (program_has(address, where, sizeof(where)))
        snprintf(text + used, room - used, ": that is a host pointer%s", where);
}
