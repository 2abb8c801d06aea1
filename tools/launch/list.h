/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * list.h: a growing, NULL-terminated list of strings, as execve() wants them. Knows nothing of what
 * the strings mean. Running out of memory ends the process: nothing is left to be saved then.
 */
#ifndef OMPRMA_LAUNCH_LIST_H
#define OMPRMA_LAUNCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct list {
    char **items; /* count strings, owned, then NULL; NULL while empty */
    size_t count;
};

void list_add(struct list *list, const char *text);
void list_addf(struct list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes the last one away. */
void list_drop(struct list *list);

bool list_contains(const struct list *list, const char *text);
void list_clear(struct list *list);

/* For a list of NAME=VALUE: replaces or adds; value NULL removes. */
void list_set(struct list *list, const char *name, const char *value);

/* The value of NAME in such a list, or NULL. */
const char *list_get(const struct list *list, const char *name);

/* Writes the strings as one shell command line, quoted where needed. */
void list_print_shell(const struct list *list, FILE *out);

/* A formatted string that the caller frees. */
char *text_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
