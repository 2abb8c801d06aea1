/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* plot.c: draws results with gnuplot, which reads commands and data from a pipe. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "tools/launch/paths.h"
#include "tools/perf/results.h"

#define SVG_TERMINAL "svg size 1000,%d dynamic enhanced background 'white' font 'sans,12'"
enum { PANEL_HEIGHT = 360, EVERY_OP = (1 << OP_COUNT) - 1 };

static const char *terminal_of(const char *path)
{
    const char *suffix = strrchr(path, '.');
    if (suffix && strcmp(suffix, ".svg") == 0)
        return SVG_TERMINAL;
    if (suffix && strcmp(suffix, ".png") == 0)
        return "pngcairo size 1000,%d font 'sans,10'";
    return NULL;
}

bool plot_possible(void)
{
    char *program;
    if (path_program("gnuplot", &program) != OMPRMA_OK)
        return false;
    free(program);
    return true;
}

omprma_status_t plot_check(const char *path)
{
    if (!terminal_of(path))
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: the name must end in .svg or .png", path);
    if (!plot_possible())
        return error_set(OMPRMA_ERR_CONFIG, "--plot needs gnuplot, which is not installed (Debian "
                                            "package gnuplot-nox)");
    return OMPRMA_OK;
}

static bool has(const struct results *results, enum perf_op op, int path)
{
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].op == op && (path < 0 || (int)results->items[i].path == path))
            return true;
    return false;
}

/* A data block "$OP_PATH" of x and y; names may hold no "-", so numbers are used. */
static void write_curve(FILE *out, const struct results *results, enum perf_op op, int path)
{
    fprintf(out, "$d%d_%d << END\n", (int)op, path);
    for (size_t i = 0; i < results->count; i++) {
        const struct result *r = &results->items[i];
        if (r->op == op && (int)r->path == path)
            fprintf(out, "%llu %.6g %.6g\n", (unsigned long long)r->bytes, r->us_median,
                    result_gbps(r));
    }
    fprintf(out, "END\n");
}

static const char *const styles[WAY_COUNT] = {
    "lc '#606060' dt 2", "lc '#b0b0b0' dt 2", "lc '#000000' dt 3", "lc '#0072b2'",
    "lc '#d55e00'",      "lc '#009e73'",      "lc '#cc79a7'"};

/* Time or rate over the size, one curve per path. */
static void draw_curves(FILE *out, const struct results *results, enum perf_op op, bool rate)
{
    const char *comma = "";
    for (int path = 0; path < WAY_COUNT; path++)
        if (has(results, op, path))
            write_curve(out, results, op, path);
    /* What does not depend on the size would look as if it did on a logarithmic axis. */
    fprintf(out,
            "set title '%s'\nset logscale x 2\n%s\nset format x '%%.0b%%BB'\nset format y '%%g'\n"
            "set xlabel 'bytes'\nset ylabel '%s'\nset key %s\nplot ",
            perf_op_names[op],
            op == OP_ALLOC ? "unset logscale y\nset yrange [0:*]" : "set logscale y",
            rate ? "GB/s" : "microseconds", rate ? "right bottom" : "left top");
    for (int path = 0; path < WAY_COUNT; path++) {
        if (!has(results, op, path))
            continue;
        fprintf(out, "%s$d%d_%d using 1:%d with linespoints lw 1.5 pt 7 ps 0.4 %s title '%s'",
                comma, (int)op, path, rate ? 3 : 2, styles[path], perf_path_names[path]);
        comma = ", ";
    }
    fprintf(out, "\n");
}

static bool has_bars(const struct results *results, unsigned ops)
{
    return (ops & 1u << OP_LAUNCH && has(results, OP_LAUNCH, -1)) ||
           (ops & 1u << OP_REGION && has(results, OP_REGION, -1));
}

