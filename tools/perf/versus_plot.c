/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * versus_plot.c: the picture of one-sided against two-sided data: a column for each operation, with
 * times above and ratios below, both over the logarithm of the size. Rectangles, lines and words
 * are all that is needed of SVG, so no program for plots is.
 */
#include "tools/perf/versus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum {
    WIDTH = 380, /* of a panel */
    TIMES_HEIGHT = 240,
    RATIOS_HEIGHT = 150,
    LEFT = 64,
    TOP = 84,
    GAP = 58, /* between panels */
    ROWS_MOST = 128
};

static const struct {
    enum perf_path path;
    const char *name, *colour, *dashes;
} curves[] = {{WAY_RAW, "bare MPI_Put, MPI_Get", "#808080", "6 3"},
              {WAY_RAW_TWO_SIDED, "bare MPI_Send, MPI_Recv", "#b0b0b0", "2 3"},
              {WAY_RMA, "one-sided", "#0072b2", ""},
              {WAY_TWO_SIDED, "two-sided", "#d55e00", ""}};
enum { CURVES = sizeof(curves) / sizeof(curves[0]) };

/* An axis: from `low` to `high` of the logarithm along `length`, beginning at `at`. */
struct axis {
    double low, high, at, length;
    bool up; /* larger values are higher */
};

struct panel {
    struct axis x, y;
    const struct versus_row *rows;
    int count;
};

static double along(const struct axis *axis, double value)
{
    double part = (log2(value) - axis->low) / (axis->high - axis->low) * axis->length;

    return axis->up ? axis->at + axis->length - part : axis->at + part;
}

/* XML's own characters do not come in names of processors and libraries as they are. */
static void write_words(FILE *out, const char *text)
{
    for (; *text; text++)
        if (strchr("&<>", *text))
            fprintf(out, "&#%d;", *text);
        else if (*text >= ' ' && *text <= '~')
            fputc(*text, out);
}

static void write_label(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    write_words(out, text);
    fprintf(out, "</text>\n");
}

static void write_line(FILE *out, double x, double y, double to_x, double to_y, const char *style)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x, y, to_x, to_y,
            style);
}

static void write_curve(FILE *out, const struct panel *panel, int curve)
{
    fprintf(out,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" "
            "points=\"",
            curves[curve].colour, curves[curve].dashes);
    for (int i = 0; i < panel->count; i++)
        if (panel->rows[i].us[curves[curve].path] > 0)
            fprintf(out, "%.1f,%.1f ", along(&panel->x, (double)panel->rows[i].bytes),
                    along(&panel->y, panel->rows[i].us[curves[curve].path]));
    fprintf(out, "\"/>\n");
}

/* Frame, and the sizes below. */
static void write_frame(FILE *out, const struct panel *panel, bool sizes)
{
    char text[SIZE_WORDS_BYTES];
    int step = (panel->count + 5) / 6;

    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#444\"/>\n",
            panel->x.at, panel->y.at, panel->x.length, panel->y.length);
    for (int i = 0; sizes && i < panel->count; i += step)
        write_label(out, along(&panel->x, (double)panel->rows[i].bytes),
                    panel->y.at + panel->y.length + 16, "middle",
                    size_words(panel->rows[i].bytes, text));
}

/* Lines across at 0.1, 1, 10 and so on, and what they stand for. */
static void write_times(FILE *out, const struct panel *panel)
{
    char text[32];

    for (double us = 0.01; us < 1e8; us *= 10) {
        double y = along(&panel->y, us);

        if (log2(us) < panel->y.low || log2(us) > panel->y.high)
            continue;
        write_line(out, panel->x.at, y, panel->x.at + panel->x.length, y, "stroke=\"#ddd\"");
        snprintf(text, sizeof(text), us < 1000 ? "%g us" : "%g ms", us < 1000 ? us : us / 1000);
        write_label(out, panel->x.at - 5, y + 4, "end", text);
    }
    for (int i = 0; i < CURVES; i++)
        write_curve(out, panel, i);
}

static void write_ratios(FILE *out, const struct panel *panel)
{
    static const double marks[] = {0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 0.7,
                                   1,        1.4,     2,      4,     8,    16,  32};
    double width = panel->x.length / (panel->count + 1) * 0.6, one = along(&panel->y, 1);
    char text[32];

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        double y = along(&panel->y, marks[i]);

        if (log2(marks[i]) < panel->y.low || log2(marks[i]) > panel->y.high)
            continue;
        write_line(out, panel->x.at, y, panel->x.at + panel->x.length, y,
                   marks[i] == 1 ? "stroke=\"#444\"" : "stroke=\"#ddd\"");
        snprintf(text, sizeof(text), "%.3g", marks[i]);
        write_label(out, panel->x.at - 5, y + 4, "end", text);
    }
    for (int i = 0; i < panel->count; i++) {
        double ratio = versus_ratio(&panel->rows[i]), y = ratio > 0 ? along(&panel->y, ratio) : one;

        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                along(&panel->x, (double)panel->rows[i].bytes) - width / 2, y < one ? y : one,
                width, fabs(y - one), ratio >= 1 ? "#0072b2" : "#d55e00");
    }
}

