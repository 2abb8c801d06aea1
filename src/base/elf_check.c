/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * elf_check.c: is this memory a complete shared object for this machine? Nothing in the image is
 * trusted: libelf opens it only after the header and its two tables are known to lie inside, and
 * what the dynamic loader would follow blindly (segments, dynamic section) is checked as well.
 * Knows nothing of where images come from or how they are loaded.
 */
#include "base/elf_check.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* What every error ends with: the user did not make the image by hand. */
#define ADVICE "; build the program again"

struct image_view {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header; /* a copy, for the image need not be aligned */
    Elf *elf;
    size_t segments, sections;
};

static bool inside(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* Where a part ends, as a number for a message; the end of the address space if that overflows. */
static uint64_t end_of(uint64_t offset, uint64_t bytes)
{
    uint64_t end;
    return __builtin_add_overflow(offset, bytes, &end) ? UINT64_MAX : end;
}

static omprma_status_t truncated(const struct image_view *view, const char *what, uint64_t offset,
                                 uint64_t bytes)
{
    return error_set(OMPRMA_ERR_IMAGE,
                     "image is truncated: %s ends at byte %" PRIu64 " of an image of %zu bytes%s",
                     what, end_of(offset, bytes), view->size, ADVICE);
}

/* ---- header ------------------------------------------------------------------------------- */

static omprma_status_t check_kind(const struct image_view *view)
{
    const unsigned char *ident = view->header.e_ident;
    if (ident[EI_CLASS] != ELFCLASS64) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is not a 64-bit ELF file (class %d, expected %d)%s",
                         ident[EI_CLASS], ELFCLASS64, "; build it for x86-64");
    }
    if (ident[EI_DATA] != ELFDATA2LSB) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is not little endian (byte order %d, expected %d)%s",
                         ident[EI_DATA], ELFDATA2LSB, "; build it for x86-64");
    }
    if (view->header.e_machine != EM_X86_64) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is for another machine (number %d, expected %d: x86-64)%s",
                         view->header.e_machine, EM_X86_64, "; build it for x86-64");
    }
    if (ident[EI_VERSION] != EV_CURRENT || view->header.e_version != EV_CURRENT) {
        return error_set(OMPRMA_ERR_IMAGE, "image has ELF version %d.%u, expected %d%s",
                         ident[EI_VERSION], view->header.e_version, EV_CURRENT, ADVICE);
    }
    if (view->header.e_type != ET_DYN) {
        return error_set(OMPRMA_ERR_IMAGE, "image is not a shared object (type %d, expected %d)%s",
                         view->header.e_type, ET_DYN, "; link it with -shared -fPIC");
    }
    return OMPRMA_OK;
}

static omprma_status_t check_header(struct image_view *view)
{
    if (view->size < SELFMAG || memcmp(view->bytes, ELFMAG, SELFMAG) != 0) {
        return error_set(
            OMPRMA_ERR_IMAGE,
            "image of %zu bytes is not an ELF file: it does not begin with 7f 45 4c 46%s",
            view->size, ADVICE);
    }
    if (view->size < sizeof(view->header))
        return truncated(view, "the ELF header", 0, sizeof(view->header));
    memcpy(&view->header, view->bytes, sizeof(view->header));
    omprma_status_t status = check_kind(view);
    if (status)
        return status;
    if (view->header.e_ehsize != sizeof(Elf64_Ehdr)) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: its ELF header claims %d bytes, expected %zu%s",
                         view->header.e_ehsize, sizeof(Elf64_Ehdr), ADVICE);
    }
    return OMPRMA_OK;
}

/* ---- the two tables ----------------------------------------------------------------------- */

static omprma_status_t check_table(const struct image_view *view, const char *name, uint64_t offset,
                                   uint64_t count, unsigned entry, size_t expected)
{
    if (count == 0)
        return OMPRMA_OK;
    if (entry != expected) {
        return error_set(
            OMPRMA_ERR_IMAGE,
            "image is damaged: entries of its %s header table claim %u bytes, expected "
            "%zu%s",
            name, entry, expected, ADVICE);
    }
    uint64_t bytes = count > UINT64_MAX / expected ? UINT64_MAX : count * expected;
    if (!inside(offset, bytes, view->size)) {
        char what[96];
        snprintf(what, sizeof(what), "the %s header table (%" PRIu64 " entries)", name, count);
        return truncated(view, what, offset, bytes);
    }
    if (offset < sizeof(Elf64_Ehdr)) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: its %s header table begins at byte %" PRIu64
                         ", inside the ELF header%s",
                         name, offset, ADVICE);
    }
    return OMPRMA_OK;
}

