/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_image_size.c: how long images are that programs hand over without a size.
 * Covers: image_size.c
 */
#include <elf.h>

#include "tests/unit/test.h"
#include "base/cuda_questions.h"
#include "cuda/image_size.h"

static size_t size_of(const void *image)
{
    return image_size(&image);
}

TEST(test_text)
{
    assert_int_equal(size_of(".version 7.0\n"), 14);
    assert_int_equal(size_of("\n// x\n"), 7);
    assert_int_equal(size_of("no image"), 0);
    assert_int_equal(size_of(""), 0);
}

/* A section behind the table, another without bytes in the file. */
TEST(test_elf)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[2];
        char rest[40];
    } file = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                         .e_shoff = sizeof(Elf64_Ehdr),
                         .e_shnum = 2,
                         .e_shentsize = sizeof(Elf64_Shdr)},
              .sections = {{.sh_type = SHT_PROGBITS, .sh_size = 40},
                           {.sh_type = SHT_NOBITS, .sh_size = 1 << 20}}};

    file.sections[0].sh_offset = (size_t)(file.rest - (char *)&file);
    assert_int_equal(size_of(&file), sizeof(file));
    file.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(size_of(&file), 0);
}

TEST(test_fat_binary)
{
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } file = {0xba55ed50, 1, 16, 100};
    struct {
        uint32_t magic, version;
        const void *image;
    } wrapper = {0x466243b1, 1, &file};
    const void *image = &wrapper;

    assert_int_equal(size_of(&file), 116);
    assert_int_equal(image_size(&image), 116);
    assert_ptr_equal(image, &file);
}

TEST(test_linked)
{
    struct {
        struct cuda_link head;
        struct cuda_input first;
        char text[8];
        struct cuda_input second;
        char more[16];
    } file = {.head = {CUDA_LINK_MAGIC, 2}, .first.bytes = 5, .second.bytes = 16};

    assert_int_equal(size_of(&file), sizeof(file));
}
