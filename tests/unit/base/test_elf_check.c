/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_elf_check.c: a real shared object, cut at every interesting length and damaged one field at
 * a time. Every image ends at a page that cannot be touched and cannot be written to, so a read
 * past its end or a write is a crash.
 * Covers: elf_check.c
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <libelf.h>

#include "tests/unit/test.h"
#include "base/elf_check.h"
#include "base/error.h"

enum { PAGE = 4096 };

static unsigned char *good; /* the file, unchanged */
static size_t good_bytes;
static unsigned char *arena; /* room for one image, then a page without access */
static size_t arena_bytes;

static Elf64_Ehdr header(void)
{
    Elf64_Ehdr copy;
    memcpy(&copy, good, sizeof(copy));
    return copy;
}

static Elf64_Phdr segment(size_t index)
{
    Elf64_Phdr copy;
    memcpy(&copy, good + header().e_phoff + index * sizeof(copy), sizeof(copy));
    return copy;
}

static Elf64_Shdr section(size_t index)
{
    Elf64_Shdr copy;
    memcpy(&copy, good + header().e_shoff + index * sizeof(copy), sizeof(copy));
    return copy;
}

static size_t find_segment(uint32_t type)
{
    size_t index = 0;
    while (segment(index).p_type != type)
        assert_true(++index < header().e_phnum);
    return index;
}

/* Reads the library that holds elf_begin(): a real one that is always there. */
static int load_good(void **state)
{
    (void)state;
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "elf_begin");
    if (!symbol || !dladdr(symbol, &info))
        return -1;
    int fd = open(info.dli_fname, O_RDONLY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status))
        return -1;
    good_bytes = (size_t)status.st_size;
    good = malloc(good_bytes);
    if (!good || read(fd, good, good_bytes) != (ssize_t)good_bytes)
        return -1;
    close(fd);
    arena_bytes = (good_bytes / PAGE + 2) * PAGE;
    arena = mmap(NULL, arena_bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return arena == MAP_FAILED ? -1 : 0;
}

static int free_good(void **state)
{
    (void)state;
    free(good);
    return munmap(arena, arena_bytes + PAGE);
}

/* A change of `width` bytes at `offset`. */
struct change {
    size_t offset, width;
    uint64_t value;
};

/* Checks the first `bytes` bytes of the image, read-only and against the end of memory. */
static omprma_status_t check(size_t bytes, const struct change *changes, size_t count)
{
    unsigned char *image = arena + arena_bytes - bytes;
    assert_int_equal(mprotect(arena, arena_bytes, PROT_READ | PROT_WRITE), 0);
    memcpy(image, good, bytes);
    for (size_t i = 0; i < count; i++) {
        if (changes[i].offset + changes[i].width <= bytes)
            memcpy(image + changes[i].offset, &changes[i].value, changes[i].width);
    }
    assert_int_equal(mprotect(arena, arena_bytes, PROT_READ), 0);
    omprma_status_t status = omprma_image_check(image, bytes);
    assert_true(status == OMPRMA_OK || status == OMPRMA_ERR_IMAGE);
    return status;
}

static void assert_says(size_t bytes, const struct change *changes, size_t count, const char *part)
{
    assert_int_equal(check(bytes, changes, count), OMPRMA_ERR_IMAGE);
    if (!strstr(error_text(), part))
        fail_msg("\"%s\" does not hold \"%s\"", error_text(), part);
}

#define CHANGE(structure, field, base, number)                                                     \
    ((struct change){(base) + offsetof(structure, field), sizeof(((structure *)0)->field), number})
#define IN_HEADER(field, number) CHANGE(Elf64_Ehdr, field, 0, number)
#define IN_SEGMENT(index, field, number)                                                           \
    CHANGE(Elf64_Phdr, field, header().e_phoff + (index) * sizeof(Elf64_Phdr), number)
#define IN_SECTION(index, field, number)                                                           \
    CHANGE(Elf64_Shdr, field, header().e_shoff + (index) * sizeof(Elf64_Shdr), number)

/* ---- whole images ------------------------------------------------------------------------- */

TEST(real_library_passes)
{
    assert_int_equal(check(good_bytes, NULL, 0), OMPRMA_OK);
    assert_int_equal(elf_check(good, good_bytes), OMPRMA_OK);
    unsigned char *odd = malloc(good_bytes + 1); /* an image need not be aligned */
    memcpy(odd + 1, good, good_bytes);
    assert_int_equal(elf_check(odd + 1, good_bytes), OMPRMA_OK);
    free(odd);
}

