/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_gpu_library.c: the table of kinds of GPU, and sets of kinds as text.
 * Covers: gpu_library.c */
#include <string.h>

#include "tests/unit/test.h"
#include "base/gpu_library.h"

/* What the table says must tell the kinds apart wherever it is looked at. */
TEST(kinds_differ)
{
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const struct gpu_library *one = &gpu_libraries[i];

        assert_int_equal(one->backend, BACKEND_NATIVE + 1 + i);
        assert_true(strncmp(one->soname, one->file, strlen(one->file)) == 0);
        for (int j = 0; j < i; j++) {
            const struct gpu_library *other = &gpu_libraries[j];

            assert_string_not_equal(one->kind, other->kind);
            assert_string_not_equal(one->file, other->file);
            assert_string_not_equal(one->node, other->node);
            assert_string_not_equal(one->triple, other->triple);
            assert_int_not_equal(one->machine, other->machine);
        }
    }
}

TEST(sets_as_text)
{
    int all = 0, kinds;
    char text[GPU_WORDS_BYTES];

    for (int i = 0; i < GPU_LIBRARIES; i++) {
        assert_true(gpu_kinds_read(gpu_libraries[i].kind, &kinds));
        assert_int_equal(kinds, gpu_bit(&gpu_libraries[i]));
        assert_string_equal(gpu_kinds_write(kinds, text), gpu_libraries[i].kind);
        all |= kinds;
    }
    assert_true(gpu_kinds_read(gpu_kinds_write(all, text), &kinds));
    assert_int_equal(kinds, all);
    assert_int_equal(strlen(gpu_kinds_words(all, text)) < GPU_WORDS_BYTES - 1, 1);
    assert_string_equal(gpu_kinds_words(1 << BACKEND_CUDA, text), "NVIDIA GPUs");
}

TEST(words_that_are_no_kinds)
{
    static const char *const wrong[] = {"",      "native", "cud",        "cudaa",
                                        "cuda,", ",cuda",  "cuda,,cuda", "cuda native"};
    int kinds;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(gpu_kinds_read(wrong[i], &kinds));
}
