/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * table.h: tables of text that fit the terminal: where it is too narrow, whole columns are left
 * out, those that say least first, so that no row takes two lines. Knows nothing of what it shows.
 *
 * Thread: no shared state. Blocks: no.
 */
#ifndef OMPRMA_BASE_TABLE_H
#define OMPRMA_BASE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct table_column {
    const char *title;
    int width; /* characters; what is longer pushes the rest of its row aside */
    bool left; /* aligned there */
    int rank;  /* the column with the highest one is left out first; 0: it stays */
};

enum { TABLE_COLUMNS_MOST = 32 };

struct table {
    FILE *out;
    const char *before; /* of each line */
    const struct table_column *columns;
    int count;
    bool shown[TABLE_COLUMNS_MOST];
};

/* `width` is that of the terminal; 0: there is room for all columns. */
void table_open(struct table *table, FILE *out, const char *before,
                const struct table_column *columns, int count, int width);

void table_print_titles(const struct table *table);

/* A cell for each column, and what stands behind the row, "" or NULL: nothing. */
void table_print_row(const struct table *table, const char *const cells[], const char *behind);

/* Characters of a line of the terminal that the descriptor is. Where it is none, but that of the
 * omprma-run or tool which has started this process is one, that one's; else 0. */
int table_terminal_width(int descriptor);

/* Tells processes that are started from now on of the width of this one's stdout. */
void table_hand_on_width(void);

#endif
