/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c: the results as one page of HTML, which is well-formed XML too and refers to nothing
 * outside. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/perf/results.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
    "<meta charset=\"utf-8\" />\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
    "<title>omprma-perf</title>\n<style>\n"
    "body { font-family: sans-serif; max-width: 64rem; margin: 1.5rem auto; padding: 0 1rem;\n"
    "  color: #222; background: #fff; }\n"
    "table { border-collapse: collapse; }\n"
    "td, th { padding: 0.15rem 0.6rem; text-align: left; vertical-align: top; }\n"
    ".results td, .results th { text-align: right; font-variant-numeric: tabular-nums; }\n"
    ".results .word { text-align: left; }\n"
    ".results tbody tr:nth-child(odd) { background: #f2f4f7; }\n"
    "figure { margin: 1rem 0; overflow-x: auto; }\n"
    "details { overflow-x: auto; }\n"
    "svg { width: 100%; min-width: 40rem; height: auto; }\n"
    "pre { margin: 0; }\n"
    "pre, code { font-size: 0.85rem; white-space: pre-wrap; overflow-wrap: anywhere; }\n"
    "</style>\n</head>\n<body>\n<h1>omprma-perf</h1>\n";

/* XML knows no control characters but two, not even escaped, and ends at bytes that are not UTF-8:
 * others than ASCII's are shown by their number. */
static void write_text(FILE *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '&')
            fputs("&amp;", out);
        else if (*at == '<')
            fputs("&lt;", out);
        else if (*at == '>')
            fputs("&gt;", out);
        else if ((*at < ' ' && *at != '\n' && *at != '\t') || *at >= 0x7f)
            fprintf(out, "\\x%02x", *at);
        else
            fputc(*at, out);
    }
}

static void write_fact(FILE *out, const char *name, const char *tag, const char *value)
{
    fprintf(out, "<tr><th>%s</th><td><%s>", name, tag);
    write_text(out, value);
    fprintf(out, "</%s></td></tr>\n", tag);
}

static void write_facts(FILE *out, const struct results *results)
{
    const struct machine *machine = &results->machine;
    char cpu[sizeof(machine->cpu) + 32];
    snprintf(cpu, sizeof(cpu), "%s, %d processors", machine->cpu, machine->cores);
    fputs("<table class=\"facts\">\n", out);
    write_fact(out, "Command", "code", results->command ? results->command : "");
    write_fact(out, "Date", "span", machine->date);
    write_fact(out, "Machine", "span", cpu);
    write_fact(out, "Kernel", "span", machine->kernel);
    write_fact(out, "MPI", "span", machine->mpi);
    write_fact(out, "One-sided component", "span", machine->osc);
    write_fact(out, "omprma", "span", OMPRMA_VERSION_STRING);
    write_fact(out, "Workers", "pre", results->places ? results->places : "");
    fputs("</table>\n", out);
}

/* Names in gnuplot's pictures are the same in all of them; each gets its operation's before it. */
static void write_svg(FILE *out, const char *svg, const char *name)
{
    static const char *const marks[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    const char *at = strstr(svg, "<svg"); /* behind what only a file of its own may begin with */
    while (at && *at) {
        size_t length = 1;
        bool marked = false;
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && !marked; i++) {
            marked = strncmp(at, marks[i], strlen(marks[i])) == 0;
            length = marked ? strlen(marks[i]) : 1;
        }
        fwrite(at, 1, length, out);
        if (marked)
            fprintf(out, "%s-", name);
        at += length;
    }
}

static omprma_status_t write_plot(FILE *out, const struct results *results, enum perf_op op)
{
    char *svg;
    omprma_status_t status = plot_svg(results, op, &svg);
    if (svg) {
        fputs("<figure>\n", out);
        write_svg(out, svg, perf_op_names[op]);
        fputs("</figure>\n", out);
    }
    free(svg);
    return status;
}

static void write_row(FILE *out, const struct result *r)
{
    char rate[32] = "", remark[REMARK_BYTES];
    if (result_gbps(r) > 0)
        snprintf(rate, sizeof(rate), "%.4g", result_gbps(r));
    result_remark(r, remark);
    fprintf(out,
            "<tr><td class=\"word\">%s</td><td class=\"word\">%s</td><td>%llu</td><td>%d</td>"
            "<td>%d</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%s</td><td class=\"word\">",
            perf_op_names[r->op], perf_path_names[r->path], (unsigned long long)r->bytes,
            r->workers, r->reps, r->us_min, r->us_median, r->us_p99, rate);
    write_text(out, remark);
    fputs("</td></tr>\n", out);
}

