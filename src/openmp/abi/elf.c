/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * elf.c: section headers lead to the compilers' words in .comment and to the dynamic symbols. All
 * is read by copying: nothing says how it is aligned.
 */
#include "openmp/abi/elf.h"

#include <ctype.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>

struct view {
    const char *image;
    size_t bytes;
    Elf64_Ehdr header;
};

static bool inside(uint64_t offset, uint64_t length, uint64_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

static bool view_open(struct view *view, const char *image, size_t bytes)
{
    *view = (struct view){.image = image, .bytes = bytes};
    if (bytes < sizeof(view->header))
        return false;
    memcpy(&view->header, image, sizeof(view->header));
    return true;
}

/* False: there is no such section with content. */
static bool section_at(const struct view *view, unsigned index, Elf64_Shdr *section)
{
    uint64_t at = (uint64_t)index * sizeof(*section);
    if (index >= view->header.e_shnum || !inside(view->header.e_shoff, at, view->bytes) ||
        !inside(view->header.e_shoff + at, sizeof(*section), view->bytes))
        return false;
    memcpy(section, view->image + view->header.e_shoff + at, sizeof(*section));
    return true;
}

static bool section_is_sound(const struct view *view, const Elf64_Shdr *section)
{
    return section->sh_type != SHT_NOBITS &&
           inside(section->sh_offset, section->sh_size, view->bytes);
}

/* Is this the text at an offset of a section of texts? */
static bool text_is(const struct view *view, const Elf64_Shdr *texts, uint64_t offset,
                    const char *text)
{
    size_t length = strlen(text) + 1;
    return inside(offset, length, texts->sh_size) &&
           memcmp(view->image + texts->sh_offset + offset, text, length) == 0;
}

/* ---- compilers ------------------------------------------------------------------------------ */

/* Texts like "Debian clang version 23.1.4 (2)". */
static void take_compilers(const char *text, size_t bytes, struct compilers *compilers)
{
    static const char clang[] = "clang version ", flang[] = "flang version ";
    const char *end = text + bytes;
    compilers->flang = memmem(text, bytes, flang, sizeof(flang) - 1) != NULL;
    while ((text = memmem(text, (size_t)(end - text), clang, sizeof(clang) - 1))) {
        int version = 0;
        for (text += sizeof(clang) - 1; text < end && isdigit((unsigned char)*text); text++)
            version = version < 10000 ? 10 * version + *text - '0' : version;
        if (version > 0)
            compilers_add(compilers, version);
    }
}

struct compilers elf_compilers(const char *image, size_t bytes)
{
    struct compilers compilers = {0};
    struct view view;
    Elf64_Shdr names, section;
    if (!view_open(&view, image, bytes) || !section_at(&view, view.header.e_shstrndx, &names) ||
        !section_is_sound(&view, &names))
        return compilers;
    for (unsigned i = 0; section_at(&view, i, &section); i++)
        if (section_is_sound(&view, &section) &&
            text_is(&view, &names, section.sh_name, ".comment"))
            take_compilers(image + section.sh_offset, section.sh_size, &compilers);
    return compilers;
}

/* ---- symbols -------------------------------------------------------------------------------- */

static bool symbols_have(const struct view *view, const Elf64_Shdr *symbols, const char *name)
{
    Elf64_Shdr names;
    Elf64_Sym symbol;
    if (!section_at(view, symbols->sh_link, &names) || !section_is_sound(view, &names))
        return false;
    for (uint64_t at = 0; inside(at, sizeof(symbol), symbols->sh_size); at += sizeof(symbol)) {
        memcpy(&symbol, view->image + symbols->sh_offset + at, sizeof(symbol));
        if (text_is(view, &names, symbol.st_name, name))
            return true;
    }
    return false;
}

bool elf_has_symbol(const char *image, size_t bytes, const char *name)
{
    struct view view;
    Elf64_Shdr section;
    if (!view_open(&view, image, bytes))
        return false;
    for (unsigned i = 0; section_at(&view, i, &section); i++)
        if (section.sh_type == SHT_DYNSYM && section_is_sound(&view, &section) &&
            symbols_have(&view, &section, name))
            return true;
    return false;
}

/* ---- variables ------------------------------------------------------------------------------ */

static bool text_begins(const struct view *view, const Elf64_Shdr *texts, uint64_t offset,
                        const char *text)
{
    size_t length = strlen(text);
    return inside(offset, length, texts->sh_size) &&
           memcmp(view->image + texts->sh_offset + offset, text, length) == 0;
}

/* Is it writable once the image is loaded? Compilers' lists of entries are, but nobody writes them.
 */
static bool section_varies(const struct view *view, unsigned index)
{
    static const char *const constant[] = {".data.rel.ro", "omp_offloading_entries",
                                           "llvm_offload_entries"};
    Elf64_Shdr names, section;
    if (!section_at(view, index, &section) || !(section.sh_flags & SHF_WRITE) ||
        !section_at(view, view->header.e_shstrndx, &names) || !section_is_sound(view, &names))
        return false;
    for (size_t i = 0; i < sizeof(constant) / sizeof(constant[0]); i++)
        if (text_begins(view, &names, section.sh_name, constant[i]))
            return false;
    return true;
}

/* What is there and is not the program's: of start files of C, of flang's kernels, and of libomp,
 * locks of critical regions and tables of threads, which each process has of its own. */
static bool name_is_none(const char *name)
{
    return strncmp(name, "completed.", 10) == 0 || strncmp(name, "__omp_offloading_", 17) == 0 ||
           strstr(name, "gomp_critical_user_") || strstr(name, ".cache.");
}

static const char *text_at(const struct view *view, const Elf64_Shdr *texts, uint64_t offset)
{
    const char *text = view->image + texts->sh_offset + offset;
    return offset < texts->sh_size && memchr(text, 0, texts->sh_size - offset) ? text : NULL;
}

/* All of a table of symbols. False: it is damaged, or `call` has ended it. */
static bool symbols_each(const struct view *view, const Elf64_Shdr *symbols,
                         bool (*call)(const Elf64_Sym *symbol, const char *name, void *context),
                         void *context)
{
    Elf64_Shdr names;
    Elf64_Sym symbol;
    if (!section_at(view, symbols->sh_link, &names) || !section_is_sound(view, &names))
        return false;
    for (uint64_t at = 0; inside(at, sizeof(symbol), symbols->sh_size); at += sizeof(symbol)) {
        memcpy(&symbol, view->image + symbols->sh_offset + at, sizeof(symbol));
        const char *name = text_at(view, &names, symbol.st_name);
        if (!name || !call(&symbol, name, context))
            return false;
    }
    return true;
}

static bool table_each(const struct view *view,
                       bool (*call)(const Elf64_Sym *symbol, const char *name, void *context),
                       void *context)
{
    Elf64_Shdr section;
    for (unsigned i = 0; section_at(view, i, &section); i++)
        if (section.sh_type == SHT_SYMTAB && section_is_sound(view, &section))
            return symbols_each(view, &section, call, context);
    return false;
}

struct variables {
    const struct view *view;
    bool (*call)(const struct elf_variable *variable, void *context);
    void *context;
};

static bool variable_take(const Elf64_Sym *symbol, const char *name, void *context)
{
    const struct variables *variables = context;
    int type = ELF64_ST_TYPE(symbol->st_info);
    const struct elf_variable variable = {symbol->st_value, symbol->st_size, name};
    return (type != STT_OBJECT && type != STT_COMMON) || symbol->st_size == 0 ||
           !section_varies(variables->view, symbol->st_shndx) || name_is_none(name) ||
           variables->call(&variable, variables->context);
}

bool elf_each_variable(const char *image, size_t bytes,
                       bool (*call)(const struct elf_variable *variable, void *context),
                       void *context)
{
    struct view view;
    struct variables variables = {&view, call, context};
    return view_open(&view, image, bytes) && table_each(&view, variable_take, &variables);
}

static bool variable_end(const struct elf_variable *variable, void *context)
{
    (void)variable, (void)context;
    return false;
}

bool elf_has_variables(const char *image, size_t bytes)
{
    return !elf_each_variable(image, bytes, variable_end, NULL);
}

struct wanted {
    const char *name;
    uint64_t value;
};

static bool symbol_compare(const Elf64_Sym *symbol, const char *name, void *context)
{
    struct wanted *wanted = context;
    if (symbol->st_shndx == SHN_UNDEF || strcmp(name, wanted->name) != 0)
        return true;
    wanted->value = symbol->st_value;
    return false;
}

uint64_t elf_symbol(const char *image, size_t bytes, const char *name)
{
    struct view view;
    struct wanted wanted = {name, 0};
    if (view_open(&view, image, bytes))
        table_each(&view, symbol_compare, &wanted);
    return wanted.value;
}

uint64_t elf_extent(const char *image, size_t bytes)
{
    struct view view;
    Elf64_Phdr part;
    uint64_t extent = 0;
    if (!view_open(&view, image, bytes))
        return 0;
    for (unsigned i = 0; i < view.header.e_phnum; i++) {
        uint64_t at = (uint64_t)i * sizeof(part);
        if (!inside(view.header.e_phoff, at + sizeof(part), bytes))
            return extent;
        memcpy(&part, image + view.header.e_phoff + at, sizeof(part));
        if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > extent)
            extent = part.p_vaddr + part.p_memsz;
    }
    return extent;
}
