/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * code_object.h: makes small code objects, ELF files for AMD GPUs without code in them, for tests
 * with the stand-in for the HSA runtime, which runs a host function for each kernel's name. Needs
 * no header of HSA.
 */
#ifndef OMPRMA_TESTS_HSA_CODE_OBJECT_H
#define OMPRMA_TESTS_HSA_CODE_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel, or a variable. */
struct code_object_part {
    const char *name;        /* of a kernel: without .kd */
    uint32_t variable_bytes; /* 0: it is a kernel */
    uint32_t words;          /* of a kernel: its arguments, of 64 bits each */
    uint32_t group_bytes, private_bytes;
    const void *contents; /* of a variable; NULL: zero */
};

enum { CODE_OBJECT_GFX90A = 0x3f, CODE_OBJECT_GFX1100 = 0x41 };

struct code_object_place {
    size_t text, symbols, strings, sections, bytes; /* offsets; of all */
};

static inline size_t code_object_room(const struct code_object_part *part)
{
    return part->variable_bytes ? (part->variable_bytes + 63u) / 64 * 64 : 64;
}

static inline struct code_object_place code_object_plan(const struct code_object_part *parts,
                                                        size_t count)
{
    struct code_object_place place = {.text = 256};
    size_t strings = 1, rooms = 0;

    for (size_t i = 0; i < count; i++) {
        rooms += code_object_room(&parts[i]);
        strings += strlen(parts[i].name) + 4;
    }
    place.symbols = place.text + rooms;
    place.strings = place.symbols + (count + 1) * sizeof(Elf64_Sym);
    place.sections = (place.strings + strings + 7) / 8 * 8;
    place.bytes = place.sections + 4 * sizeof(Elf64_Shdr);
    return place;
}

/* What lies at the symbol: a descriptor, or the variable. */
static inline void code_object_fill(char *at, const struct code_object_part *part)
{
    const uint32_t argument_bytes = part->words * 8;

    if (part->variable_bytes) {
        if (part->contents)
            memcpy(at, part->contents, part->variable_bytes);
        return;
    }
    memcpy(at, &part->group_bytes, 4);
    memcpy(at + 4, &part->private_bytes, 4);
    memcpy(at + 8, &argument_bytes, 4);
}

static inline void code_object_headers(char *image, const struct code_object_place *place,
                                       size_t count, unsigned machine)
{
    const Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 2},
        .e_type = ET_DYN,
        .e_machine = 224,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(header),
        .e_shoff = place->sections,
        .e_flags = machine,
        .e_ehsize = sizeof(header),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 4};
    const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_W,
                                .p_filesz = place->sections,
                                .p_memsz = place->sections,
                                .p_align = 4096};
    const Elf64_Shdr sections[4] = {
        {.sh_type = SHT_NULL},
        {.sh_type = SHT_PROGBITS,
         .sh_flags = SHF_ALLOC | SHF_WRITE,
         .sh_addr = place->text,
         .sh_offset = place->text,
         .sh_size = place->symbols - place->text},
        {.sh_type = SHT_DYNSYM,
         .sh_flags = SHF_ALLOC,
         .sh_addr = place->symbols,
         .sh_offset = place->symbols,
         .sh_size = (count + 1) * sizeof(Elf64_Sym),
         .sh_link = 3,
         .sh_info = 1,
         .sh_entsize = sizeof(Elf64_Sym)},
        {.sh_type = SHT_STRTAB,
         .sh_flags = SHF_ALLOC,
         .sh_addr = place->strings,
         .sh_offset = place->strings,
         .sh_size = place->sections - place->strings},
    };

    memcpy(image, &header, sizeof(header));
    memcpy(image + sizeof(header), &segment, sizeof(segment));
    memcpy(image + place->sections, sections, sizeof(sections));
}

/* The code object, of *bytes, for free(). `machine`: CODE_OBJECT_GFX90A, or another number that ELF
 * flags have for the ISA. Aborts where there is no memory. */
static inline void *code_object_make(const struct code_object_part *parts, size_t count,
                                     unsigned machine, size_t *bytes)
{
    const struct code_object_place place = code_object_plan(parts, count);
    size_t at = place.text, name = 1;
    char *image = calloc(1, place.bytes);
    Elf64_Sym *symbols;

    if (!image)
        abort();
    symbols = (Elf64_Sym *)(void *)(image + place.symbols);
    for (size_t i = 0; i < count; i++) {
        bool kernel = parts[i].variable_bytes == 0;

        code_object_fill(image + at, &parts[i]);
        symbols[i + 1] = (Elf64_Sym){
            .st_name = (Elf64_Word)name,
            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
            .st_other = STV_PROTECTED,
            .st_shndx = 1,
            .st_value = at,
            .st_size = kernel ? 64 : parts[i].variable_bytes,
        };
        name += (size_t)sprintf(image + place.strings + name, "%s%s", parts[i].name,
                                kernel ? ".kd" : "") +
                1;
        at += code_object_room(&parts[i]);
    }
    code_object_headers(image, &place, count, machine);
    *bytes = place.bytes;
    return image;
}

/* That of the kernels which the stand-in has itself, and that its tests use. */
static inline void *code_object_of_standin(size_t *bytes)
{
    static const struct code_object_part parts[] = {
        {.name = "standin_add", .words = 3, .group_bytes = 16, .private_bytes = 8},
        {.name = "standin_geometry", .words = 1},
        {.name = "standin_nap", .words = 1},
        {.name = "standin_gate", .words = 1},
        {.name = "standin_print", .words = 1},
        {.name = "standin_fault", .words = 1},
        {.name = "perf_empty"},
        {.name = "perf_add", .words = 1},
        {.name = "standin_number", .variable_bytes = 8, .contents = "\7\0\0\0\0\0\0"},
    };

    return code_object_make(parts, sizeof(parts) / sizeof(parts[0]), CODE_OBJECT_GFX90A, bytes);
}

#endif
