/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_elf.c: what the runtime reads in images by itself, and what follows from which clang
 * made them.
 * Covers: abi/elf.c
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/image_fixture.h"
#include "tests/unit/openmp/maps_fixture.h"
#include "openmp/abi/elf.h"

/* `words`: what compilers leave, with a semicolon behind each. */
static char *image_by(const char *words, size_t *bytes)
{
    char source[1000] = "int kernel_environment; void kernel(void) { }\n";
    for (size_t used = strlen(source), length; *words; words += length + 1) {
        length = strcspn(words, ";");
        used += (size_t)snprintf(source + used, sizeof(source) - used,
                                 "__asm__(\".ident \\\"%.*s\\\"\");\n", (int)length, words);
    }
    char *image = fixture_image(source, bytes);
    assert_non_null(image);
    return image;
}

static struct compilers compilers_by(const char *words)
{
    size_t bytes = 0;
    char *image = image_by(words, &bytes);
    struct compilers by = elf_compilers(image, bytes);
    free(image);
    return by;
}

/* The compiler of this test says which one it is, too: no clang, or one before 30. */
TEST(compilers_are_named)
{
    assert_false(compilers_by("").flang);
    struct compilers by = compilers_by("Debian clang version 99.1.4 (2);");
    assert_int_equal(by.newest, 99);
    assert_false(by.flang);
    by = compilers_by("clang version 98;AMD clang version 3.0;");
    assert_int_equal(by.newest, 98);
    assert_int_equal(by.oldest, 3);
    assert_true(compilers_by("Debian flang version 23.1.4;").flang);
    assert_int_not_equal(compilers_by("clang version 9999999999999;").newest, 0);
}

TEST(symbols_are_found)
{
    size_t bytes = 0;
    char *image = image_by("", &bytes);
    assert_true(elf_has_symbol(image, bytes, "kernel"));
    assert_true(elf_has_symbol(image, bytes, "kernel_environment"));
    assert_false(elf_has_symbol(image, bytes, "kernel_"));
    assert_false(elf_has_symbol(image, bytes, "environment_kernel"));
    free(image);
}

static bool varies(const char *source)
{
    size_t bytes = 0;
    char *image = fixture_image(source, &bytes);
    assert_non_null(image);
    bool has = elf_has_variables(image, bytes);
    free(image);
    return has;
}

TEST(variables_are_found)
{
    assert_false(varies("int kernel(int x) { return x; }"));
    assert_false(varies("const int table[] = {1, 2}; int kernel(int x) { return table[x]; }"));
    assert_false(varies("static int f(void) { return 1; }\n" /* relocated, and constant then */
                        "static int (*const table[])(void) = {f};\n"
                        "int kernel(int x) { return table[x](); }"));
    assert_true(varies("int there = 1; void kernel(void) { }"));
    assert_true(varies("int kernel(void) { static int count; return ++count; }"));
    assert_false(varies("static __thread int own; int kernel(void) { return ++own; }"));
    assert_true(varies("int kernel(void) { static int count; return ++count; }\n"
                       "__asm__(\".section llvm_offload_entries,\\\"aw\\\"\\n.text\");"));
    assert_true(elf_has_variables("", 0)); /* who knows? */
}

/* Nothing outside of it is read, which sanitizers see: each copy has its own size. */
TEST(damaged_images_are_no_trouble)
{
    size_t bytes = 0;
    char *image = image_by("clang version 98;", &bytes);
    unsigned seed = 1;
    for (int i = 0; i < 3000; i++) {
        size_t length = i % 2 ? bytes : (size_t)rand_r(&seed) % bytes;
        unsigned char *copy = malloc(length + 1);
        memcpy(copy, image, length);
        for (int k = 0; k < 1 + i % 4 && length > 64; k++) {
            size_t headers =
                length - 64 > 1000 ? length - 1000 : 64; /* sections stand at the end */
            size_t at = rand_r(&seed) % 2 ? (size_t)rand_r(&seed) % 64
                                          : headers + (size_t)rand_r(&seed) % (length - headers);
            copy[at] = (unsigned char)rand_r(&seed);
        }
        unsigned char *exact = realloc(copy, length ? length : 1);
        elf_has_variables((char *)exact, length);
        elf_compilers((char *)exact, length);
        elf_has_symbol((char *)exact, length, "kernel");
        free(exact);
    }
    free(image);
}

/* ---- where parts of char arrays begin ---- */

enum { ROWS = 40, COLUMNS = 8 };

static void register_by(const char *words)
{
    static struct abi_image images[2];
    static struct abi_library libraries[2];
    static int count;
    size_t bytes = 0;
    char *image = image_by(words, &bytes);
    images[count].start = image;
    images[count].end = image + bytes;
    libraries[count] = (struct abi_library){.count = 1, .images = &images[count]};
    __tgt_register_lib(&libraries[count++]);
}

/* Retrieves x[2:3][1:4], with an offset of the rows as the compiler says it. */
static bool update_rows(uint64_t offset, char x[ROWS][COLUMNS])
{
    struct dimension parts[] = {{offset, 3, COLUMNS}, {1, 4, 1}, {0, 1, 1}};
    struct list list = {.count = 0};
    char *copy;
    memset(x, 0, ROWS * COLUMNS);
    if (!run(maps_enter, list_of(x, ROWS * COLUMNS, MAP_TO)))
        return false;
    copy = copy_of(x);
    memset(copy, 1, ROWS * COLUMNS);
    add(&list, x, parts, 3, MAP_FROM | MAP_NON_CONTIG);
    return run(maps_update, list);
}

static bool has_rows(char x[ROWS][COLUMNS])
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (x[i][j] != (i >= 2 && i < 5 && j >= 1 && j < 5))
                return false;
    return true;
}

/* 0: right, 1: refused, 2: wrong. */
static int status_of(uint64_t offset, const char *words, const char *more)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        char x[ROWS][COLUMNS];
        if (words)
            register_by(words);
        if (more)
            register_by(more);
        set_up(NULL);
        _exit(!update_rows(offset, x) ? 1 : has_rows(x) ? 0 : 2);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char old[] = "clang version 3.1;", new[] = "clang version 98.1;";

TEST(compilers_tell_where_parts_begin)
{
    if (compilers_by("").newest == 0) /* else this test's images are by its own compiler, too */
        assert_int_equal(status_of(2 * COLUMNS, new, new), 0);
    assert_int_equal(status_of(2, old, old), 0);
    assert_int_equal(status_of(2, old, new), 1);
    assert_int_equal(status_of(2, NULL, NULL), 1);
}
