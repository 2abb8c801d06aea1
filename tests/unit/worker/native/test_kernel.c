/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_kernel.c: every argument arrives, whatever the number.
 * Covers: native/kernel.c */
#include "tests/unit/test.h"
#include <malloc.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "worker/native/kernel.h"

enum { MOST = OMPRMA_LAUNCH_ARGUMENTS };

/* Arguments after the sixth lie on the stack one after the other, as the words of a structure that
 * is passed by value do; so one function can look at any number of them. */
struct on_stack {
    uint64_t words[MOST - 6];
};

static _Thread_local uint32_t expected;
static _Thread_local uint32_t right;

static uint64_t word(uint32_t index)
{
    return UINT64_C(0x9e3779b97f4a7c15) * (index + 1);
}

/* Not instrumented: a sanitizer would copy all of `rest`, of which only a part was passed. */
__attribute__((no_sanitize("address", "thread"))) static void
kernel(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, struct on_stack rest)
{
    const uint64_t registers[] = {a, b, c, d, e, f};
    right = 0;
    for (uint32_t i = 0; i < expected; i++)
        right += (i < 6 ? registers[i] : rest.words[i - 6]) == word(i);
}

static uint64_t words[MOST];

/* It changes them, which is for nobody else to see. */
static void kernel_context(uint64_t **context)
{
    right = 0;
    for (uint32_t i = 0; i < expected; i++)
        right += (*context[i])++ == word(i);
}

static void check_context(uint32_t count)
{
    expected = count;
    right = UINT32_MAX;
    assert_int_equal(kernel_call_context((uint64_t)(uintptr_t)kernel_context, words, count),
                     OMPRMA_OK);
    assert_int_equal(right, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(words[i], word(i));
}

static void check_count(uint32_t count)
{
    expected = count;
    right = UINT32_MAX;
    assert_int_equal(kernel_call((uint64_t)(uintptr_t)kernel, words, count), OMPRMA_OK);
    assert_int_equal(right, count);
}

static int begin(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MOST; i++)
        words[i] = word(i);
    return 0;
}

TEST_GROUP(begin, NULL)

TEST(passes_every_argument)
{
    for (uint32_t count = 0; count <= 64; count++)
        check_count(count);
    for (uint32_t count = 128; count <= MOST; count *= 2)
        check_count(count);
    check_count(MOST);
}

TEST(passes_every_argument_in_an_array)
{
    for (uint32_t count = 0; count <= 64; count++)
        check_context(count);
    for (uint32_t count = 128; count <= MOST; count *= 2)
        check_context(count);
}

TEST(does_not_allocate_again)
{
    for (uint32_t count = 0; count < 32; count++)
        check_count(count);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++)
        for (uint32_t count = 0; count < 32; count++)
            kernel_call((uint64_t)(uintptr_t)kernel, words, count);
    assert_int_equal(mallinfo2().uordblks, before);
}

TEST(refuses_nonsense)
{
    uint64_t entry = (uint64_t)(uintptr_t)kernel;
    right = 77;
    assert_int_equal(kernel_call(entry, words, MOST + 1), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(error_text(), "4097"));
    assert_int_equal(kernel_call(0, words, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(kernel_call(entry, NULL, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(kernel_call_context(entry, words, MOST + 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(kernel_call_context(0, words, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(kernel_call_context(entry, NULL, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(right, 77);
}

static void *call_many(void *wrong)
{
    for (uint32_t count = 70; count < 120; count++) {
        expected = count;
        if (kernel_call((uint64_t)(uintptr_t)kernel, words, count) || right != count)
            ++*(int *)wrong;
    }
    return NULL;
}

TEST(is_thread_safe)
{
    pthread_t threads[4];
    int wrong[4] = {0};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, call_many, &wrong[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}
