/*
 * test_cuda_face.c: the CUDA driver library for programs, over the null path: the plain program of
 * tests/nvptx in this process, with the stand-in for the driver behind the workers; and how long
 * images are that programs hand over without a size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <elf.h>

#include "base/cuda_questions.h"
#include "core_fixture.h"
#include "cuda/block.h"
#include "cuda/exports.h"
#include "cuda/image_size.h"
#include "worker/cuda/cuda.h"

/* The fixture starts and ends the runtime. */
omprma_status_t __wrap_omprma_init(void);
omprma_status_t __wrap_omprma_init(void)
{
    return OMPRMA_OK;
}

void __wrap_omprma_finalize(void);
void __wrap_omprma_finalize(void)
{
}

int driver_main(void); /* programs/driver.c */

static struct driver driver;

static bool make_gpu(struct worker_device *device, int worker)
{
    const struct cuda_options options = {.driver = &driver, .ordinal = device->index};

    assert_ok(cuda_open(device, &options));
    cuda_describe(device, &core.worker[worker].about[device->index]);
    return true;
}

static void test_program(void **state)
{
    (void)state;
    setenv("STANDIN_DEVICES", "2", 1);
    assert_ok(driver_open(&driver));
    core_start(&(struct core_options){.devices = 2, .arena = 16 << 20, .make_other = make_gpu});
    assert_int_equal(driver_main(), 0);
    core_stop();
    driver_close(&driver);
}

/* ---- sizes of images ---- */

static size_t size_of(const void *image)
{
    return image_size(&image);
}

static void test_text(void **state)
{
    (void)state;
    assert_int_equal(size_of(".version 7.0\n"), 14);
    assert_int_equal(size_of("\n// x\n"), 7);
    assert_int_equal(size_of("no image"), 0);
    assert_int_equal(size_of(""), 0);
}

/* A section behind the table, another without bytes in the file. */
static void test_elf(void **state)
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

    (void)state;
    file.sections[0].sh_offset = (size_t)(file.rest - (char *)&file);
    assert_int_equal(size_of(&file), sizeof(file));
    file.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(size_of(&file), 0);
}

static void test_fat_binary(void **state)
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

    (void)state;
    assert_int_equal(size_of(&file), 116);
    assert_int_equal(image_size(&image), 116);
    assert_ptr_equal(image, &file);
}

static void test_linked(void **state)
{
    struct {
        struct cuda_link head;
        struct cuda_input first;
        char text[8];
        struct cuda_input second;
        char more[16];
    } file = {.head = {CUDA_LINK_MAGIC, 2}, .first.bytes = 5, .second.bytes = 16};

    (void)state;
    assert_int_equal(size_of(&file), sizeof(file));
}

/* ---- blocks ---- */

static void test_blocks(void **state)
{
    static const struct module *const some = (const void *)64;
    struct blocks blocks;
    struct block found;

    (void)state;
    blocks_open(&blocks);
    assert_true(blocks_add(&blocks, &(struct block){.address = 1000, .bytes = 100}));
    assert_true(blocks_add(&blocks, &(struct block){.address = 1100, .bytes = 50}));
    assert_true(blocks_add(&blocks, &(struct block){.address = 5000, .bytes = 8, .module = some}));
    assert_false(blocks_find(&blocks, 999, &found));
    assert_true(blocks_find(&blocks, 1099, &found));
    assert_int_equal(found.address, 1000);
    assert_true(blocks_find(&blocks, 1100, &found));
    assert_int_equal(found.bytes, 50);
    assert_false(blocks_find(&blocks, 1150, &found));
    assert_true(blocks_find(&blocks, 5007, &found));
    assert_false(blocks_find(&blocks, 5008, &found));
    assert_false(blocks_take(&blocks, 1001, &found));
    assert_false(blocks_take(&blocks, 5000, &found)); /* not the program's to free */
    assert_true(blocks_take(&blocks, 1000, &found));
    assert_false(blocks_take(&blocks, 1000, &found));
    assert_true(blocks_take_global(&blocks, some));
    assert_false(blocks_take_global(&blocks, some));
    assert_true(blocks_take_of(&blocks, NULL, &found));
    assert_false(blocks_take_of(&blocks, NULL, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),       cmocka_unit_test(test_elf),
        cmocka_unit_test(test_fat_binary), cmocka_unit_test(test_linked),
        cmocka_unit_test(test_blocks),     cmocka_unit_test(test_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
