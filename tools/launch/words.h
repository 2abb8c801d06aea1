/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* words.h: takes words out of messages that were made for people. */
#ifndef OMPRMA_LAUNCH_WORDS_H
#define OMPRMA_LAUNCH_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Copies what is behind `label` and blanks, up to any of `ends`. False: there is none. */
bool words_after(const char *text, const char *label, const char *ends, char *word, size_t room);

/* The number behind `label`. False: there is none, and `*number` stays as it is. */
bool words_number(const char *text, const char *label, int *number);

/* Could these bytes, of a line that may go on, be the beginning of one that begins with `whole`? */
bool words_agree(const char *begin, size_t bytes, const char *whole);

/* A message as one line, with one blank between words. */
void words_flatten(const char *message, char *line, size_t room);

#endif