/*
 * Counts that do not fit into 16 bits stand in section header 0: more than 65279 sections, more
 * than 65534 segments. Both are legal, so both are followed.
 */
static omprma_status_t check_tables(struct image_view *view)
{
    const Elf64_Ehdr *header = &view->header;
    view->sections = header->e_shnum;
    view->segments = header->e_phnum;
    if (header->e_shoff != 0 && (header->e_shnum == 0 || header->e_phnum == PN_XNUM)) {
        Elf64_Shdr first;
        omprma_status_t status =
            check_table(view, "section", header->e_shoff, 1, header->e_shentsize, sizeof(first));
        if (status)
            return status;
        memcpy(&first, view->bytes + header->e_shoff, sizeof(first));
        if (header->e_shnum == 0)
            view->sections = first.sh_size;
        if (header->e_phnum == PN_XNUM)
            view->segments = first.sh_info;
    }
    if (view->segments == 0)
        return error_set(OMPRMA_ERR_IMAGE, "image has no segments to load%s",
                         "; an object file must be linked with -shared");
    omprma_status_t status = check_table(view, "program", header->e_phoff, view->segments,
                                         header->e_phentsize, sizeof(Elf64_Phdr));
    if (status)
        return status;
    return check_table(view, "section", header->e_shoff, view->sections, header->e_shentsize,
                       sizeof(Elf64_Shdr));
}

static omprma_status_t not_readable(const char *what, size_t index)
{
    return error_set(OMPRMA_ERR_IMAGE, "image is damaged: %s %zu cannot be read: %s%s", what, index,
                     elf_errmsg(-1), ADVICE);
}

/* ---- segments ----------------------------------------------------------------------------- */

static omprma_status_t check_load(size_t index, const GElf_Phdr *segment, uint64_t *lowest_next)
{
    const char *wrong = NULL;
    uint64_t align = segment->p_align;
    if (segment->p_filesz > segment->p_memsz)
        wrong = "is larger in the file than in memory";
    else if (segment->p_memsz > (uint64_t)1 << 47 || segment->p_vaddr > (uint64_t)1 << 47)
        wrong = "does not fit into the address space";
    else if (align & (align - 1))
        wrong = "has an alignment that is not a power of two";
    else if (align > 1 && (segment->p_vaddr - segment->p_offset) % align != 0)
        wrong = "has an address that does not match its place in the file";
    else if (segment->p_vaddr < *lowest_next)
        wrong = "overlaps the segment before it";
    if (wrong) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: segment %zu (address %#" PRIx64 ", %" PRIu64
                         " bytes) %s%s",
                         index, segment->p_vaddr, segment->p_memsz, wrong, ADVICE);
    }
    *lowest_next = segment->p_vaddr + segment->p_memsz;
    return OMPRMA_OK;
}

static omprma_status_t check_segments(const struct image_view *view, GElf_Phdr *dynamic)
{
    uint64_t lowest_next = 0;
    bool loads = false;
    for (size_t i = 0; i < view->segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(view->elf, (int)i, &segment))
            return not_readable("segment", i);
        if (segment.p_type == PT_NULL)
            continue;
        if (!inside(segment.p_offset, segment.p_filesz, view->size)) {
            char what[64];
            snprintf(what, sizeof(what), "segment %zu (type %#x)", i, segment.p_type);
            return truncated(view, what, segment.p_offset, segment.p_filesz);
        }
        if (segment.p_type == PT_LOAD) {
            omprma_status_t status = check_load(i, &segment, &lowest_next);
            if (status)
                return status;
            loads = true;
        } else if (segment.p_type == PT_DYNAMIC) {
            *dynamic = segment;
        }
    }
    if (!loads || dynamic->p_type == PT_NULL) {
        return error_set(OMPRMA_ERR_IMAGE, "image is damaged: it has no %s segment%s",
                         loads ? "dynamic" : "loadable", ADVICE);
    }
    return OMPRMA_OK;
}

/* ---- the dynamic section, which the loader follows blindly ---------------------------------- */

/* Finds where [address, address + bytes) stands in the file: it must lie in the stored part of one
 * loadable segment. Segments are few, and an image is checked once. */
