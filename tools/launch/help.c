/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* help.c: texts are filled into a column beside the options. */
#include "tools/launch/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "tools/launch/list.h"

enum { WIDTH = 80, TEXT_AT = 31, NAME_BYTES = 128 };

static const char *const titles[HELP_GROUPS] = {
    [HELP_OWN] = "Options",       [HELP_WORKERS] = "Workers", [HELP_PLACEMENT] = "Placement",
    [HELP_DATA] = "Data",         [HELP_PROGRAM] = "Program", [HELP_DIAGNOSTICS] = "Diagnostics",
    [HELP_ADVANCED] = "Advanced",
};

static int width(void)
{
    const char *columns = getenv("COLUMNS");
    int wide = columns ? atoi(columns) : 0;
    return wide > 2 * TEXT_AT ? wide : WIDTH;
}

/* Writes words from column `indent` on, there also in later lines. */
static void fill(const char *text, size_t length, int indent, FILE *out)
{
    const char *end = text + length;
    int column = indent, wide = width();
    while (text < end) {
        int word = (int)strcspn(text, " ");
        if (word > end - text)
            word = (int)(end - text);
        if (column > indent && column + 1 + word > wide - 1) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, (size_t)word, out);
        column += word;
        text += word;
        while (text < end && *text == ' ')
            text++;
    }
    fputc('\n', out);
}

/* "-n, --workers=N" */
static int name_format(const struct argp_option *option, char name[NAME_BYTES])
{
    bool is_short = option->key > ' ' && option->key < 127;
    bool optional = option->flags & OPTION_ARG_OPTIONAL;
    int used = is_short ? snprintf(name, NAME_BYTES, "-%c, ", option->key) : 0;
    return used + snprintf(name + used, NAME_BYTES - (size_t)used, "--%s%s%s%s%s", option->name,
                           option->arg && optional ? "[" : "", option->arg ? "=" : "",
                           option->arg ? option->arg : "", option->arg && optional ? "]" : "");
}

static void option_print(const struct argp_option *option, bool all, FILE *out)
{
    char name[NAME_BYTES];
    const char *first = strstr(option->doc, ". ");
    size_t length = first && !all ? (size_t)(first - option->doc) : strlen(option->doc);
    int used = name_format(option, name);
    fprintf(out, "  %s", name);
    if (2 + used + 2 > TEXT_AT && width() <= WIDTH)
        fprintf(out, "\n%*s", TEXT_AT, "");
    else
        fprintf(out, "%*s", used + 4 > TEXT_AT ? 2 : TEXT_AT - 2 - used, "");
    fill(option->doc, length, TEXT_AT, out);
}

/* Has one's own table another option of that name? */
static bool is_hidden(const struct help *help, int table, const char *name)
{
    for (const struct argp_option *own = help->options[0]; table > 0 && own->name; own++)
        if (strcmp(own->name, name) == 0)
            return true;
    return false;
}

static void group_print(const struct help *help, int group, bool all, FILE *out)
{
    bool titled = false;
    for (int table = 0; help->options[table]; table++)
        for (const struct argp_option *option = help->options[table]; option->name; option++) {
            if (option->group != group || is_hidden(help, table, option->name))
                continue;
            if (!titled)
                fprintf(out, "%s:\n", titles[group]);
            titled = true;
            option_print(option, all, out);
        }
}

void help_print(const struct help *help, bool all, FILE *out)
{
    fprintf(out, "Usage: %s %s\n", help->program, help->usage);
    fill(help->about, strlen(help->about), 0, out);
    fputc('\n', out);
    for (int group = 0; group < HELP_GROUPS; group++)
        if (all || !(help->few & 1u << group))
            group_print(help, group, all, out);
    if (all) {
        fputs("\nEnvironment of omprma-run and of the program (options win):\n\n", out);
        config_print_help(out);
    }
    fprintf(out, "\nExamples:\n%s\n", help->examples);
    char *status = text_make("Exit status: %s", help->status);
    fill(status, strlen(status), 0, out);
    free(status);
}
