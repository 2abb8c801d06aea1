/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * location.h: what compilers say of a place in the source, ";file;function;line;column;;", and of a
 * map, ";name;file;line;column;;".
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_ABI_LOCATION_H
#define OMPRMA_OPENMP_ABI_LOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "openmp/abi/abi.h"

/* A part of such a string, without an end of its own. */
struct name {
    const char *text;
    int length; /* for "%.*s" */
};

/* The name in a map's string, "unknown" where there is none. */
struct name name_of(const void *map_name);

/* Field `index` of a string, from 0 on; "unknown" where there is none. */
struct name name_field(const char *text, int index);

/* A file without its folders. */
struct name name_base(struct name file);

/* Has the compiler said it? `where` may be NULL. */
bool location_known(const struct location *where);

/* Of a place that is known: its file; and a field of it that is a number. */
struct name location_file(const struct location *where);
int location_number(const struct location *where, int index);

/* "app.c:42"; false: it is not known. */
bool location_words(const struct location *where, char *text, size_t room);

#endif