static bool find_stored(const struct image_view *view, uint64_t address, uint64_t bytes,
                        uint64_t *offset)
{
    for (size_t i = 0; i < view->segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(view->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        /* An address below the segment wraps around, and is far outside. */
        if (inside(address - segment.p_vaddr, bytes, segment.p_filesz)) {
            *offset = segment.p_offset + (address - segment.p_vaddr);
            return true;
        }
    }
    return false;
}

/* Tables that the loader reads: by the tags of their address and their size, or a least size. */
static const struct dynamic_table {
    const char *name;
    int64_t address_tag, size_tag;
    uint64_t least_bytes;
    bool needed;
} dynamic_tables[] = {
    {"string table", DT_STRTAB, DT_STRSZ, 1, true},
    {"symbol table", DT_SYMTAB, DT_NULL, sizeof(Elf64_Sym), true},
    {"hash table", DT_HASH, DT_NULL, 8, false},
    {"GNU hash table", DT_GNU_HASH, DT_NULL, 16, false},
    {"relocation table", DT_RELA, DT_RELASZ, 0, false},
    {"PLT relocation table", DT_JMPREL, DT_PLTRELSZ, 0, false},
    {"constructor array", DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 0, false},
    {"destructor array", DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 0, false},
    {"constructor", DT_INIT, DT_NULL, 1, false},
    {"destructor", DT_FINI, DT_NULL, 1, false},
    {"table of needed versions", DT_VERNEED, DT_NULL, sizeof(Elf64_Verneed), false},
    {"table of symbol versions", DT_VERSYM, DT_NULL, sizeof(Elf64_Versym), false},
};

static Elf64_Dyn dynamic_entry(const struct image_view *view, const GElf_Phdr *dynamic,
                               uint64_t index)
{
    Elf64_Dyn entry;
    memcpy(&entry, view->bytes + dynamic->p_offset + index * sizeof(entry), sizeof(entry));
    return entry;
}

/* The section's end (DT_NULL) is known to exist. */
static bool find_dynamic(const struct image_view *view, const GElf_Phdr *dynamic, int64_t tag,
                         uint64_t *value)
{
    Elf64_Dyn entry;
    for (uint64_t i = 0; (entry = dynamic_entry(view, dynamic, i)).d_tag != DT_NULL; i++) {
        if (entry.d_tag == tag) {
            *value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

static omprma_status_t check_dynamic_end(const struct image_view *view, const GElf_Phdr *dynamic)
{
    uint64_t count = dynamic->p_filesz / sizeof(Elf64_Dyn), offset;
    if (!find_stored(view, dynamic->p_vaddr, dynamic->p_filesz, &offset) ||
        offset != dynamic->p_offset) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: its dynamic section at %#" PRIx64 " is not loaded%s",
                         dynamic->p_vaddr, ADVICE);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (dynamic_entry(view, dynamic, i).d_tag == DT_NULL)
            return OMPRMA_OK;
    }
    return error_set(OMPRMA_ERR_IMAGE,
                     "image is damaged: its dynamic section of %" PRIu64 " entries has no end%s",
                     count, ADVICE);
}

/* Names of needed libraries and folders are read from the string table without a bound. */
static omprma_status_t check_dynamic_names(const struct image_view *view, const GElf_Phdr *dynamic)
{
    uint64_t address = 0, bytes = 0, offset = 0;
    find_dynamic(view, dynamic, DT_STRTAB, &address);
    find_dynamic(view, dynamic, DT_STRSZ, &bytes);
    if (bytes == 0 || !find_stored(view, address, bytes, &offset) ||
        view->bytes[offset + bytes - 1] != 0) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: its string table of %" PRIu64 " bytes at %#" PRIx64
                         " does not end with a zero%s",
                         bytes, address, ADVICE);
    }
    Elf64_Dyn entry;
    for (uint64_t i = 0; (entry = dynamic_entry(view, dynamic, i)).d_tag != DT_NULL; i++) {
        bool name = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                    entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
        if (name && entry.d_un.d_val >= bytes) {
            return error_set(OMPRMA_ERR_IMAGE,
                             "image is damaged: dynamic entry %" PRIu64 " names byte %" PRIu64
                             " of a string table of %" PRIu64 " bytes%s",
                             i, entry.d_un.d_val, bytes, ADVICE);
        }
    }
    return OMPRMA_OK;
}

