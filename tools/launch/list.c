/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* list.c: a growing list of strings. Knows nothing of what they mean. */
#include "tools/launch/list.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "base/log.h"

static void *must(void *memory)
{
    if (!memory) {
        log_write(LOG_ERROR, "out of memory");
        exit(EXIT_OWN);
    }
    return memory;
}

static void list_take(struct list *list, char *text)
{
    list->items = must(realloc(list->items, (list->count + 2) * sizeof(*list->items)));
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

static char *text_format(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    return must(text);
}

char *text_make(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format(format, arguments);
    va_end(arguments);
    return text;
}

void list_add(struct list *list, const char *text)
{
    list_take(list, must(strdup(text)));
}

void list_addf(struct list *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    list_take(list, text_format(format, arguments));
    va_end(arguments);
}

void list_drop(struct list *list)
{
    free(list->items[--list->count]);
    list->items[list->count] = NULL;
}

bool list_contains(const struct list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0)
            return true;
    }
    return false;
}

void list_clear(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct list){0};
}

static size_t list_find(const struct list *list, const char *name)
{
    size_t length = strlen(name), i = 0;
    while (i < list->count &&
           (strncmp(list->items[i], name, length) != 0 || list->items[i][length] != '='))
        i++;
    return i;
}

void list_set(struct list *list, const char *name, const char *value)
{
    size_t i = list_find(list, name);
    if (i < list->count) {
        free(list->items[i]);
        memmove(&list->items[i], &list->items[i + 1],
                (list->count - i) * sizeof(*list->items)); /* with the NULL */
        list->count--;
    }
    if (value)
        list_addf(list, "%s=%s", name, value);
}

const char *list_get(const struct list *list, const char *name)
{
    size_t i = list_find(list, name);
    return i < list->count ? list->items[i] + strlen(name) + 1 : NULL;
}

void list_print_shell(const struct list *list, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%^";
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i];
        fputs(i ? " " : "", out);
        if (*text && strspn(text, plain) == strlen(text)) {
            fputs(text, out);
            continue;
        }
        fputc('\'', out);
        for (; *text; text++)
            fputs(*text == '\'' ? "'\\''" : (const char[]){*text, 0}, out);
        fputc('\'', out);
    }
    fputc('\n', out);
}