/* ---- in words ---- */

/* Of an operation, what was measured on a path for the smallest size, or the largest; NULL:
 * nothing. */
static const struct result *find(const struct results *results, enum perf_op op,
                                 enum perf_path path, bool largest)
{
    const struct result *found = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const struct result *r = &results->items[i];
        if (r->op == op && r->path == path &&
            (!found || (largest ? r->bytes > found->bytes : r->bytes < found->bytes)))
            found = r;
    }
    return found;
}

/* What omprma took, and bare MPI beside it where both were measured for the same size. */
static void write_point(FILE *out, const struct result *own, const struct result *raw)
{
    bool beside = raw && raw->bytes == own->bytes && raw->us_median > 0 && own->us_median > 0;
    char size[SIZE_WORDS_BYTES];
    if (perf_op_sized(own->op))
        fprintf(out, "%s in ", size_words(own->bytes, size));
    fprintf(out, "%.2f us", own->us_median);
    if (result_gbps(own) > 0 && own->us_median > 10)
        fprintf(out, ", %.3g GB/s", result_gbps(own));
    if (beside)
        fprintf(out, " (%.2f times bare MPI's %.2f us)", own->us_median / raw->us_median,
                raw->us_median);
}

/* One line for each operation: its smallest size, and its largest. */
static void write_summary(FILE *out, const struct results *results)
{
    static const enum perf_path own[] = {WAY_AUTO, WAY_RMA, WAY_TWO_SIDED};
    fputs("<ul class=\"summary\">\n", out);
    for (enum perf_op op = OP_SUBMIT; op <= OP_ALLOC; op++) {
        const struct result *least = NULL;
        size_t way = 0;
        while (way < sizeof(own) / sizeof(own[0]) && !(least = find(results, op, own[way], false)))
            way++;
        if (!least)
            continue;
        const struct result *most = find(results, op, own[way], true);
        fprintf(out, "<li><b>%s</b> by %s: ", perf_op_names[op], perf_path_names[own[way]]);
        write_point(out, least, find(results, op, WAY_RAW, false));
        if (most->bytes != least->bytes) {
            fputs("; ", out);
            write_point(out, most, find(results, op, WAY_RAW, true));
        }
        fputs(".</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void write_table(FILE *out, const struct results *results, enum perf_op op)
{
    fputs("<details><summary>All rows</summary>\n<table class=\"results\">\n<thead><tr><th "
          "class=\"word\">op</th><th "
          "class=\"word\">path</th><th>bytes</th><th>workers</th><th>reps</th><th>us min</th>"
          "<th>us median</th><th>us p99</th><th>GB/s</th><th></th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].op == op)
            write_row(out, &results->items[i]);
    fputs("</tbody>\n</table>\n</details>\n", out);
}

static size_t count_rows(const struct results *results, enum perf_op op)
{
    size_t rows = 0;
    for (size_t i = 0; i < results->count; i++)
        rows += results->items[i].op == op;
    return rows;
}

static omprma_status_t write_page(FILE *out, const struct results *results)
{
    bool plots = plot_possible();
    omprma_status_t status = OMPRMA_OK;
    fputs(head, out);
    write_facts(out, results);
    write_summary(out, results);
    fputs("<p>Times in microseconds; GB/s from medians. raw is bare MPI between the same "
          "processes.</p>\n",
          out);
    if (!plots)
        fputs("<p>No plots: gnuplot was not there.</p>\n", out);
    for (enum perf_op op = 0; op < OP_COUNT && status == OMPRMA_OK; op++) {
        if (!count_rows(results, op))
            continue;
        fprintf(out, "<h2>%s</h2>\n", perf_op_names[op]);
        if (plots)
            status = write_plot(out, results, op);
        write_table(out, results, op);
    }
    fputs("</body>\n</html>\n", out);
    return status;
}

omprma_status_t report_write(const struct results *results, const char *path)
{
    FILE *file = fopen(path, "we");
    omprma_status_t status = file ? write_page(file, results) : OMPRMA_OK;
    bool written = file && !ferror(file);
    if (file && fclose(file) != 0)
        written = false;
    if (!written && status == OMPRMA_OK)
        return error_set(OMPRMA_ERR_CONFIG, "--report %s: %s", path, strerror(errno));
    return status;
}
