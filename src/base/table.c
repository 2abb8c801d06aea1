/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* table.c: which columns are shown is settled once, before the first row. */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char variable[] = "OMPRMA_INTERNAL_COLUMNS";

static int width_of(const struct table *table)
{
    int width = (int)strlen(table->before) - 1;

    for (int i = 0; i < table->count; i++)
        width += table->shown[i] ? table->columns[i].width + 1 : 0;
    return width;
}

/* The column that is left out next; -1: the others stay. */
static int least_of(const struct table *table)
{
    int least = -1, rank = 0;

    for (int i = 0; i < table->count; i++)
        if (table->shown[i] && table->columns[i].rank > rank) {
            rank = table->columns[i].rank;
            least = i;
        }
    return least;
}

void table_open(struct table *table, FILE *out, const char *before,
                const struct table_column *columns, int count, int width)
{
    int least;

    *table = (struct table){.out = out, .before = before, .columns = columns, .count = count};
    for (int i = 0; i < count; i++)
        table->shown[i] = true;
    while (width > 0 && width_of(table) > width && (least = least_of(table)) >= 0)
        table->shown[least] = false;
}

/* Blanks are printed when something follows them. */
void table_print_row(const struct table *table, const char *const cells[], const char *behind)
{
    int blanks = 0;

    fputs(table->before, table->out);
    for (int i = 0; i < table->count; i++) {
        const struct table_column *column = &table->columns[i];
        int room = column->width - (int)strlen(cells[i]);

        if (!table->shown[i])
            continue;
        room = room < 0 ? 0 : room;
        blanks += column->left ? 0 : room;
        if (*cells[i]) {
            fprintf(table->out, "%*s%s", blanks, "", cells[i]);
            blanks = 0;
        }
        blanks += (column->left ? room : 0) + 1;
    }
    if (behind && *behind)
        fprintf(table->out, "%*s%s", blanks + 1, "", behind);
    fputc('\n', table->out);
}

void table_print_titles(const struct table *table)
{
    const char *titles[TABLE_COLUMNS_MOST];

    for (int i = 0; i < table->count; i++)
        titles[i] = table->columns[i].title;
    table_print_row(table, titles, NULL);
}

/* 0: it is no terminal, or has no width. */
static int ask(int descriptor)
{
    struct winsize size;

    return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int table_terminal_width(int descriptor)
{
    const char *text = getenv(variable);
    int width = ask(descriptor);

    return width > 0 ? width : text ? atoi(text) : 0;
}

void table_hand_on_width(void)
{
    char text[16];
    int width = ask(STDOUT_FILENO);

    snprintf(text, sizeof(text), "%d", width);
    if (width > 0)
        setenv(variable, text, 1);
    else
        unsetenv(variable);
}
