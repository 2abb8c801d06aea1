/* plot.c: draws results with gnuplot, which reads commands and data from a pipe. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "tools/launch/paths.h"
#include "tools/perf/results.h"

static const char *terminal_of(const char *path)
{
    const char *suffix = strrchr(path, '.');
    if (suffix && strcmp(suffix, ".svg") == 0)
        return "svg size 1000,%d dynamic enhanced background 'white' font 'sans,12'";
    if (suffix && strcmp(suffix, ".png") == 0)
        return "pngcairo size 1000,%d font 'sans,10'";
    return NULL;
}

omprma_status_t plot_check(const char *path)
{
    char *program;
    if (!terminal_of(path))
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: the name must end in .svg or .png", path);
    if (path_program("gnuplot", &program) != OMPRMA_OK)
        return error_set(OMPRMA_ERR_CONFIG, "--plot needs gnuplot, which is not installed (Debian "
                                            "package gnuplot-nox)");
    free(program);
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

static const char *const styles[WAY_COUNT] = {"lc '#606060' dt 2", "lc '#b0b0b0' dt 2",
                                              "lc '#0072b2'",      "lc '#d55e00'",
                                              "lc '#009e73'",      "lc '#cc79a7'"};

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

/* One bar per operation and path. */
static void draw_bars(FILE *out, const struct results *results)
{
    fprintf(out, "$bars << END\n");
    for (size_t i = 0; i < results->count; i++) {
        const struct result *r = &results->items[i];
        if (r->op == OP_LAUNCH || r->op == OP_REGION)
            fprintf(out, "\"%s %s\" %.6g\n", perf_op_names[r->op],
                    r->path == WAY_RAW ? "ping-pong" : perf_path_names[r->path], r->us_median);
    }
    fprintf(out, "END\nset title 'launch and region'\nunset logscale\nset format x '%%g'\n"
                 "set xlabel ''\nset ylabel 'microseconds'\nunset key\nset yrange [0:*]\n"
                 "set style fill solid 0.6\nset xtics rotate by -35\nset boxwidth 0.7\n"
                 "plot $bars using 0:2:xtic(1) with boxes lc '#0072b2'\n");
}

static int count_panels(const struct results *results)
{
    int panels = has(results, OP_LAUNCH, -1) || has(results, OP_REGION, -1);
    panels += has(results, OP_ALLOC, -1);
    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++)
        panels += has(results, op, -1) ? 2 : 0;
    return panels;
}

static void draw(FILE *out, const struct results *results, const char *path)
{
    int rows = (count_panels(results) + 1) / 2;
    fprintf(out, "set terminal ");
    fprintf(out, terminal_of(path), 360 * rows);
    /* A quote inside a quoted name is written twice. */
    fprintf(out, "\nset output '");
    for (const char *at = path; *at; at++)
        fprintf(out, *at == '\'' ? "''" : "%c", *at);
    fprintf(out, "'\nset multiplot layout %d,2\nset grid\n", rows);
    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++) {
        if (!has(results, op, -1))
            continue;
        draw_curves(out, results, op, false);
        draw_curves(out, results, op, true);
    }
    if (has(results, OP_ALLOC, -1))
        draw_curves(out, results, OP_ALLOC, false);
    if (has(results, OP_LAUNCH, -1) || has(results, OP_REGION, -1))
        draw_bars(out, results);
    fprintf(out, "unset multiplot\n");
}

omprma_status_t plot_write(const struct results *results, const char *path)
{
    if (count_panels(results) == 0)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: none of the operations can be drawn", path);
    FILE *pipe = popen("gnuplot", "w");
    if (!pipe)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: %s", path, strerror(errno));
    draw(pipe, results, path);
    int status = pclose(pipe);
    if (status != 0)
        return error_set(OMPRMA_ERR_CONFIG, "--plot %s: gnuplot failed with status %d", path,
                         WIFEXITED(status) ? WEXITSTATUS(status) : status);
    return OMPRMA_OK;
}