/* Room around what is drawn. */
static struct axis axis_over(double low, double high, double at, double length, bool up)
{
    double room = (high - low) * 0.06 + 0.1;

    return (struct axis){low - room, high + room, at, length, up};
}

/* Over all ways of all rows, each of which has a one-sided time. */
static struct axis times_axis(const struct versus_row *rows, int count)
{
    double least = rows[0].us[WAY_RMA], most = least;

    for (int i = 0; i < count; i++)
        for (int j = 0; j < CURVES; j++) {
            double us = rows[i].us[curves[j].path];

            least = us > 0 && us < least ? us : least;
            most = us > most ? us : most;
        }
    return axis_over(log2(least), log2(most), TOP, TIMES_HEIGHT, true);
}

/* What is nearly alike is not to look like much. */
static struct axis ratios_axis(const struct versus_row *rows, int count)
{
    double low = 1 / 1.5, high = 1.5;

    for (int i = 0; i < count; i++) {
        low = fmin(low, versus_ratio(&rows[i]));
        high = fmax(high, versus_ratio(&rows[i]));
    }
    return axis_over(log2(low), log2(high), TOP + TIMES_HEIGHT + GAP / 2, RATIOS_HEIGHT, true);
}

static void write_column(FILE *out, enum perf_op op, const struct versus_row *rows, int count,
                         double left)
{
    struct panel panel = {.rows = rows, .count = count, .y = times_axis(rows, count)};
    char text[64];

    panel.x = axis_over(log2((double)rows[0].bytes), log2((double)rows[count - 1].bytes), left,
                        WIDTH, false);
    snprintf(text, sizeof(text), "%s: time", perf_op_names[op]);
    write_label(out, left, TOP - 8, "start", text);
    write_times(out, &panel);
    write_frame(out, &panel, false);
    panel.y = ratios_axis(rows, count);
    write_label(out, left, panel.y.at - 8, "start",
                "two-sided time / one-sided time; above 1 one-sided is faster");
    write_ratios(out, &panel);
    write_frame(out, &panel, true);
}

static void write_head(FILE *out, const struct results *results, int columns)
{
    double width = columns * (WIDTH + GAP) + LEFT - GAP + 16, at = LEFT;
    char title[VERSUS_TITLE_BYTES];

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, TOP + TIMES_HEIGHT + GAP + RATIOS_HEIGHT + 12);
    write_label(out, LEFT, 22, "start", versus_title(results, title));
    for (int i = 0; i < CURVES; i++) {
        char style[96];

        snprintf(style, sizeof(style), "stroke=\"%s\" stroke-width=\"1.8\" stroke-dasharray=\"%s\"",
                 curves[i].colour, curves[i].dashes);
        write_line(out, at, 44, at + 26, 44, style);
        write_label(out, at + 32, 48, "start", curves[i].name);
        at += 50 + 6.6 * (double)strlen(curves[i].name);
    }
}

/* The rows of an operation that moves data; how many there are. */
static int rows_of(const struct results *results, enum perf_op op, struct versus_row *rows)
{
    int count = 0;

    for (size_t next = 0; count < ROWS_MOST && versus_next(results, &next, &rows[count]);)
        count += rows[count].op == op && versus_ratio(&rows[count]) > 0;
    return count;
}

omprma_status_t versus_plot_check(const char *path)
{
    const char *suffix = strrchr(path, '.');

    return suffix && strcmp(suffix, ".svg") == 0
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_CONFIG, "--plot %s: with --versus the name must end in .svg",
                           path);
}

omprma_status_t versus_plot_write(const struct results *results, const char *path)
{
    static struct versus_row rows[ROWS_MOST + 1];
    int columns = 0;
    FILE *out;
    bool written;

    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++)
        columns += rows_of(results, op, rows) > 0;
    if (columns == 0)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: nothing was measured in both modes", path);
    out = fopen(path, "we");
    if (!out)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: %s", path, strerror(errno));
    write_head(out, results, columns);
    columns = 0;
    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++) {
        int count = rows_of(results, op, rows);

        if (count > 0)
            write_column(out, op, rows, count, LEFT + columns++ * (WIDTH + GAP));
    }
    fprintf(out, "</svg>\n");
    written = !ferror(out);
    if (fclose(out) != 0 || !written)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: %s", path, strerror(errno));
    return OMPRMA_OK;
}
