/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ptxas.c: stands in for NVIDIA's ptxas and nvlink where these are not installed (they are not
 * free), so that clang and its linker make programs with nvptx images: writes a cubin that declares
 * what a PTX text declares, as ptxas would, and has no code in it. Only the stand-in for the driver
 * (standin.h) can run that.
 *
 * - ptxas [OPTION...] [-o|--output-file FILE] FILE.s: PTX to cubin
 * - nvlink [OPTION...] -o FILE INPUT: one cubin, as an executable one
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { MACHINE_CUDA = 190, ABI_CUDA = 0x33, ABI_VERSION_CUDA = 7 };
enum { SECTIONS_MOST = 4096 };
enum { PARAMETER_RECORD = 4 + 12, ATTRIBUTE_KPARAM_INFO = 23, FORMAT_SIZED = 4 };

struct settings settings; /* of the stand-in, which this is no part of */

static void die(const char *what, const char *name)
{
    fprintf(stderr, "ptxas stand-in: %s %s\n", what, name);
    exit(1);
}

/* ---- a growing piece of the file ---- */

struct piece {
    char *bytes;
    size_t count;
};

static size_t piece_add(struct piece *piece, const void *bytes, size_t count)
{
    size_t at = piece->count;

    piece->bytes = realloc(piece->bytes, at + count + 1);
    if (!piece->bytes)
        die("no memory for", "a section");
    if (bytes)
        memcpy(piece->bytes + at, bytes, count);
    else
        memset(piece->bytes + at, 0, count);
    piece->count = at + count;
    return at;
}

static char *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    struct piece all = {0};
    char part[4096];
    size_t got;

    if (!file)
        die("cannot read", path);
    while ((got = fread(part, 1, sizeof(part), file)) > 0)
        piece_add(&all, part, got);
    fclose(file);
    piece_add(&all, "", 1);
    *bytes = all.count - 1;
    return all.bytes;
}

static void file_write(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file))
        die("cannot write", path);
}

/* ---- the cubin ---- */

struct cubin {
    struct piece contents, names, section_names, symbols;
    Elf64_Shdr sections[SECTIONS_MOST];
    unsigned count;
};

static unsigned section_add(struct cubin *cubin, const char *name, unsigned type, uint64_t flags,
                            const void *bytes, size_t count)
{
    if (cubin->count == SECTIONS_MOST)
        die("too many kernels, at", name);
    Elf64_Shdr *section = &cubin->sections[cubin->count];
    piece_add(&cubin->contents, NULL, -cubin->contents.count & 15);
    *section =
        (Elf64_Shdr){.sh_name = (unsigned)piece_add(&cubin->section_names, name, strlen(name) + 1),
                     .sh_type = type,
                     .sh_flags = flags,
                     .sh_offset = sizeof(Elf64_Ehdr) + cubin->contents.count,
                     .sh_size = count,
                     .sh_addralign = 16};
    piece_add(&cubin->contents, bytes, count);
    return cubin->count++;
}

static void symbol_add(struct cubin *cubin, const char *name, int type, unsigned section,
                       size_t bytes)
{
    Elf64_Sym symbol = {.st_name = (unsigned)piece_add(&cubin->names, name, strlen(name) + 1),
                        .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                        .st_shndx = (uint16_t)section,
                        .st_size = bytes};
    piece_add(&cubin->symbols, &symbol, sizeof(symbol));
}

static void kernel_add(struct cubin *cubin, const struct image_symbol *kernel)
{
    static const char code[16];
    struct piece info = {0};
    char *name;

    for (uint32_t i = 0; i < kernel->count; i++) {
        struct {
            uint8_t format, attribute;
            uint16_t bytes;
            uint32_t index;
            uint16_t ordinal, offset;
            uint32_t size;
        } record = {FORMAT_SIZED,
                    ATTRIBUTE_KPARAM_INFO,
                    PARAMETER_RECORD - 4,
                    0,
                    (uint16_t)i,
                    (uint16_t)kernel->parameters[i].offset,
                    kernel->parameters[i].bytes << 18 | 0x1f000};
        piece_add(&info, &record, sizeof(record));
    }
    if (asprintf(&name, ".nv.info.%s", kernel->name) < 0)
        die("no memory for", kernel->name);
    section_add(cubin, name, 0x70000000, 0, info.bytes, info.count);
    free(name);
    free(info.bytes);
    if (asprintf(&name, ".text.%s", kernel->name) < 0)
        die("no memory for", kernel->name);
    unsigned section =
        section_add(cubin, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code, sizeof(code));
    free(name);
    symbol_add(cubin, kernel->name, STT_FUNC, section, sizeof(code));
}

