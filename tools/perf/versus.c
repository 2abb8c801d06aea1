/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * versus.c: results of one operation and size stand together, a way each, so a row is what lies
 * between two changes of them. In words, neighbouring sizes with the same winner are one run.
 */
#include "tools/perf/versus.h"

#include <stdio.h>
#include <string.h>

#include "base/progress_line.h"

void versus_choose(struct choice *choice, bool two_workers, bool sizes_given)
{
    choice->ops = 1u << OP_SUBMIT | 1u << OP_RETRIEVE | 1u << OP_LAUNCH;
    if (two_workers)
        choice->ops |= 1u << OP_EXCHANGE;
    choice->paths = 1u << WAY_RAW | 1u << WAY_RAW_TWO_SIDED | 1u << WAY_RMA | 1u << WAY_TWO_SIDED;
    if (!sizes_given)
        choice_sizes(choice, "64:64M:4");
}

/* ---- rows ----------------------------------------------------------------------------------- */

bool versus_next(const struct results *results, size_t *next, struct versus_row *row)
{
    const struct result *first = results->items + *next;

    if (*next >= results->count)
        return false;
    *row = (struct versus_row){.op = first->op, .bytes = first->bytes};
    for (; *next < results->count; ++*next) {
        const struct result *r = results->items + *next;

        if (r->op != row->op || r->bytes != row->bytes)
            break;
        row->us[r->path] = r->us_median;
        memcpy(row->us_part[r->path], r->us_part, sizeof(r->us_part));
    }
    return true;
}

double versus_ratio(const struct versus_row *row)
{
    double one = row->us[WAY_RMA], two = row->us[WAY_TWO_SIDED];

    return one > 0 && two > 0 ? two / one : 0;
}

const char *versus_title(const struct results *results, char text[VERSUS_TITLE_BYTES])
{
    const struct machine *machine = &results->machine;
    int workers = results->count ? results->items[0].workers : 0;

    snprintf(text, VERSUS_TITLE_BYTES, "%s (osc %s), %d worker%s, %s, %.10s", machine->mpi,
             machine->osc, workers, workers == 1 ? "" : "s", machine->cpu, machine->date);
    return text;
}

/* ---- table ---------------------------------------------------------------------------------- */

static void print_time(double us)
{
    if (us <= 0)
        printf(" %11s", "-");
    else
        printf(" %11.*f", us < 1000 ? 2 : 0, us);
}

