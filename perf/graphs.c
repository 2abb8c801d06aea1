/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * graphs.c: the graphs of graphs.h as target tasks with depend. The same tasks serve both versions:
 * "auto" knows one device, and leaves it to OMPRMA_PLACEMENT=auto where tasks run; "hand" gives
 * each its device, and moves what another device reads by target updates, for which there are
 * tokens. See perf/graphs.
 *
 *   graphs sleep|compute WORKERS BYTES MILLISECONDS ROUNDS auto|hand [PATTERN]
 */
#include "graphs.h"

#include <omp.h>

enum { FIELDS = 2 };

/* What each point has written, in every second step; and who else has the value, for depend. */
static uint64_t *field[FIELDS][MOST_WIDTH];
static char home[FIELDS][MOST_WIDTH];
static char copied[FIELDS][MOST_WIDTH][MOST_WORKERS];
static int by_hand;

struct task {
    int device;
    uint64_t *to;
    char *token;
    int step, count;
    uint64_t *from[MOST_INPUTS];
    char *tokens[MOST_INPUTS];
};

/* A construct has a fixed number of maps, so there is one for each number of inputs. */
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define TASK(COUNT, READS, MAPS, SUM)                                                              \
    static void task_##COUNT(const struct graph *graph, const struct task *task)                   \
    {                                                                                              \
        uint64_t *to = task->to, *a = task->from[0], *b = task->from[1], *c = task->from[2],       \
                 *d = task->from[3], *e = task->from[4];                                           \
        char *const *t = task->tokens;                                                             \
        long n = graph->words, work = graph->work;                                                 \
        uint64_t step = (uint64_t)task->step;                                                      \
        (void)a, (void)b, (void)c, (void)d, (void)e;                                               \
        PRAGMA(omp target nowait device(task->device) depend(out                                   \
                                                             : *task->token) depend(in             \
                                                                                    : READS)       \
                   map(tofrom                                                                      \
                       : to [0:n]) map(to                                                          \
                                       : MAPS))                                                    \
        task_run(to, n, step + SUM, work);                                                         \
    }
#define COMMA ,
#define R(x) task_reads(x, n)
TASK(1, *t[0], a [0:n], R(a))
TASK(2, *t[0] COMMA *t[1], a [0:n] COMMA b [0:n], R(a) + R(b))
TASK(3, *t[0] COMMA *t[1] COMMA *t[2], a [0:n] COMMA b [0:n] COMMA c [0:n], R(a) + R(b) + R(c))
TASK(4, *t[0] COMMA *t[1] COMMA *t[2] COMMA *t[3],
     a [0:n] COMMA b [0:n] COMMA c [0:n] COMMA d [0:n], R(a) + R(b) + R(c) + R(d))
TASK(5, *t[0] COMMA *t[1] COMMA *t[2] COMMA *t[3] COMMA *t[4],
     a [0:n] COMMA b [0:n] COMMA c [0:n] COMMA d [0:n] COMMA e [0:n],
     R(a) + R(b) + R(c) + R(d) + R(e))

typedef void task_of_inputs(const struct graph *graph, const struct task *task);
static task_of_inputs *const task_of[] = {NULL, task_1, task_2, task_3, task_4, task_5};

static void point_task(const struct graph *graph, int step, int point)
{
    int list[MOST_INPUTS], now = step % FIELDS, before = 1 - now;
    int device = by_hand ? graph_owner(graph, point) : 0;
    struct task task = {
        .device = device, .to = field[now][point], .token = (char *)field[now][point]};
    task.step = step;
    task.count = graph_inputs(graph, step, point, list);
    for (int i = 0; i < task.count; i++) {
        int from = list[i];
        int here = !by_hand || graph_owner(graph, from) == device;
        task.from[i] = field[before][from];
        task.tokens[i] = here ? (char *)field[before][from] : &copied[before][from][device];
    }
    task_of[task.count](graph, &task);
}

/* By hand: what was written goes home, and from there to all devices whose tasks read it. */
static void point_move(const struct graph *graph, int step, int point)
{
    int before = (step + 1) % FIELDS, owner = graph_owner(graph, point), is_home = 0;
    uint64_t *x = field[before][point];
    char *own = (char *)x, *at_home = &home[before][point];
    long n = graph->words;
    for (int device = 0; device < graph->workers; device++) {
        char *copy = &copied[before][point][device];
        if (device == owner || !graph_is_read(step, point, device))
            continue;
        if (!is_home) {
#pragma omp target update nowait device(owner) depend(in                                           \
                                                      : *own) depend(out                           \
                                                                     : *at_home) from(x [0:n])
            is_home = 1;
        }
#pragma omp target update nowait device(device) depend(in                                          \
                                                       : *at_home) depend(out                      \
                                                                          : *copy) to(x [0:n])
    }
}

static void fields_enter(const struct graph *graph)
{
    long n = graph->words;
    int devices = by_hand ? graph->workers : 1;
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < graph->width; i++) {
            uint64_t *x = field[f][i];
            for (long k = 0; k < n; k++)
                x[k] = first_value(i);
            for (int device = 0; device < devices; device++) {
#pragma omp target enter data device(device) map(to : x [0:n])
            }
        }
}

static int fields_are_right(const struct graph *graph)
{
    uint64_t row[MOST_WIDTH];
    long n = graph->words;
    int devices = by_hand ? graph->workers : 1, right = 1;
    graph_model(graph, row);
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < graph->width; i++) {
            uint64_t *x = field[f][i];
            int owner = by_hand ? graph_owner(graph, i) : 0;
#pragma omp target update device(owner) from(x [0:n])
            for (int device = 0; device < devices; device++) {
#pragma omp target exit data device(device) map(release : x [0:n])
            }
            right &= f != graph->steps % FIELDS || (x[0] == row[i] && x[n - 1] == row[i]);
        }
    return right;
}

static double run(const struct graph *graph)
{
    fields_enter(graph);
    double begin = now_us();
    for (int step = 1; step <= graph->steps; step++) {
        for (int i = 0; i < graph->width && by_hand && step > 1; i++)
            point_move(graph, step, i);
        for (int i = 0; i < graph->width; i++)
            point_task(graph, step, i);
    }
#pragma omp taskwait
    double us = now_us() - begin;
    return fields_are_right(graph) ? us : -1;
}

static int is_device(int device)
{
    int there = 0;
#pragma omp target device(device) map(from : there)
    there = !omp_is_initial_device();
    return there;
}

int main(int count, char **argument)
{
    struct words words;
    if (!words_read(&words, count, argument) || count < 7) {
        fprintf(stderr, "usage: graphs sleep|compute WORKERS BYTES MILLISECONDS ROUNDS auto|hand"
                        " [PATTERN]\n");
        return 2;
    }
    words.version = argument[6];
    by_hand = strcmp(words.version, "hand") == 0;
    for (int device = 0; device < (by_hand ? words.workers : 1); device++)
        if (!is_device(device)) {
            fprintf(stderr, "graphs: there is no device %d\n", device);
            return 2;
        }
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < MOST_WIDTH; i++)
            if (!(field[f][i] = aligned_alloc(64, (size_t)(words.bytes / 64 + 1) * 64)))
                return 2;
    return graphs_measure(&words, count > 7 ? argument[7] : NULL, run, 1, turns_per_us());
}
