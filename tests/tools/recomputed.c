/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* recomputed.c: what lost_placed.sh runs: tasks on tiles as those of a Cholesky factorization, each
 * of which reads tiles that nobody writes any more. Two of them, the numbers of which are the
 * arguments, end their workers; FOLDER is where files say that it has happened. Nothing comes home
 * before the end, so what these workers had is computed again. Ends with status 5, and a line.
 */
#include <stdlib.h>
#include <string.h>

#include "die.h"

enum { TILES = 6, N = 4096 };

static double real[TILES][TILES][N], model[TILES][TILES][N];
static int tasks, deaths[2];

/* The number of the death that the task brings about; -1: none. */
static int death_of(int task)
{
    return task == deaths[0] ? 0 : task == deaths[1] ? 1 : -1;
}

#pragma omp begin declare target
static void factor(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = x[i] * 0.5 + 1;
}

static void solve(double *x, const double *y)
{
    for (int i = 0; i < N; i++)
        x[i] = x[i] * 0.25 + y[N - 1 - i];
}

static void subtract(double *x, const double *y, const double *z)
{
    for (int i = 0; i < N; i++)
        x[i] -= y[i] * 0.125 + z[i] * 0.0625;
}
#pragma omp end declare target

static void task_factor(int k)
{
    double *x = real[k][k];
    int death = death_of(tasks++);
#pragma omp target nowait depend(inout : x[0]) map(tofrom : x[:N]) firstprivate(death)
    {
        die(death);
        factor(x);
    }
    factor(model[k][k]);
}

static void task_solve(int i, int k)
{
    double *x = real[i][k], *y = real[k][k];
    int death = death_of(tasks++);
#pragma omp target nowait depend(inout                                                             \
                                 : x[0]) depend(in                                                 \
                                                : y[0]) map(tofrom                                 \
                                                            : x[:N]) map(to                        \
                                                                         : y[:N])                  \
    firstprivate(death)
    {
        solve(x, y);
        die(death);
    }
    solve(model[i][k], model[k][k]);
}

static void task_subtract(int i, int j, int k)
{
    double *x = real[i][j], *y = real[i][k], *z = real[j][k];
    int death = death_of(tasks++);
#pragma omp target nowait depend(inout                                                             \
                                 : x[0]) depend(in                                                 \
                                                : y[0], z[0]) map(tofrom                           \
                                                                  : x[:N]) map(to                  \
                                                                               : y[:N], z          \
                                                                               [:N])               \
    firstprivate(death)
    {
        usleep(200);
        subtract(x, y, z);
        die(death);
    }
    subtract(model[i][j], model[i][k], model[j][k]);
}

int main(int count, char **words)
{
    int wrong = 0;
    for (int i = 0; i < 2; i++)
        deaths[i] = count > 1 + i ? atoi(words[1 + i]) : -1;
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j <= i; j++) {
            double *x = real[i][j];
            for (int n = 0; n < N; n++)
                x[n] = model[i][j][n] = (i * 31 + j * 17 + n * 7) % 101;
#pragma omp target enter data map(to : x[:N])
        }
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < TILES; k++) {
        task_factor(k);
        for (int i = k + 1; i < TILES; i++)
            task_solve(i, k);
        for (int i = k + 1; i < TILES; i++)
            for (int j = k + 1; j <= i; j++)
                task_subtract(i, j, k);
    }
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j <= i; j++) {
            double *x = real[i][j];
#pragma omp target exit data map(from : x[:N])
            wrong += memcmp(x, model[i][j], sizeof(model[i][j])) != 0;
        }
    printf("%d tasks, %d tiles wrong\n", tasks, wrong);
    return wrong ? 6 : 5;
}
