/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* offload_binary.c: see packed.h. Files are read by copying: nothing says how they are aligned. */
#include "openmp/abi/offload_binary.h"

#include <stdint.h>
#include <string.h>

static const unsigned char magic[4] = {0x10, 0xff, 0x10, 0xad};

struct packed_header {
    unsigned char magic[4];
    uint32_t version;
    uint64_t bytes; /* of the whole file */
    uint64_t entry_offset, entry_bytes;
};

struct packed_entry {
    uint16_t image_kind, offload_kind;
    uint32_t flags;
    uint64_t strings_offset, string_count;
    uint64_t image_offset, image_bytes;
};

static bool inside(uint64_t offset, uint64_t length, uint64_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

bool offload_binary_open(const char **start, size_t *bytes)
{
    struct packed_header header;
    struct packed_entry entry;
    if (*bytes < sizeof(magic) || memcmp(*start, magic, sizeof(magic)) != 0)
        return true;
    if (*bytes < sizeof(header))
        return false;
    memcpy(&header, *start, sizeof(header));
    if (header.version != 1 || !inside(header.entry_offset, sizeof(entry), *bytes))
        return false;
    memcpy(&entry, *start + header.entry_offset, sizeof(entry));
    if (!inside(entry.image_offset, entry.image_bytes, *bytes))
        return false;
    *start += entry.image_offset;
    *bytes = entry.image_bytes;
    return true;
}