void versus_print_row(const struct results *results)
{
    char title[VERSUS_TITLE_BYTES], size[SIZE_WORDS_BYTES] = "";
    struct versus_row row;
    size_t last = results->count, next = 0;
    double ratio;

    while (last > 0 && results->items[last - 1].op == results->items[results->count - 1].op &&
           results->items[last - 1].bytes == results->items[results->count - 1].bytes)
        last--;
    next = last;
    if (!versus_next(results, &next, &row))
        return;
    progress_line_clear();
    if (last == 0)
        printf("%s\nTimes in microseconds, medians; launch: there and back of bare MPI\n\n"
               "%18s %23s %23s  two-sided /\n%18s %11s %11s %11s %11s   one-sided\n",
               versus_title(results, title), "", "bare MPI: ------------", "omprma: --------------",
               "", "put, get", "send", "one-sided", "two-sided");
    ratio = versus_ratio(&row);
    printf("%-9s %8s", perf_op_names[row.op],
           perf_op_sized(row.op) ? size_words(row.bytes, size) : "");
    print_time(row.us[WAY_RAW]);
    print_time(row.us[WAY_RAW_TWO_SIDED]);
    print_time(row.us[WAY_RMA]);
    print_time(row.us[WAY_TWO_SIDED]);
    if (ratio > 0)
        printf(" %11.2f", ratio);
    printf("\n");
    fflush(stdout);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Neighbouring sizes of which the same is true. */
struct run {
    enum versus_winner winner;
    uint64_t first, last;
    double least, most; /* how many times faster */
};

/* What disturbs the machine meets both ways, as their parts were measured in the same turns. */
enum versus_winner versus_winner(const struct versus_row *row)
{
    double ratio = versus_ratio(row), least = ratio, most = ratio;

    for (int i = 0; i < RESULT_PARTS; i++) {
        double one = row->us_part[WAY_RMA][i], two = row->us_part[WAY_TWO_SIDED][i];
        if (one <= 0 || two <= 0)
            continue;
        least = two / one < least ? two / one : least;
        most = two / one > most ? two / one : most;
    }
    if (ratio <= RESULTS_DIFFER && ratio >= 1 / RESULTS_DIFFER)
        return ALIKE;
    if (ratio > RESULTS_DIFFER)
        return least > 1 ? ONE_SIDED_WINS : NOISE;
    return most < 1 ? TWO_SIDED_WINS : NOISE;
}

static void print_run(const struct run *run, bool only, bool ends)
{
    static const char *const names[] = {"two-sided", "alike", "within the noise", "one-sided"};
    bool won = run->winner == ONE_SIDED_WINS || run->winner == TWO_SIDED_WINS;
    char first[SIZE_WORDS_BYTES], last[SIZE_WORDS_BYTES];

    printf("%s", names[run->winner]);
    if (won && run->most < run->least * 1.05)
        printf(" %.1f times faster", run->most);
    else if (won)
        printf(" %.1f to %.1f times faster", run->least, run->most);
    if (only)
        printf(" at all sizes");
    else if (run->first == run->last)
        printf(" at %s", size_words(run->first, first));
    else if (ends)
        printf(" from %s on", size_words(run->first, first));
    else
        printf(" from %s to %s", size_words(run->first, first), size_words(run->last, last));
}

static void print_op(const struct results *results, enum perf_op op)
{
    struct versus_row row;
    struct run run = {0};
    int runs = 0, rows = 0;

    for (size_t next = 0; versus_next(results, &next, &row);) {
        double ratio = versus_ratio(&row), times = ratio < 1 ? 1 / ratio : ratio;
        enum versus_winner winner = versus_winner(&row);

        if (row.op != op || ratio <= 0)
            continue;
        if (rows++ && winner == run.winner) {
            run.last = row.bytes;
            run.least = times < run.least ? times : run.least;
            run.most = times > run.most ? times : run.most;
            continue;
        }
        if (rows > 1) {
            printf("%s", runs++ ? "; " : "");
            print_run(&run, false, false);
        }
        run = (struct run){winner, row.bytes, row.bytes, times, times};
    }
    if (rows == 0)
        return;
    printf("%s", runs ? "; " : "");
    print_run(&run, runs == 0, true);
    printf("\n");
}

/* How many rows have no winner because of noise, if any. */
static void print_noise(const struct results *results)
{
    struct versus_row row;
    int noisy = 0, rows = 0;

    for (size_t next = 0; versus_next(results, &next, &row);) {
        rows += versus_ratio(&row) > 0;
        noisy += versus_ratio(&row) > 0 && versus_winner(&row) == NOISE;
    }
    if (noisy)
        printf("Noise: in %d of %d rows now the one, now the other was faster: compare on a quiet "
               "machine,\nor take more samples (--reps)\n",
               noisy, rows);
}

void versus_print_words(const struct results *results)
{
    bool any = false;

    for (enum perf_op op = OP_SUBMIT; op <= OP_EXCHANGE; op++) {
        bool measured = false;

        for (size_t i = 0; i < results->count && !measured; i++)
            measured = results->items[i].op == op && results->items[i].path == WAY_RMA;
        if (!measured)
            continue;
        printf("%s%s: ", any ? "" : "\n", perf_op_names[op]);
        print_op(results, op);
        any = true;
    }
    print_noise(results);
    if (any)
        printf("Small two-sided data travels in the message of its command. --data auto, the "
               "default,\ntakes for each size what is faster here.\n");
    else
        printf("\nThis MPI library has no one-sided data here; omprma-info says why\n");
}
