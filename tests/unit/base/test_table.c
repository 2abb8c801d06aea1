/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables leave out whole columns where the terminal is narrow, those of the highest rank first, and
 * no line ends with blanks.
 * Covers: base/table.c */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"
#include "tests/unit/test.h"

static const struct table_column columns[] = {
    {"name", 8, true, 0}, {"size", 6, false, 2}, {"rate", 6, false, 1}, {"place", 5, true, 3}};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* A heading and a row in so many characters; the caller frees it. */
static char *print(int width, const char *behind)
{
    static const char *const row[COLUMNS] = {"a", "10", "2.5", "x"};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct table table;

    table_open(&table, out, "> ", columns, COLUMNS, width);
    table_print_titles(&table);
    table_print_row(&table, row, behind);
    fclose(out);
    return text;
}

static void shows(int width, const char *behind, const char *wanted)
{
    char *text = print(width, behind);

    assert_string_equal(text, wanted);
    free(text);
}

TEST(all_columns_where_there_is_room)
{
    const char *all = "> name       size   rate place\n"
                      "> a            10    2.5 x\n";

    shows(0, NULL, all);
    shows(30, "", all);
    shows(1000, NULL, all);
}

TEST(columns_go_by_their_rank)
{
    shows(29, NULL,
          "> name       size   rate\n"
          "> a            10    2.5\n");
    shows(23, NULL,
          "> name       rate\n"
          "> a           2.5\n");
    shows(16, NULL, "> name\n> a\n");
    shows(1, NULL, "> name\n> a\n"); /* it is of no use without */
}

TEST(what_stands_behind_a_row_has_its_place)
{
    shows(0, "failed 1",
          "> name       size   rate place\n"
          "> a            10    2.5 x      failed 1\n");
}

TEST(no_line_is_wider_than_the_terminal)
{
    for (int width = 10; width < 40; width++) { /* 10: a name alone */
        char *text = print(width, NULL);

        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            assert_in_range(strlen(line), 1, (size_t)width);
        free(text);
    }
}

TEST(the_width_is_handed_on_where_there_is_a_terminal)
{
    int pipe_ends[2], saved = dup(STDOUT_FILENO);

    assert_int_equal(pipe(pipe_ends), 0);
    setenv("OMPRMA_INTERNAL_COLUMNS", "66", 1);
    assert_int_equal(table_terminal_width(pipe_ends[1]), 66);
    dup2(pipe_ends[1], STDOUT_FILENO);
    table_hand_on_width(); /* that is none */
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_null(getenv("OMPRMA_INTERNAL_COLUMNS"));
    assert_int_equal(table_terminal_width(pipe_ends[1]), 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}
