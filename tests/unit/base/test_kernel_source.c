/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_kernel_source.c: source files of target regions, by locations as compilers write them.
 * Covers: kernel_source.c */
#include <string.h>

#include "tests/unit/test.h"
#include "base/kernel_source.h"

/* Constants of this program, as clang's are of one with regions. */
const char test_location[] = ";/src/own place/test.c;test_region;4711;1;;";
const char test_mapped[] = ";test_region;/src/mapped.c;4711;9;;";

static bool search(const char *memory, size_t bytes, const char *function, int line, char *file)
{
    const struct kernel_name name = {function, strlen(function), line};

    file[0] = '\0';
    return kernel_source_search(memory, bytes, &name, file, 64);
}

#define TEXT(text) text, sizeof(text)

TEST(in_memory)
{
    static const char two[] = "x\0;a.c;main;7;1;;\0;a.c;main;7;20;;\0;b.cpp;space::scale;9;3;;";
    char file[64];

    assert_true(search(TEXT(two), "main", 7, file));
    assert_string_equal(file, "a.c");
    assert_true(search(TEXT(two), "_ZN5space5scaleEPd", 9, file));
    assert_string_equal(file, "b.cpp");
    assert_true(search(TEXT(two), "_ZN5space6rescaleEPd", 9, file));
    assert_string_equal(file, "");
    assert_true(search(TEXT(two), "main", 9, file));
    assert_string_equal(file, "");
    assert_true(search(TEXT(two), "mai", 7, file));
    assert_string_equal(file, "");
}

TEST(not_known)
{
    static const char *const texts[] = {
        ";7;",
        ";main;7;1;;",
        "a.c;main;7;1;;",
        ";a.c;main;7;1;",
        ";a.c;main;7;1;;more",
        ";main;a.c;7;1;;",
        ";a\n.c;main;7;1;;",
        ";;main;7;1;;",
    };
    char file[64];

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(search(texts[i], strlen(texts[i]) + 1, "main", 7, file));
        assert_string_equal(file, "");
    }
    for (size_t bytes = 0; bytes < sizeof(";a.c;main;7;1;;"); bytes++) {
        assert_true(search(";a.c;main;7;1;;", bytes, "main", 7, file));
        assert_string_equal(file, "");
    }
}

TEST(ambiguous)
{
    char file[64];

    assert_false(search(TEXT(";a.c;main;7;1;;\0;b.c;main;7;1;;"), "main", 7, file));
}

TEST(in_the_program)
{
    const struct kernel_name region = {"test_region", 11, 4711}, none = {"test_region", 11, 4712};
    char file[64];

    assert_true(kernel_source_find(&region, file, sizeof(file)));
    assert_string_equal(file, "/src/own place/test.c");
    assert_false(kernel_source_find(&none, file, sizeof(file)));
}
