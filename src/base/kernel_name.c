/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel_name.c: Clang names a kernel __omp_offloading_DEVICE_INODE_FUNCTION_lLINE. The two numbers
 * in front have no underscore, so the function begins behind the second one; it may hold "_l"
 * itself, so the line is behind the last "_l" that a digit follows. Names of C++ are shortened
 * here, not demangled: what a name stands for may be longer than all memory.
 */
#include "base/kernel_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool kernel_name_split(const char *symbol, struct kernel_name *name)
{
    static const char prefix[] = "__omp_offloading_";
    const char *rest, *line = NULL;

    if (strncmp(symbol, prefix, strlen(prefix)) != 0)
        return false;
    rest = strchr(symbol + strlen(prefix), '_'); /* behind the device and the inode of the file */
    rest = rest ? strchr(rest + 1, '_') : NULL;
    for (const char *at = rest; at && (at = strstr(at, "_l")); at++)
        if (at[2] >= '0' && at[2] <= '9')
            line = at;
    if (!line || line == rest)
        return false;
    *name = (struct kernel_name){rest + 1, (size_t)(line - rest - 1), atoi(line + 2)};
    return true;
}

/* ---- shortened ------------------------------------------------------------------------------ */

struct words {
    char *text;
    size_t length;
};

static void words_add(struct words *words, const char *text, size_t bytes)
{
    size_t room = KERNEL_NAME_SHOWN - words->length;

    bytes = bytes < room ? bytes : room;
    memcpy(words->text + words->length, text, bytes);
    words->length += bytes;
}

/* "5space4work" as "space::work", up to what is no plain name. */
static const char *add_names(struct words *words, const char *at, const char *end)
{
    while (at < end && isdigit((unsigned char)*at)) {
        size_t bytes = 0;

        while (at < end && isdigit((unsigned char)*at) && bytes < (size_t)(end - at))
            bytes = 10 * bytes + (size_t)(*at++ - '0');
        if (bytes > (size_t)(end - at))
            break;
        if (words->length > 0)
            words_add(words, "::", 2);
        words_add(words, at, bytes);
        at += bytes;
    }
    return at;
}

/* The function of a mangled name; nothing, if it is none, or one with a name of another kind. */
static void add_function(struct words *words, const char *symbol, const char *end)
{
    const char *at = symbol + 2;

    if (end - symbol < 3 || strncmp(symbol, "_Z", 2) != 0)
        return;
    while (at < end && strchr("NKVRL", *at)) /* nested, const, static */
        at++;
    if (*at == 'S' && at + 1 < end && at[1] == 't') {
        words_add(words, "std", 3);
        at += 2;
    }
    at = add_names(words, at, end);
    if (words->length > 0 && at < end && *at == 'I')
        words_add(words, "<...>", 5);
}

static void add_line(struct words *words, int line)
{
    char digits[12];
    size_t at = sizeof(digits);

    for (unsigned rest = (unsigned)line; rest > 0 || at == sizeof(digits); rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    digits[--at] = ':';
    memcpy(words->text + words->length, digits + at, sizeof(digits) - at);
    words->length += sizeof(digits) - at;
}

const char *kernel_name_words(const char *symbol, char text[KERNEL_NAME_WORDS])
{
    size_t bytes = strlen(symbol);
    struct kernel_name name = {symbol, bytes, 0};
    struct words words = {text, 0};
    bool region = bytes > KERNEL_NAME_SHOWN && kernel_name_split(symbol, &name);

    if (bytes <= KERNEL_NAME_SHOWN)
        return symbol;
    add_function(&words, name.function, name.function + name.bytes);
    if (words.length == 0) {
        words_add(&words, name.function, name.bytes);
        if (name.bytes > KERNEL_NAME_SHOWN) {
            memcpy(text + words.length, "...", 3);
            words.length += 3;
        }
    }
    if (region)
        add_line(&words, name.line);
    text[words.length] = 0;
    return text;
}
