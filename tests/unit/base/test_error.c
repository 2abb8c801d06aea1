/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_error.c: the calling thread's last error and the public names of status codes.
 * Covers: error.c status.c */
#include <pthread.h>
#include <string.h>

#include "tests/unit/test.h"
#include "base/error.h"

TEST(error_is_empty_first)
{
    assert_string_equal(error_text(), "");
    assert_string_equal(omprma_error(), "");
}

TEST(error_set_formats_and_returns)
{
    assert_int_equal(error_set(OMPRMA_ERR_ADDRESS, "device %d: %s", 3, "no"), OMPRMA_ERR_ADDRESS);
    assert_string_equal(error_text(), "device 3: no");
    assert_string_equal(omprma_error(), "device 3: no");
}

TEST(error_can_wrap_itself)
{
    error_set(OMPRMA_ERR_MPI, "lost");
    error_set(OMPRMA_ERR_MPI, "device 1: %s, %s", error_text(), error_text());
    assert_string_equal(error_text(), "device 1: lost, lost");
}

TEST(long_error_is_cut_with_dots)
{
    char text[2 * ERROR_TEXT_BYTES];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    error_set(OMPRMA_ERR_IMAGE, "%s", text);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_BYTES - 1);
    assert_string_equal(error_text() + ERROR_TEXT_BYTES - 5, "x...");
    error_set(OMPRMA_ERR_IMAGE, "%.*s", ERROR_TEXT_BYTES - 1, text);
    assert_null(strchr(error_text(), '.'));
}

static void *other_thread(void *seen)
{
    *(int *)seen = error_text()[0] == '\0';
    error_set(OMPRMA_ERR_KERNEL, "of the other thread");
    return NULL;
}

TEST(error_belongs_to_its_thread)
{
    pthread_t thread;
    int empty = 0;
    error_set(OMPRMA_ERR_CLOSED, "of this thread");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &empty), 0);
    pthread_join(thread, NULL);
    assert_true(empty);
    assert_string_equal(error_text(), "of this thread");
}

TEST(every_status_has_its_own_words)
{
    for (int i = 0; i < OMPRMA_STATUS_COUNT; i++) {
        const char *words = omprma_status_string((omprma_status_t)i);
        assert_non_null(words);
        assert_string_not_equal(words, "");
        assert_string_not_equal(words, "unknown status");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(words, omprma_status_string((omprma_status_t)j));
    }
    assert_string_equal(omprma_status_string(OMPRMA_STATUS_COUNT), "unknown status");
    assert_string_equal(omprma_status_string((omprma_status_t)-1), "unknown status");
    assert_string_equal(omprma_status_string(OMPRMA_ERR_NO_WORKERS), "no workers");
}
