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
    "svg { width: 100%; height: auto; }\n"
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

static void write_table(FILE *out, const struct results *results, enum perf_op op)
{
    fputs("<table class=\"results\">\n<thead><tr><th class=\"word\">op</th><th "
          "class=\"word\">path</th><th>bytes</th><th>workers</th><th>reps</th><th>us min</th>"
          "<th>us median</th><th>us p99</th><th>GB/s</th><th></th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].op == op)
            write_row(out, &results->items[i]);
    fputs("</tbody>\n</table>\n", out);
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