static void variable_add(struct cubin *cubin, const struct image_symbol *variable)
{
    unsigned section = section_add(cubin, ".nv.global.init", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE,
                                   variable->contents, variable->bytes);
    symbol_add(cubin, variable->name, STT_OBJECT, section, variable->bytes);
}

static void cubin_write(struct cubin *cubin, const char *path, unsigned capability, unsigned type)
{
    unsigned names =
        section_add(cubin, ".strtab", SHT_STRTAB, 0, cubin->names.bytes, cubin->names.count);
    unsigned symbols =
        section_add(cubin, ".symtab", SHT_SYMTAB, 0, cubin->symbols.bytes, cubin->symbols.count);
    cubin->sections[symbols].sh_link = names;
    cubin->sections[symbols].sh_info = 1;
    cubin->sections[symbols].sh_entsize = sizeof(Elf64_Sym);
    cubin->sections[symbols].sh_addralign = 8;
    size_t name = piece_add(&cubin->section_names, ".shstrtab", sizeof(".shstrtab"));
    struct piece all = {0}; /* its own name goes into what it holds */
    piece_add(&all, cubin->section_names.bytes, cubin->section_names.count);
    unsigned own = section_add(cubin, "", SHT_STRTAB, 0, all.bytes, all.count);
    free(all.bytes);
    cubin->sections[own].sh_name = (unsigned)name;
    piece_add(&cubin->contents, NULL, -cubin->contents.count & 15);
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                     EV_CURRENT, ABI_CUDA, ABI_VERSION_CUDA},
                         .e_type = (uint16_t)type,
                         .e_machine = MACHINE_CUDA,
                         .e_version = EV_CURRENT,
                         .e_flags = capability | 0x500 | capability << 16,
                         .e_shoff = sizeof(header) + cubin->contents.count,
                         .e_ehsize = sizeof(header),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)cubin->count,
                         .e_shstrndx = (uint16_t)own};
    struct piece file = {0};
    piece_add(&file, &header, sizeof(header));
    piece_add(&file, cubin->contents.bytes, cubin->contents.count);
    piece_add(&file, cubin->sections, cubin->count * sizeof(cubin->sections[0]));
    file_write(path, file.bytes, file.count);
}

static void assemble(const char *from, const char *to)
{
    static struct cubin cubin;
    struct image image = {0};
    size_t bytes;
    char *text = file_read(from, &bytes);
    const char *target = strstr(text, ".target sm_");

    if (!target || image_read(&image, text, bytes) != SUCCESS)
        die("no PTX in", from);
    section_add(&cubin, "", SHT_NULL, 0, NULL, 0);
    cubin.sections[0] = (Elf64_Shdr){0};
    piece_add(&cubin.names, "", 1);
    piece_add(&cubin.symbols, NULL, sizeof(Elf64_Sym));
    for (size_t i = 0; i < image.count; i++) {
        if (image.symbols[i].kernel)
            kernel_add(&cubin, &image.symbols[i]);
        else if (!strstr(image.symbols[i].name, "__unnamed_"))
            variable_add(&cubin, &image.symbols[i]);
    }
    cubin_write(&cubin, to, (unsigned)strtoul(target + 11, NULL, 10), ET_REL);
    image_free(&image);
    free(text);
}

/* One input: nothing needs to be resolved. */
static void join(const char *from, const char *to)
{
    size_t bytes;
    char *cubin = file_read(from, &bytes);
    uint16_t type = ET_EXEC;

    if (bytes < sizeof(Elf64_Ehdr) || memcmp(cubin, ELFMAG, SELFMAG) != 0)
        die("no cubin:", from);
    memcpy(cubin + offsetof(Elf64_Ehdr, e_type), &type, sizeof(type));
    file_write(to, cubin, bytes);
    free(cubin);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), rest = strlen(end);
    return length >= rest && strcmp(text + length - rest, end) == 0;
}

int main(int count, char **words)
{
    bool linking = ends_with(words[0], "nvlink");
    const char *from = NULL, *to = NULL;

    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "-o") == 0 || strcmp(words[i], "--output-file") == 0)
            to = i + 1 < count ? words[++i] : NULL;
        else if (ends_with(words[i], ".s") || ends_with(words[i], ".ptx") ||
                 (linking && (ends_with(words[i], ".cubin") || ends_with(words[i], ".o"))))
            from = words[i];
    }
    if (!from || !to)
        die("no input or no output", "");
    if (linking)
        join(from, to);
    else
        assemble(from, to);
    return 0;
}