TEST(library_without_sections_passes)
{
    const struct change changes[] = {IN_HEADER(e_shoff, 0), IN_HEADER(e_shnum, 0),
                                     IN_HEADER(e_shstrndx, 0)};
    assert_int_equal(check(good_bytes, changes, 3), OMPRMA_OK);
}

TEST(null_is_an_argument_error)
{
    assert_int_equal(elf_check(NULL, 100), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(elf_check(NULL, 0), OMPRMA_ERR_ARGUMENT);
    assert_says(0, NULL, 0, "image of 0 bytes is not an ELF file");
}

/* ---- truncation --------------------------------------------------------------------------- */

TEST(every_cut_is_noticed)
{
    const Elf64_Ehdr ehdr = header();
    /* The section table stands at the end of a linked file; nothing may be missing. */
    size_t end = ehdr.e_shoff + ehdr.e_shnum * sizeof(Elf64_Shdr);
    for (size_t bytes = 0; bytes < 1024; bytes++)
        assert_int_equal(check(bytes, NULL, 0), OMPRMA_ERR_IMAGE);
    for (size_t bytes = 1024; bytes < end; bytes += 509)
        assert_int_equal(check(bytes, NULL, 0), OMPRMA_ERR_IMAGE);
    for (size_t bytes = end - 200; bytes < end; bytes++)
        assert_int_equal(check(bytes, NULL, 0), OMPRMA_ERR_IMAGE);
    assert_int_equal(check(end, NULL, 0), OMPRMA_OK);
    assert_says(3, NULL, 0, "is not an ELF file");
    assert_says(4, NULL, 0, "image is truncated: the ELF header ends at byte 64 of an image of 4");
    assert_says(64, NULL, 0, "program header table");
    assert_says(good_bytes / 2, NULL, 0, "the section header table");
}

/* Without the section table, the parts before it are what is missed. */
TEST(cut_segments_are_named)
{
    const struct change no_sections[] = {IN_HEADER(e_shoff, 0), IN_HEADER(e_shnum, 0),
                                         IN_HEADER(e_shstrndx, 0)};
    for (size_t i = 0; i < header().e_phnum; i++) {
        const Elf64_Phdr phdr = segment(i);
        size_t end = phdr.p_offset + phdr.p_filesz;
        if (phdr.p_filesz == 0 || end < 4096)
            continue;
        char says[128];
        assert_says(end - 1, no_sections, 3, "image is truncated: segment ");
        snprintf(says, sizeof(says), "of an image of %zu bytes", end - 1);
        assert_says(end - 1, no_sections, 3, says);
    }
}

TEST(cut_sections_are_named)
{
    const size_t names = header().e_shstrndx;
    const Elf64_Shdr shdr = section(names);
    const struct change longer = IN_SECTION(names, sh_size, good_bytes - shdr.sh_offset + 1);
    char says[128];
    snprintf(says, sizeof(says),
             "image is truncated: section %zu (?) ends at byte %zu of an image of %zu bytes", names,
             good_bytes + 1, good_bytes);
    assert_says(good_bytes, &longer, 1, says); /* the names themselves are out of reach */
    const struct change moved = IN_SECTION(1, sh_offset, good_bytes);
    assert_says(good_bytes, &moved, 1, "image is truncated: section 1 (.");
    const struct change overflow = IN_SECTION(1, sh_size, UINT64_MAX);
    assert_says(good_bytes, &overflow, 1, "ends at byte 18446744073709551615");
}

/* ---- one field at a time ------------------------------------------------------------------ */

TEST(wrong_header_fields_are_named)
{
    const struct {
        struct change change;
        const char *says;
    } cases[] = {
        {{0, 1, 0}, "is not an ELF file"},
        {{3, 1, 'f'}, "is not an ELF file"},
        {{EI_CLASS, 1, ELFCLASS32}, "not a 64-bit ELF file (class 1"},
        {{EI_CLASS, 1, 0}, "class 0"},
        {{EI_DATA, 1, ELFDATA2MSB}, "not little endian (byte order 2"},
        {{EI_VERSION, 1, 7}, "ELF version 7.1"},
        {IN_HEADER(e_version, 9), "ELF version 1.9"},
        {IN_HEADER(e_machine, EM_AARCH64), "another machine (number 183, expected 62"},
        {IN_HEADER(e_type, ET_EXEC), "not a shared object (type 2"},
        {IN_HEADER(e_type, ET_REL), "link it with -shared"},
        {IN_HEADER(e_type, ET_CORE), "type 4"},
        {IN_HEADER(e_ehsize, 52), "ELF header claims 52 bytes"},
        {IN_HEADER(e_phentsize, 32), "program header table claim 32 bytes"},
        {IN_HEADER(e_shentsize, 0), "section header table claim 0 bytes"},
        {IN_HEADER(e_phnum, 0), "no segments"},
        {IN_HEADER(e_phoff, good_bytes), "the program header table"},
        {IN_HEADER(e_phoff, UINT64_MAX), "ends at byte 18446744073709551615"},
        {IN_HEADER(e_phoff, 8), "inside the ELF header"},
        {IN_HEADER(e_shoff, good_bytes - 63), "the section header table"},
        {IN_HEADER(e_shoff, UINT64_MAX - 63), "the section header table"},
        {IN_HEADER(e_shnum, 0xfeff), "the section header table (65279 entries)"},
        {IN_HEADER(e_phnum, 0xfffe), "the program header table (65534 entries)"},
        {IN_HEADER(e_shstrndx, 0xfe00), "section names are in section 65024"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_says(good_bytes, &cases[i].change, 1, cases[i].says);
}

TEST(counts_in_section_zero_are_followed)
{
    const struct change counted[] = {IN_HEADER(e_shnum, 0),
                                     IN_SECTION(0, sh_size, header().e_shnum)};
    assert_int_equal(check(good_bytes, counted, 2), OMPRMA_OK);
    const struct change many[] = {IN_HEADER(e_shnum, 0), IN_SECTION(0, sh_size, UINT64_MAX / 32)};
    assert_says(good_bytes, many, 2, "the section header table");
    const struct change far[] = {IN_HEADER(e_shnum, 0), IN_HEADER(e_shoff, good_bytes - 10)};
    assert_says(good_bytes, far, 2, "the section header table");
    const struct change segments[] = {IN_HEADER(e_phnum, PN_XNUM),
                                      IN_SECTION(0, sh_info, header().e_phnum)};
    assert_int_equal(check(good_bytes, segments, 2), OMPRMA_OK);
}

TEST(wrong_segments_are_named)
{
    const size_t load = find_segment(PT_LOAD), dynamic = find_segment(PT_DYNAMIC);
    const Elf64_Phdr phdr = segment(load);
    const struct {
        struct change change;
        const char *says;
    } cases[] = {
        {IN_SEGMENT(load, p_filesz, good_bytes + 1), "image is truncated: segment "},
        {IN_SEGMENT(load, p_offset, UINT64_MAX), "image is truncated: segment "},
        {IN_SEGMENT(load, p_memsz, phdr.p_filesz - 1), "larger in the file than in memory"},
        {IN_SEGMENT(load, p_memsz, UINT64_MAX), "does not fit into the address space"},
        {IN_SEGMENT(load, p_vaddr, UINT64_MAX - PAGE + 1), "does not fit into the address space"},
        {IN_SEGMENT(load, p_align, 3000), "not a power of two"},
        {IN_SEGMENT(load, p_vaddr, phdr.p_vaddr + 1), "does not match its place"},
        {IN_SEGMENT(load, p_memsz, UINT64_C(1) << 40), "overlaps the segment before it"},
        {IN_SEGMENT(dynamic, p_type, PT_NULL), "no dynamic segment"},
        {IN_SEGMENT(dynamic, p_vaddr, UINT64_C(1) << 46),
         "dynamic section at 0x400000000000 is not"},
        {IN_SEGMENT(dynamic, p_filesz, 0), "has no end"},
        {IN_SEGMENT(dynamic, p_filesz, 17), "has no end"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_says(good_bytes, &cases[i].change, 1, cases[i].says);
    struct change none[64];
    size_t count = 0;
    for (size_t i = 0; i < header().e_phnum && count < 64; i++) {
        if (segment(i).p_type == PT_LOAD)
            none[count++] = IN_SEGMENT(i, p_type, PT_NULL);
    }
    assert_says(good_bytes, none, count, "no loadable segment");
}

/* Where the dynamic entry with this tag stands in the file. */
static size_t find_dynamic(int64_t wanted)
{
    const Elf64_Phdr phdr = segment(find_segment(PT_DYNAMIC));
    for (size_t i = 0; i < phdr.p_filesz / sizeof(Elf64_Dyn); i++) {
        size_t offset = phdr.p_offset + i * sizeof(Elf64_Dyn);
        Elf64_Dyn entry;
        memcpy(&entry, good + offset, sizeof(entry));
        if (entry.d_tag == wanted)
            return offset;
    }
    fail_msg("the library has no dynamic entry %d", (int)wanted);
    return 0;
}

/* The change that gives a dynamic entry another value, or (`tag`) another tag. */
static struct change in_dynamic(int64_t wanted, bool tag, uint64_t value)
{
    size_t offset = find_dynamic(wanted) + (tag ? 0 : offsetof(Elf64_Dyn, d_un));
    return (struct change){offset, 8, value};
}

TEST(wrong_dynamic_entries_are_named)
{
    Elf64_Dyn names;
    memcpy(&names, good + find_dynamic(DT_STRSZ), sizeof(names));
    const struct {
        struct change change;
        const char *says;
    } cases[] = {
        {in_dynamic(DT_STRSZ, false, names.d_un.d_val - 1), "does not end with a zero"},
        {in_dynamic(DT_STRTAB, false, UINT64_C(1) << 46), "its string table"},
        {in_dynamic(DT_STRTAB, true, DT_DEBUG), "no string table"},
        {in_dynamic(DT_STRSZ, false, UINT64_MAX), "its string table (18446744073709551615 bytes"},
        {in_dynamic(DT_STRSZ, false, 0), "string table of 0 bytes"},
        {in_dynamic(DT_STRSZ, false, 3), "image is damaged"},
        {in_dynamic(DT_SYMTAB, false, UINT64_MAX), "its symbol table"},
        {in_dynamic(DT_SYMTAB, true, DT_DEBUG), "no symbol table"},
        {in_dynamic(DT_RELA, false, UINT64_MAX), "its relocation table"},
        {in_dynamic(DT_RELASZ, false, UINT64_C(1) << 40), "its relocation table"},
        {in_dynamic(DT_GNU_HASH, false, UINT64_C(1) << 40), "its GNU hash table"},
        {in_dynamic(DT_INIT_ARRAYSZ, false, UINT64_C(1) << 40), "its constructor array"},
        {in_dynamic(DT_NEEDED, false, UINT64_C(1) << 32), "names byte 4294967296"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_says(good_bytes, &cases[i].change, 1, cases[i].says);
}

/* ---- any field, any value ----------------------------------------------------------------- */

static void sweep(size_t offset, size_t bytes)
{
    static const uint64_t values[] = {
        0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_C(1) << 46, INT64_MAX, UINT64_MAX};
    for (size_t i = offset; i < offset + bytes; i += 4) {
        for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
            for (size_t width = 2; width <= 8; width *= 2)
                check(good_bytes, &(struct change){i, width, values[j]}, 1);
        }
    }
}

/* Pass or fail, but no crash (check() sees to the status). Long tables: their beginning. */
TEST(no_value_of_a_field_crashes)
{
    const Elf64_Ehdr ehdr = header();
    const Elf64_Phdr dynamic = segment(find_segment(PT_DYNAMIC));
    sweep(EI_CLASS, sizeof(ehdr) - EI_CLASS);
    sweep(ehdr.e_phoff, ehdr.e_phnum * sizeof(Elf64_Phdr));
    sweep(ehdr.e_shoff, sizeof(Elf64_Shdr) * 2);
    sweep(ehdr.e_shoff + ehdr.e_shstrndx * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    sweep(dynamic.p_offset, dynamic.p_filesz < 400 ? dynamic.p_filesz : 400);
}

TEST(random_damage_does_not_crash)
{
    const Elf64_Ehdr ehdr = header();
    const Elf64_Phdr dynamic = segment(find_segment(PT_DYNAMIC));
    const struct {
        size_t offset, bytes;
    } parts[] = {{4, sizeof(ehdr) - 4},
                 {ehdr.e_phoff, ehdr.e_phnum * sizeof(Elf64_Phdr)},
                 {ehdr.e_shoff, ehdr.e_shnum * sizeof(Elf64_Shdr)},
                 {dynamic.p_offset, dynamic.p_filesz}};
    srand(1);
    for (int i = 0; i < 10000; i++) {
        struct change changes[4];
        size_t count = 1 + (size_t)rand() % 4;
        for (size_t j = 0; j < count; j++) {
            size_t part = (size_t)rand() % 4;
            changes[j] = (struct change){parts[part].offset + (size_t)rand() % parts[part].bytes, 1,
                                         (uint64_t)rand()};
        }
        check(rand() % 4 ? good_bytes : (size_t)rand() % good_bytes, changes, count);
    }
}

TEST_GROUP(load_good, free_good)