static omprma_status_t check_dynamic(const struct image_view *view, const GElf_Phdr *dynamic)
{
    omprma_status_t status = check_dynamic_end(view, dynamic);
    if (status)
        return status;
    for (size_t i = 0; i < sizeof(dynamic_tables) / sizeof(dynamic_tables[0]); i++) {
        const struct dynamic_table *table = &dynamic_tables[i];
        uint64_t address, bytes = table->least_bytes, offset;
        if (!find_dynamic(view, dynamic, table->address_tag, &address)) {
            if (!table->needed)
                continue;
            return error_set(OMPRMA_ERR_IMAGE, "image is damaged: it has no %s%s", table->name,
                             ADVICE);
        }
        if (table->size_tag != DT_NULL)
            find_dynamic(view, dynamic, table->size_tag, &bytes);
        if (!find_stored(view, address, bytes, &offset)) {
            return error_set(OMPRMA_ERR_IMAGE,
                             "image is damaged: its %s (%" PRIu64 " bytes at %#" PRIx64
                             ") is not in the file%s",
                             table->name, bytes, address, ADVICE);
        }
    }
    return check_dynamic_names(view, dynamic);
}

/* ---- sections ----------------------------------------------------------------------------- */

/* The section's name for a message, without bytes that would upset a terminal. */
static void section_name(const struct image_view *view, const GElf_Shdr *section, char *name,
                         size_t bytes)
{
    size_t names_index;
    const char *text = NULL;
    if (elf_getshdrstrndx(view->elf, &names_index) == 0)
        text = elf_strptr(view->elf, names_index, section->sh_name);
    snprintf(name, bytes, "%s", text ? text : "?");
    for (; *name; name++) {
        if (*name < ' ' || *name > '~')
            *name = '?';
    }
}

static omprma_status_t check_sections(const struct image_view *view)
{
    for (size_t i = 1; i < view->sections; i++) {
        GElf_Shdr section;
        Elf_Scn *handle = elf_getscn(view->elf, i);
        if (!handle || !gelf_getshdr(handle, &section))
            return not_readable("section", i);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL ||
            inside(section.sh_offset, section.sh_size, view->size))
            continue;
        char name[48], what[96];
        section_name(view, &section, name, sizeof(name));
        snprintf(what, sizeof(what), "section %zu (%s)", i, name);
        return truncated(view, what, section.sh_offset, section.sh_size);
    }
    if (view->header.e_shstrndx != SHN_XINDEX && view->header.e_shstrndx != SHN_UNDEF &&
        view->header.e_shstrndx >= view->sections) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: section names are in section %d of %zu%s",
                         view->header.e_shstrndx, view->sections, ADVICE);
    }
    return OMPRMA_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static omprma_status_t check_open(const struct image_view *view)
{
    size_t segments = 0, sections = 0;
    if (elf_kind(view->elf) != ELF_K_ELF || elf_getphdrnum(view->elf, &segments) != 0 ||
        elf_getshdrnum(view->elf, &sections) != 0 || segments != view->segments ||
        sections != view->sections) {
        return error_set(OMPRMA_ERR_IMAGE,
                         "image is damaged: libelf finds %zu segments and %zu sections, the header "
                         "claims %zu and %zu%s",
                         segments, sections, view->segments, view->sections, ADVICE);
    }
    GElf_Phdr dynamic = {.p_type = PT_NULL};
    omprma_status_t status = check_segments(view, &dynamic);
    if (!status)
        status = check_dynamic(view, &dynamic);
    if (!status)
        status = check_sections(view);
    return status;
}

omprma_status_t elf_check(const void *image, size_t bytes)
{
    if (!image)
        return error_set(OMPRMA_ERR_ARGUMENT, "image is NULL");
    struct image_view view = {.bytes = image, .size = bytes};
    omprma_status_t status = check_header(&view);
    if (!status)
        status = check_tables(&view);
    if (status)
        return status;
    elf_version(EV_CURRENT);
    view.elf = elf_memory((char *)image, bytes); /* opened for reading: never written to */
    if (!view.elf) {
        return error_set(OMPRMA_ERR_IMAGE, "image cannot be opened by libelf: %s%s", elf_errmsg(-1),
                         ADVICE);
    }
    status = check_open(&view);
    elf_end(view.elf);
    return status;
}

omprma_status_t omprma_image_check(const void *image, size_t bytes)
{
    return elf_check(image, bytes);
}
