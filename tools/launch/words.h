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

/* A message as one line, with one blank between words. */
void words_flatten(const char *message, char *line, size_t room);

#endif
