/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * described.c: section .nv.info.KERNEL is a list of records: format, attribute, 16
 * bits of size, and for format 4 as many bytes. A parameter's are an index, ordinal, offset, and 32
 * bits of which the upper 14 are its size.
 */
#include "cuda/described.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_SIZED = 4, ATTRIBUTE_PARAMETER = 0x17, SIZE_SHIFT = 18 };

struct parameter_record {
    uint8_t format, attribute;
    uint16_t bytes;
    uint32_t index;
    uint16_t ordinal, offset;
    uint32_t packed;
};

struct described {
    struct described *next;
    char *name;
    int count;
    struct {
        uint32_t offset, bytes;
    } parameters[];
};

/* A section's bytes; NULL: it has none, or they lie outside of the file. */
static const char *section_bytes(const char *file, size_t bytes, const Elf64_Shdr *section)
{
    bool inside = section->sh_type != SHT_NOBITS && section->sh_offset <= bytes &&
                  section->sh_size <= bytes - section->sh_offset;
    return inside ? file + section->sh_offset : NULL;
}

static struct described *described_make(const char *name, const char *info, size_t bytes)
{
    size_t most = bytes / sizeof(struct parameter_record);
    struct described *made = calloc(1, sizeof(*made) + most * sizeof(made->parameters[0]));

    if (!made)
        return NULL;
    made->name = strdup(name);
    for (size_t at = 0; at + 4 <= bytes;) {
        struct parameter_record record = {0};
        size_t left = bytes - at;
        memcpy(&record, info + at, left < sizeof(record) ? left : sizeof(record));
        bool sized = record.format == FORMAT_SIZED;
        if (sized && record.attribute == ATTRIBUTE_PARAMETER && left >= sizeof(record) &&
            record.ordinal < most) {
            made->parameters[record.ordinal].offset = record.offset;
            made->parameters[record.ordinal].bytes = record.packed >> SIZE_SHIFT;
            if (record.ordinal >= made->count)
                made->count = record.ordinal + 1;
        }
        at += 4 + (sized ? record.bytes : 0u);
    }
    if (!made->name) {
        free(made);
        return NULL;
    }
    return made;
}

struct described *described_read(const void *image, size_t bytes)
{
    static const char prefix[] = ".nv.info.";
    const char *file = image;
    struct described *all = NULL;
    Elf64_Ehdr header;
    Elf64_Shdr section, names;

    if (bytes < sizeof(header) || memcmp(file, ELFMAG, SELFMAG) != 0)
        return NULL;
    memcpy(&header, file, sizeof(header));
    if (header.e_shentsize != sizeof(section) || header.e_shoff > bytes ||
        (bytes - header.e_shoff) / sizeof(section) < header.e_shnum ||
        header.e_shstrndx >= header.e_shnum)
        return NULL;
    memcpy(&names, file + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
    const char *text = section_bytes(file, bytes, &names);
    if (!text || names.sh_size == 0 || text[names.sh_size - 1])
        return NULL;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, file + header.e_shoff + i * sizeof(section), sizeof(section));
        const char *info = section_bytes(file, bytes, &section);
        if (!info || section.sh_name >= names.sh_size ||
            strncmp(text + section.sh_name, prefix, sizeof(prefix) - 1) != 0)
            continue;
        struct described *made =
            described_make(text + section.sh_name + sizeof(prefix) - 1, info, section.sh_size);
        if (made) {
            made->next = all;
            all = made;
        }
    }
    return all;
}

void described_free(struct described *described)
{
    while (described) {
        struct described *next = described->next;
        free(described->name);
        free(described);
        described = next;
    }
}

void described_fill(const struct described *described, const char *name,
                    struct cuda_function **function)
{
    while (described && strcmp(described->name, name) != 0)
        described = described->next;
    if (!described || described->count > CUDA_PARAMETERS_MOST)
        return;
    size_t each = sizeof((*function)->parameters[0]);
    struct cuda_function *longer =
        realloc(*function, sizeof(*longer) + (size_t)described->count * each);
    if (!longer)
        return;
    longer->parameter_count = described->count;
    for (int i = 0; i < described->count; i++) {
        longer->parameters[i].offset = described->parameters[i].offset;
        longer->parameters[i].bytes = described->parameters[i].bytes;
    }
    *function = longer;
}
