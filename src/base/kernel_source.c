/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel_source.c: Clang leaves a string ";FILE;FUNCTION;LINE;COLUMN;;" in the program for each
 * construct. The search looks for ";LINE;" in the read-only segments of all loaded objects, reads
 * the two fields in front of it backwards, and compares the function. Where two files match, it
 * finds none.
 */
#define _GNU_SOURCE
#include "base/kernel_source.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/peek.h"

enum { FIELD_MOST = 4096 }; /* no path is longer */

/* A part of a location, between two semicolons. */
struct field {
    const char *begin, *end;
};

/* The one that ends at `end`, behind its semicolon; not before `first`. */
static bool field_before(const char *first, const char *end, struct field *field)
{
    const char *at = end;

    while (at > first && end - at < FIELD_MOST && at[-1] != ';' && (unsigned char)at[-1] >= ' ')
        at--;
    *field = (struct field){at, end};
    return at > first && at < end && at[-1] == ';';
}

/* Behind the line: ";COLUMN;;" and the end of the text. */
static bool has_end(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return end - at >= 3 && memcmp(at, ";;", 3) == 0;
}

/* Locations have "space::scale" where the symbol has "_ZN5space5scaleEv". */
static bool is_function(const struct field *field, const struct kernel_name *name)
{
    const char *begin = field->begin;
    size_t bytes = (size_t)(field->end - begin);
    char mangled[FIELD_MOST + 16];
    int length;

    if (bytes == name->bytes && memcmp(begin, name->function, bytes) == 0)
        return true;
    for (const char *at = begin; at + 1 < field->end; at++)
        if (at[0] == ':' && at[1] == ':')
            begin = at + 2;
    length = snprintf(mangled, sizeof(mangled), "%zu%.*s", (size_t)(field->end - begin),
                      (int)(field->end - begin), begin);
    return begin < field->end &&
           memmem(name->function, name->bytes, mangled, (size_t)length) != NULL;
}

/* False: another file was found before. */
static bool note(const struct field *found, char *file, size_t bytes)
{
    size_t length = (size_t)(found->end - found->begin);

    if (file[0])
        return strlen(file) == length && memcmp(file, found->begin, length) == 0;
    if (length < bytes)
        snprintf(file, bytes, "%.*s", (int)length, found->begin);
    return true;
}

bool kernel_source_search(const char *memory, size_t length, const struct kernel_name *name,
                          char *file, size_t bytes)
{
    const char *at = memory, *end = memory + length;
    char line[16];
    size_t line_bytes = (size_t)snprintf(line, sizeof(line), ";%d;", name->line);

    while ((at = memmem(at, (size_t)(end - at), line, line_bytes)) != NULL) {
        struct field function = {0}, source;

        if (has_end(at + line_bytes, end) && field_before(memory, at, &function) &&
            field_before(memory, function.begin - 1, &source) && is_function(&function, name) &&
            !note(&source, file, bytes))
            return false;
        at++;
    }
    return true;
}

struct search {
    const struct kernel_name *name;
    char *file;
    size_t bytes;
    bool ambiguous;
};

/* A copy, for what lies between the constants of a program under a sanitizer must not be read as
 * if it were the program's. NULL: none could be made. */
static char *copy_part(uintptr_t at, size_t bytes)
{
    char *copy = malloc(bytes + 1);

    if (copy && peek((const void *)at, copy, bytes) == bytes)
        return copy;
    free(copy);
    return NULL;
}

static int search_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum && !search->ambiguous; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        char *copy = NULL;

        if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W)) == PF_R)
            copy = copy_part(object->dlpi_addr + part->p_vaddr, part->p_filesz);
        if (copy)
            search->ambiguous = !kernel_source_search(copy, part->p_filesz, search->name,
                                                      search->file, search->bytes);
        free(copy);
    }
    return search->ambiguous;
}

bool kernel_source_find(const struct kernel_name *name, char *file, size_t bytes)
{
    struct search search = {.name = name, .file = file, .bytes = bytes};

    file[0] = '\0';
    dl_iterate_phdr(search_object, &search);
    return file[0] && !search.ambiguous;
}
