/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shell_words.h: splits a command line into words as a shell does, with its quotes. Nothing is
 * expanded: no variables, no patterns, no commands. */
#ifndef OMPRMA_BASE_SHELL_WORDS_H
#define OMPRMA_BASE_SHELL_WORDS_H

#include <stddef.h>

#include <omprma/omprma.h>

/* `*words` is malloced, NULL-terminated, has `*count` words and room for one more, and is given
 * back by one free(). Errors: CONFIG (a quote that is not closed; no word), HOST_MEMORY. */
omprma_status_t shell_words_split(const char *text, char ***words, size_t *count);

#endif
