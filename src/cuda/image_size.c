/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image_size.c: text ends with its zero. The other kinds begin with a magic number, and their
 * headers say how long they are, but for ELF, where the part that lies last in the file says it.
 */
#include "cuda/image_size.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cuda_questions.h"

/* A fat binary: all its parts in one piece. */
struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* after the header */
};
#define FAT_MAGIC UINT32_C(0xba55ed50)

/* What nvcc puts into programs: it points to a fat binary. */
struct fat_wrapper {
    uint32_t magic, version;
    const void *image;
};
#define FAT_WRAPPER_MAGIC UINT32_C(0x466243b1)

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Up to the end of whatever lies last: a section, or one of the two tables. */
static size_t elf_size(const char *image)
{
    Elf64_Ehdr header;

    memcpy(&header, image, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    size_t end = larger(header.e_shoff + (size_t)header.e_shnum * header.e_shentsize,
                        header.e_phoff + (size_t)header.e_phnum * header.e_phentsize);
    for (unsigned i = 0; i < header.e_shnum && header.e_shentsize >= sizeof(Elf64_Shdr); i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + (size_t)i * header.e_shentsize, sizeof(section));
        if (section.sh_type != SHT_NOBITS)
            end = larger(end, section.sh_offset + section.sh_size);
    }
    for (unsigned i = 0; i < header.e_phnum && header.e_phentsize >= sizeof(Elf64_Phdr); i++) {
        Elf64_Phdr segment;
        memcpy(&segment, image + header.e_phoff + (size_t)i * header.e_phentsize, sizeof(segment));
        end = larger(end, segment.p_offset + segment.p_filesz);
    }
    return larger(end, sizeof(header));
}

static size_t link_size(const char *image)
{
    struct cuda_link link;
    size_t bytes = sizeof(link);

    memcpy(&link, image, sizeof(link));
    for (uint64_t i = 0; i < link.count; i++) {
        struct cuda_input input;
        memcpy(&input, image + bytes, sizeof(input));
        bytes += sizeof(input) + (input.bytes + 7) / 8 * 8;
    }
    return bytes;
}

/* The driver tells PTX from nothing else but that it is text; so comments and blanks may come
 * before its first directive. */
static size_t text_size(const char *image)
{
    unsigned char first = (unsigned char)*image;
    bool text = first == '.' || first == '/' || first == ' ' || (first >= '\t' && first <= '\r');
    return text ? strlen(image) + 1 : 0;
}

/* Byte by byte, for a text may be shorter than a magic number. */
static bool begins(const void *image, uint64_t magic, size_t bytes)
{
    const unsigned char *at = image;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (unsigned char)(magic >> 8 * i))
            return false;
    return true;
}

size_t image_size(const void **image)
{
    size_t text = text_size(*image);
    if (text)
        return text;
    if (begins(*image, FAT_WRAPPER_MAGIC, sizeof(uint32_t))) {
        struct fat_wrapper wrapper;
        memcpy(&wrapper, *image, sizeof(wrapper));
        *image = wrapper.image;
    }
    if (begins(*image, FAT_MAGIC, sizeof(uint32_t))) {
        struct fat_header header;
        memcpy(&header, *image, sizeof(header));
        return header.header_bytes + header.bytes;
    }
    uint32_t elf;
    memcpy(&elf, ELFMAG, sizeof(elf));
    if (begins(*image, elf, sizeof(elf)))
        return elf_size(*image);
    return begins(*image, CUDA_LINK_MAGIC, sizeof(uint64_t)) ? link_size(*image) : 0;
}
