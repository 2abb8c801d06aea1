/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shell_words.c: see shell_words.h. Words lie behind their table, in the same block. */
#include "base/shell_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copies one word; returns what follows it, or NULL: a quote is not closed. */
static const char *word_take(const char *at, char **to)
{
    char quote = 0;
    for (; *at && (quote || !is_blank(*at)); at++) {
        bool escapes = *at == '\\' && quote != '\'' && at[1] &&
                       (!quote || at[1] == '"' || at[1] == '\\' || at[1] == '$' || at[1] == '`');
        if (escapes)
            *(*to)++ = *++at;
        else if (quote && *at == quote)
            quote = 0;
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else
            *(*to)++ = *at;
    }
    *(*to)++ = 0;
    return quote ? NULL : at;
}

omprma_status_t shell_words_split(const char *text, char ***words, size_t *count)
{
    size_t length = strlen(text), most = length / 2 + 3;
    char **table = malloc(most * sizeof(*table) + length + 2);
    if (!table)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the words of a command");
    char *to = (char *)(table + most);
    size_t found = 0;
    for (const char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        table[found++] = to;
        at = word_take(at, &to);
        if (!at) {
            free(table);
            return error_set(OMPRMA_ERR_CONFIG, "a quote is not closed in: %s", text);
        }
    }
    if (found == 0) {
        free(table);
        return error_set(OMPRMA_ERR_CONFIG, "there is no command in it");
    }
    table[found] = NULL;
    *words = table;
    *count = found;
    return OMPRMA_OK;
}
