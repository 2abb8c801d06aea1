/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * graphs.h: task graphs that graphs.c (target tasks) and graphs_mpi.c (ranks) run: which tasks a
 * task reads from, what it does, what comes out, and the rows that are printed. After the idea of
 * Task Bench (SC20). A graph has `steps` rows of `width` tasks; what a task writes, tasks of the
 * next row read. Each checks a part of what it reads by adding it up; a model on the host has the
 * same sums.
 */
#ifndef OMPRMA_PERF_GRAPHS_H
#define OMPRMA_PERF_GRAPHS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum pattern { PATTERN_NONE, STENCIL, WAVEFRONT, FFT, TREE, RANDOM, PATTERNS };
enum { MOST_INPUTS = 5, MOST_WIDTH = 256, MOST_WORKERS = 64, MOST_STEPS = 400, RADIUS = 2 };

static const char *const pattern_names[PATTERNS] = {"none", "stencil", "wavefront",
                                                    "fft",  "tree",    "random"};

struct graph {
    enum pattern pattern;
    int width, steps, workers;
    long words; /* of 8 bytes, of each edge */
    int us;     /* of work, of each task */
    long work;  /* turns of a loop; negative: sleep for so many nanoseconds */
};

/* ---- who reads from whom --------------------------------------------------------------------- */

static unsigned mixed(unsigned a, unsigned b, unsigned c)
{
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;
    x = (x ^ x >> 15) * 2246822519u;
    return x ^ x >> 13;
}

static int add_input(const struct graph *graph, int *list, int count, int point)
{
    if (point >= 0 && point < graph->width)
        list[count++] = point;
    return count;
}

/* A power of two that is less than the width, another one in each step. */
static int butterfly(const struct graph *graph, int step)
{
    int levels = 0;
    while (2 << levels < graph->width)
        levels++;
    return 1 << (step % (levels + 1));
}

/* The points of the row before that a task reads, itself first where it does. */
static int graph_inputs(const struct graph *graph, int step, int point, int *list)
{
    int distance = butterfly(graph, step), count = 0;
    if (graph->pattern == TREE)
        return add_input(graph, list, 0, point / 2);
    count = add_input(graph, list, count, point);
    switch (graph->pattern) {
    case STENCIL:
        count = add_input(graph, list, count, point - 1);
        return add_input(graph, list, count, point + 1);
    case WAVEFRONT:
        return add_input(graph, list, count, point - 1);
    case FFT:
        count = add_input(graph, list, count, point - distance);
        return add_input(graph, list, count, point + distance);
    case RANDOM:
        for (int i = point - RADIUS; i <= point + RADIUS; i++)
            if (i != point && mixed((unsigned)step, (unsigned)point, (unsigned)i) % 2)
                count = add_input(graph, list, count, i);
        return count;
    default:
        return count;
    }
}

/* By hand, a point's tasks are all in one place. */
static int graph_owner(const struct graph *graph, int point)
{
    return (int)((long)point * graph->workers / graph->width);
}

/* The workers whose tasks read what a point has written, by step and point: bits. Made before a
 * graph is measured. */
static uint64_t readers[MOST_STEPS + 1][MOST_WIDTH];

static void graph_find_readers(const struct graph *graph)
{
    memset(readers, 0, sizeof(readers));
    for (int step = 2; step <= graph->steps; step++)
        for (int i = 0; i < graph->width; i++) {
            int list[MOST_INPUTS], count = graph_inputs(graph, step, i, list);
            while (count > 0)
                readers[step - 1][list[--count]] |= UINT64_C(1) << graph_owner(graph, i);
        }
}

/* Do tasks of `worker` read what the point has written in the step before? */
static int graph_is_read(int step, int point, int worker)
{
    return readers[step - 1][point] >> worker & 1;
}

/* Bytes that have to go from one worker to another, by hand. */
static double graph_least_bytes(const struct graph *graph)
{
    double bytes = 0;
    for (int step = 1; step < graph->steps; step++)
        for (int i = 0; i < graph->width; i++) {
            uint64_t others = readers[step][i] & ~(UINT64_C(1) << graph_owner(graph, i));
            bytes += 8.0 * (double)graph->words * __builtin_popcountll(others);
        }
    return bytes;
}

/* ---- a task ---------------------------------------------------------------------------------- */

