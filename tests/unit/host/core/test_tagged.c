/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_tagged.c: lines behind a mark: parts become whole lines, each by itself, whatever bytes they
 * hold.
 * Covers: tagged.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/tagged.h"
#include "tests/unit/test.h"

static FILE *stream;
static char *printed;
static size_t printed_bytes;

static int begin(void **state)
{
    (void)state;
    stream = open_memstream(&printed, &printed_bytes);
    return stream ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    fclose(stream);
    free(printed);
    return 0;
}

static void assert_printed(const char *wanted, size_t bytes)
{
    fflush(stream);
    assert_int_equal(printed_bytes, bytes);
    assert_memory_equal(printed, wanted, bytes);
}

#define assert_text(wanted) assert_printed(wanted, sizeof(wanted) - 1)

TEST_EACH(begin, end)

TEST(each_line_has_its_mark)
{
    struct tagged line = {0};
    static const char text[] = "one\n\nthree\n";

    tagged_print(&line, "[a] ", stream, text, sizeof(text) - 1);
    assert_text("[a] one\n[a] \n[a] three\n");
    tagged_end(&line, stream);
    assert_text("[a] one\n[a] \n[a] three\n");
}

TEST(parts_of_two_workers_do_not_mix)
{
    struct tagged first = {0}, second = {0};

    tagged_print(&first, "[a] ", stream, "one", 3);
    tagged_print(&second, "[b] ", stream, "two", 3);
    assert_text("");
    tagged_print(&first, "[a] ", stream, " more\nopen", 10);
    assert_text("[a] one more\n");
    tagged_print(&second, "[b] ", stream, "\n", 1);
    assert_text("[a] one more\n[b] two\n");
    tagged_end(&second, stream);
    tagged_end(&first, stream);
    assert_text("[a] one more\n[b] two\n[a] open\n");
}

TEST(any_bytes_are_passed_on)
{
    struct tagged line = {0};
    char text[70000], wanted[sizeof(text) + 5];

    memset(text, 0xfe, sizeof(text));
    text[10] = 0;
    memcpy(wanted, "[a] ", 4);
    memcpy(wanted + 4, text, sizeof(text));
    wanted[sizeof(wanted) - 1] = '\n';
    for (size_t at = 0; at < sizeof(text); at += 7000)
        tagged_print(&line, "[a] ", stream, text + at, 7000);
    assert_text("");
    tagged_end(&line, stream);
    assert_printed(wanted, sizeof(wanted));
}
