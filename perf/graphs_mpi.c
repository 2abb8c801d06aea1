/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * graphs_mpi.c: the graphs of graphs.h by plain MPI: a rank has some of the points, and before each
 * step sends what it has written to the ranks that read it. See perf/graphs.
 *
 *   mpirun -n WORKERS graphs-mpi sleep|compute WORKERS BYTES MILLISECONDS ROUNDS [PATTERN]
 */
#include "graphs.h"

#include <mpi.h>

static uint64_t *field[2][MOST_WIDTH];
static int rank;

static void points_exchange(const struct graph *graph, int step, uint64_t **before)
{
    static MPI_Request requests[MOST_WIDTH * MOST_WORKERS];
    int count = 0, bytes = (int)(8 * graph->words);
    for (int i = 0; i < graph->width; i++)
        if (graph_owner(graph, i) != rank && graph_is_read(step, i, rank))
            MPI_Irecv(before[i], bytes, MPI_BYTE, graph_owner(graph, i), i, MPI_COMM_WORLD,
                      &requests[count++]);
    for (int i = 0; i < graph->width; i++)
        for (int to = 0; to < graph->workers && graph_owner(graph, i) == rank; to++)
            if (to != rank && graph_is_read(step, i, to))
                MPI_Isend(before[i], bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void point_run(const struct graph *graph, int step, int point)
{
    uint64_t **before = field[(step + 1) % 2], sum = (uint64_t)step;
    int list[MOST_INPUTS], count = graph_inputs(graph, step, point, list);
    for (int i = 0; i < count; i++)
        sum += task_reads(before[list[i]], graph->words);
    task_run(field[step % 2][point], graph->words, sum, graph->work);
}

static double run(const struct graph *graph)
{
    uint64_t row[MOST_WIDTH];
    int right = 1, all;
    for (int i = 0; i < graph->width; i++)
        for (long k = 0; k < graph->words; k++)
            field[0][i][k] = first_value(i);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_us();
    for (int step = 1; step <= graph->steps; step++) {
        if (step > 1)
            points_exchange(graph, step, field[(step + 1) % 2]);
        for (int i = 0; i < graph->width; i++)
            if (graph_owner(graph, i) == rank)
                point_run(graph, step, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double us = now_us() - begin;
    graph_model(graph, row);
    for (int i = 0; i < graph->width; i++)
        if (graph_owner(graph, i) == rank)
            right &= field[graph->steps % 2][i][graph->words - 1] == row[i];
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Bcast(&us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all ? us : -1;
}

int main(int count, char **argument)
{
    struct words words;
    int ranks, result;
    double rate;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!words_read(&words, count, argument) || words.workers != ranks) {
        fprintf(stderr, "usage: mpirun -n WORKERS graphs-mpi sleep|compute WORKERS BYTES"
                        " MILLISECONDS ROUNDS [PATTERN]\n");
        return 2;
    }
    words.version = "mpi";
    rate = turns_per_us();
    MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < MOST_WIDTH; i++)
            if (!(field[f][i] = malloc((size_t)words.bytes)))
                return 2;
    result = graphs_measure(&words, count > 6 ? argument[6] : NULL, run, rank == 0, rate);
    MPI_Finalize();
    return result;
}
