/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sessions_mpi.c: a ping-pong of 8 bytes between pairs of ranks, in microseconds ("PINGPONG US",
 * the median of all pairs' medians): while no region runs, or, with "busy", while each rank's
 * regions compute. "bare" leaves regions out.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 2000 };

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double ping_pong(int rank)
{
    static double us[TURNS];
    int other = rank ^ 1;
    long value = rank;

    for (int turn = 0; turn < TURNS; turn++) {
        double begin = MPI_Wtime();

        if (rank % 2 == 0)
            MPI_Send(&value, 1, MPI_LONG, other, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_LONG, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank % 2 == 1)
            MPI_Send(&value, 1, MPI_LONG, other, 1, MPI_COMM_WORLD);
        us[turn] = (MPI_Wtime() - begin) * 1e6;
    }
    qsort(us, TURNS, sizeof(us[0]), by_value);
    return us[TURNS / 2];
}

/* Some tenths of a second, beside what the program does. */
static void compute(double *sum)
{
#pragma omp target nowait map(tofrom : sum [0:1])
    for (int i = 1; i < 200000000; i++)
        sum[0] += 1.0 / i;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    int rank, size, one = 1;
    double sum = 0, us, *all;

    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2 != 0 || !(all = malloc(sizeof(*all) * (size_t)size)))
        return 2;
    if (strcmp(what, "bare") != 0) {
#pragma omp target map(tofrom : one)
        one++;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "busy") == 0)
        compute(&sum);
    us = ping_pong(rank);
#pragma omp taskwait
    MPI_Gather(&us, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(all, (size_t)size, sizeof(*all), by_value);
        printf("PINGPONG %.2f\n", all[size / 2]);
    }
    free(all);
    return MPI_Finalize();
}