/* One bar per operation and path. */
static void draw_bars(FILE *out, const struct results *results, unsigned ops)
{
    const char *comma = "";
    fprintf(out, "$bars << END\n");
    for (size_t i = 0; i < results->count; i++) {
        const struct result *r = &results->items[i];
        if ((r->op == OP_LAUNCH || r->op == OP_REGION) && ops & 1u << r->op)
            fprintf(out, "\"%s %s\" %.6g\n", perf_op_names[r->op],
                    r->path == WAY_RAW ? "ping-pong" : perf_path_names[r->path], r->us_median);
    }
    fprintf(out, "END\nset title '");
    for (enum perf_op op = OP_LAUNCH; op <= OP_REGION; op++) {
        if (!has_bars(results, ops & 1u << op))
            continue;
        fprintf(out, "%s%s", comma, perf_op_names[op]);
        comma = " and ";
    }
    fprintf(out, "'\nunset logscale\nset format x '%%g'\n"
                 "set xlabel ''\nset ylabel 'microseconds'\nunset key\nset yrange [0:*]\n"
                 "set style fill solid 0.6\nset xtics rotate by -35\nset boxwidth 0.7\n"
                 "plot $bars using 0:2:xtic(1) with boxes lc '#0072b2'\n");
}

static int count_panels(const struct results *results, unsigned ops)
{
    int panels = has_bars(results, ops);
    panels += ops & 1u << OP_ALLOC && has(results, OP_ALLOC, -1);
    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++)
        panels += ops & 1u << op && has(results, op, -1) ? 2 : 0;
    return panels;
}

/* Those operations of the set that can be drawn, on one picture. */
static void draw(FILE *out, const struct results *results, const char *terminal, const char *path,
                 unsigned ops)
{
    int panels = count_panels(results, ops), rows = (panels + 1) / 2;
    fprintf(out, "set terminal ");
    fprintf(out, terminal, PANEL_HEIGHT * rows);
    /* A quote inside a quoted name is written twice. */
    fprintf(out, "\nset output '");
    for (const char *at = path; *at; at++)
        fprintf(out, *at == '\'' ? "''" : "%c", *at);
    fprintf(out, "'\nset multiplot layout %d,2\nset grid\n", rows);
    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++) {
        if (!(ops & 1u << op) || !has(results, op, -1))
            continue;
        draw_curves(out, results, op, false);
        draw_curves(out, results, op, true);
    }
    if (ops & 1u << OP_ALLOC && has(results, OP_ALLOC, -1))
        draw_curves(out, results, OP_ALLOC, false);
    if (has_bars(results, ops))
        draw_bars(out, results, ops);
    fprintf(out, "unset multiplot\n");
}

/* `option` is what asked for it. */
static omprma_status_t run_gnuplot(const struct results *results, const char *option,
                                   const char *terminal, const char *path, unsigned ops)
{
    FILE *pipe = popen("gnuplot", "w");
    if (!pipe)
        return error_set(OMPRMA_ERR_CONFIG, "%s: gnuplot: %s", option, strerror(errno));
    draw(pipe, results, terminal, path, ops);
    int status = pclose(pipe);
    if (status != 0)
        return error_set(OMPRMA_ERR_CONFIG, "%s: gnuplot failed with status %d", option,
                         WIFEXITED(status) ? WEXITSTATUS(status) : status);
    return OMPRMA_OK;
}

omprma_status_t plot_write(const struct results *results, const char *path)
{
    if (count_panels(results, EVERY_OP) == 0)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: none of the operations can be drawn", path);
    return run_gnuplot(results, "--plot", terminal_of(path), path, EVERY_OP);
}

static omprma_status_t read_all(FILE *file, char **text)
{
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    *text = bytes > 0 ? calloc(1, (size_t)bytes + 1) : NULL;
    rewind(file);
    if (*text && fread(*text, 1, (size_t)bytes, file) == (size_t)bytes)
        return OMPRMA_OK;
    free(*text);
    *text = NULL;
    return error_set(OMPRMA_ERR_CONFIG, "--report: gnuplot's picture cannot be read");
}

omprma_status_t plot_svg(const struct results *results, enum perf_op op, char **svg)
{
    char path[32];
    *svg = NULL;
    if (count_panels(results, 1u << op) == 0)
        return OMPRMA_OK;
    FILE *file = tmpfile(); /* has no name that could be left behind; gnuplot inherits it */
    if (!file)
        return error_set(OMPRMA_ERR_CONFIG, "--report: a temporary file: %s", strerror(errno));
    snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
    omprma_status_t status = run_gnuplot(results, "--report", SVG_TERMINAL, path, 1u << op);
    if (status == OMPRMA_OK)
        status = read_all(file, svg);
    fclose(file);
    return status;
}