#pragma omp begin declare target
static void task_work(long work)
{
    const struct timespec length = {.tv_sec = -work / 1000000000, .tv_nsec = -work % 1000000000};
    volatile double sink = 2; /* so that nothing is computed by the compiler */
    double x = sink;
    if (work < 0) {
        prctl(PR_SET_TIMERSLACK, 1L, 0, 0, 0); /* else it sleeps 50 us longer */
        nanosleep(&length, NULL);
        return;
    }
    for (long i = 0; i < work; i++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

/* What two words of each input say, in each word. */
static void task_run(uint64_t *to, long words, uint64_t sum, long work)
{
    task_work(work);
    for (long i = 0; i < words; i++)
        to[i] = sum;
}

static uint64_t task_reads(const uint64_t *from, long words)
{
    return from[0] * 3 + from[words - 1];
}
#pragma omp end declare target

static uint64_t first_value(int point)
{
    return (uint64_t)point + 1;
}

/* What the last row is to hold. */
static void graph_model(const struct graph *graph, uint64_t *row)
{
    uint64_t before[MOST_WIDTH];
    for (int i = 0; i < graph->width; i++)
        row[i] = first_value(i);
    for (int step = 1; step <= graph->steps; step++) {
        memcpy(before, row, sizeof(before));
        for (int i = 0; i < graph->width; i++) {
            int list[MOST_INPUTS], count = graph_inputs(graph, step, i, list);
            row[i] = (uint64_t)step;
            for (int k = 0; k < count; k++)
                row[i] += before[list[k]] * 4;
        }
    }
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Of the loop, in a microsecond: the most that was seen, so that what disturbs the machine does not
 * make work short. */
static double turns_per_us(void)
{
    enum { TURNS = 200000, ROUNDS = 25 };
    double most = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_us();
        task_work(TURNS);
        double rate = TURNS / (now_us() - begin);
        most = rate > most ? rate : most;
    }
    return most;
}

/* What a version does with a graph: microseconds, or a negative number where it is wrong. */
typedef double graph_run(const struct graph *graph);

struct words {
    const char *version;
    int workers, sleeps;
    long bytes;
    double budget_us; /* for one round of a graph, about */
    int rounds;
};

static int words_read(struct words *words, int count, char **argument)
{
    if (count < 6)
        return 0;
    words->sleeps = strcmp(argument[1], "sleep") == 0;
    words->workers = atoi(argument[2]);
    words->bytes = atol(argument[3]);
    words->budget_us = atof(argument[4]) * 1000;
    words->rounds = atoi(argument[5]);
    return words->rounds > 0 && words->workers > 0 && words->workers <= MOST_WORKERS &&
           words->bytes >= 8;
}

/* Four tasks of a row for each worker. There are as many steps as fit into the time, if it takes as
 * long as its work alone and a little for each task. */
static struct graph graph_of(const struct words *words, enum pattern pattern, int us, double rate)
{
    enum { ROW = 4, LEAST = 8, EACH_US = 20 };
    struct graph graph = {.pattern = pattern, .workers = words->workers, .us = us};
    int steps = (int)(words->budget_us / (ROW * (us + EACH_US)));
    graph.width = ROW * words->workers;
    graph.words = words->bytes / 8;
    graph.steps = steps < LEAST ? LEAST : steps > MOST_STEPS ? MOST_STEPS : steps;
    graph.work = words->sleeps ? -1000L * us : (long)(us * rate);
    return graph;
}

/* "GRAPH VERSION PATTERN WORKERS US TASKS ELAPSED_US LEAST_BYTES" for each pattern and work: the
 * shortest of the rounds. `says`: of ranks, one does. */
enum { LEAST_SLEEP_US = 100 };
static int graphs_measure(const struct words *words, const char *only, graph_run *run, int says,
                          double rate)
{
    static const int lengths[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        if (only && strcmp(only, pattern_names[pattern]) != 0)
            continue;
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            struct graph graph = graph_of(words, (enum pattern)pattern, lengths[i], rate);
            if (words->sleeps && lengths[i] < LEAST_SLEEP_US)
                continue;
            graph_find_readers(&graph);
            double us = run(&graph);
            for (int round = 1; round < words->rounds && us >= 0; round++) {
                double again = run(&graph);
                us = again < us ? again : us;
            }
            if (us < 0) {
                fprintf(stderr, "%s: %s with tasks of %d us is wrong\n", words->version,
                        pattern_names[pattern], graph.us);
                return 1;
            }
            if (says)
                printf("GRAPH %s %s %d %d %d %.1f %.0f\n", words->version, pattern_names[pattern],
                       graph.workers, graph.us, graph.width * graph.steps, us,
                       graph_least_bytes(&graph));
            if (says)
                fflush(stdout);
        }
    }
    return 0;
}

#endif
