/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_shell_words.c: random words, quoted in a random way, come back as they were, and the shell
 * splits a line as we do.
 * Covers: shell_words.c */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "base/shell_words.h"

enum { ROUNDS = 2000, WORDS = 6, LETTERS = 8, LINE = 4096 };

static void check(const char *line, const char *const *wanted, size_t count)
{
    char **words;
    size_t got;
    assert_int_equal(shell_words_split(line, &words, &got), OMPRMA_OK);
    assert_int_equal(got, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(words[i], wanted[i]);
    assert_null(words[count]);
    words[count + 1] = NULL; /* there is room for one more */
    free(words);
}

/* Appends the word as one that a shell would read. */
static void quote(char *line, const char *word)
{
    int how = rand() % 3;
    char *to = line + strlen(line);
    if (how == 0 || !*word)
        *to++ = '\'';
    if (how == 1 && *word)
        *to++ = '"';
    for (const char *at = word; *at; at++) {
        if (how == 0 && *at == '\'')
            to = stpcpy(to, "'\\'");
        if ((how == 1 && strchr("\"\\$`", *at)) || how == 2)
            *to++ = '\\';
        *to++ = *at;
    }
    if (how == 0 || !*word)
        *to++ = '\'';
    if (how == 1 && *word)
        *to++ = '"';
    *to = 0;
}

static size_t make(char texts[WORDS][LETTERS + 1], char *line)
{
    static const char letters[] = "ab '\"\\$`{}\t*";
    size_t count = 1 + (size_t)rand() % WORDS;
    *line = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t)rand() % LETTERS;
        for (size_t k = 0; k < length; k++)
            texts[i][k] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        texts[i][length] = 0;
        strcat(line, rand() % 2 ? " " : "\t ");
        quote(line, texts[i]);
    }
    return count;
}

TEST(random_words_come_back)
{
    char texts[WORDS][LETTERS + 1], line[LINE];
    const char *words[WORDS];
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = make(texts, line);
        for (size_t i = 0; i < count; i++)
            words[i] = texts[i];
        check(line, words, count);
    }
}

TEST(splits_as_a_shell_does)
{
    char texts[WORDS][LETTERS + 1], line[LINE], command[LINE + 64], said[LINE], ours[LINE];
    srand(2);
    for (int round = 0; round < 30; round++) {
        char **words;
        size_t count = make(texts, line), used = 0;
        snprintf(command, sizeof(command), "printf '<%%s>' %s", line);
        FILE *shell = popen(command, "r");
        assert_non_null(shell);
        said[fread(said, 1, sizeof(said) - 1, shell)] = 0;
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(shell_words_split(line, &words, &count), OMPRMA_OK);
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(ours + used, sizeof(ours) - used, "<%s>", words[i]);
        assert_string_equal(ours, said);
        free(words);
    }
}

TEST(what_makes_no_sense)
{
    char **words;
    size_t count;
    assert_int_equal(shell_words_split("gdb 'run", &words, &count), OMPRMA_ERR_CONFIG);
    assert_non_null(strstr(error_text(), "not closed in: gdb 'run"));
    assert_int_equal(shell_words_split("gdb \"run\\\"", &words, &count), OMPRMA_ERR_CONFIG);
    assert_int_equal(shell_words_split(" \t", &words, &count), OMPRMA_ERR_CONFIG);
    const char *empty[] = {"a", "", "b"};
    check("a '' b", empty, 3);
}
