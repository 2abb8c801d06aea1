/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lost_placed.c: what lost_placed.sh runs: a random graph of nowait regions, updates, enters and
 * exits, against a model that does the same in the order of the program. As many regions as are to
 * end their workers do, each one worker, by SIGKILL, before or after they have computed. Arguments:
 * seed, how many, and whether
 * the program brings home what it has written, so that nothing is lost that it needs. FOLDER is
 * where files say that it has happened. Ends with status 5, and a line.
 */
#include <stdlib.h>
#include <string.h>

#include "die.h"

enum { BLOCKS = 12, N = 3000, STEPS = 120 };

static double model[BLOCKS][N], host[BLOCKS][N], real[BLOCKS][N];
static unsigned state;
static int deaths, deaths_most, saves;

static unsigned draw(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

/* The number of the death that a region is to bring about; -1: none. */
static int death_draw(void)
{
    if (deaths == deaths_most || draw(25) > 0)
        return -1;
    if (saves) {
#pragma omp taskwait
    }
    return deaths++;
}

static void add(void)
{
    unsigned t = draw(BLOCKS), a = draw(BLOCKS), late = draw(2);
    double value = draw(100), *to = real[t], *one = real[a];
    int death = death_draw();
    if (a == t)
        return;
#pragma omp target nowait depend(inout                                                             \
                                 : to[0]) depend(in                                                \
                                                 : one[0]) map(tofrom                              \
                                                               : to[:N]) map(to                    \
                                                                             : one[:N])            \
    firstprivate(death)
    {
        if (!late)
            die(death);
        for (int i = 0; i < N; i++) {
            to[i] = to[i] * 0.5 + one[N - 1 - i] + value;
            if (late && i == N / 2)
                die(death);
        }
    }
    if (saves && death >= 0) {
#pragma omp taskwait
    }
    if (saves) {
#pragma omp target update nowait depend(inout : to[0]) from(to[:N])
    }
    for (int i = 0; i < N; i++)
        model[t][i] = model[t][i] * 0.5 + model[a][N - 1 - i] + value;
    if (saves)
        memcpy(host[t], model[t], sizeof(host[t]));
}

static void update(void)
{
    unsigned t = draw(BLOCKS), way = saves ? 0 : draw(4);
    double *x = real[t];
    if (way == 0) {
#pragma omp target update nowait depend(inout : x[0]) to(x[:N])
        memcpy(model[t], host[t], sizeof(model[t]));
    } else if (way == 1) {
#pragma omp target update nowait depend(inout : x[0]) to(x [10:50])
        memcpy(model[t] + 10, host[t] + 10, 50 * sizeof(double));
    } else {
#pragma omp target update nowait depend(inout : x[0]) from(x[:N])
        memcpy(host[t], model[t], sizeof(model[t]));
    }
}

static void leave_and_enter(void)
{
    double *x;
    unsigned t = draw(BLOCKS);
    x = real[t];
#pragma omp target exit data nowait depend(inout : x[0]) map(from : x[:N])
#pragma omp target enter data nowait depend(inout : x[0]) map(to : x[:N])
    memcpy(host[t], model[t], sizeof(model[t]));
}

/* All of it comes and goes. */
static void alone(void)
{
    unsigned t = draw(BLOCKS), length = 1 + draw(N);
    double *x = host[t], value = draw(10), sum = 0;
    static double scratch[N];
    int death = death_draw();
#pragma omp taskwait
    memcpy(scratch, x, sizeof(scratch));
#pragma omp target map(tofrom : scratch[:length]) map(tofrom : sum) firstprivate(death)
    {
        for (unsigned i = 0; i < length; i++)
            sum += scratch[i] += value;
        die(death);
    }
    for (unsigned i = 0; i < length; i++)
        if (scratch[i] != x[i] + value) {
            printf("wrong: alone\n");
            exit(6);
        }
}

/* Two regions without an order write halves of one block, which others that are under way may read.
 */
static void halves(void)
{
    unsigned t = draw(BLOCKS);
    double *x = real[t], value = draw(10);
#pragma omp taskwait
    for (int h = 0; h < 2; h++) {
        int death = death_draw();
        int low = h * (N / 2);
#pragma omp target nowait depend(in : x[0]) map(tofrom : x[:N]) firstprivate(death)
        {
            for (int i = low; i < low + N / 2; i++)
                x[i] += value;
            die(death);
        }
    }
    for (int i = 0; i < N; i++)
        model[t][i] += value;
#pragma omp taskwait
}

static void steps(void)
{
    for (int i = 0; i < STEPS; i++)
        switch (draw(16)) {
        case 0:
        case 1:
            update();
            break;
        case 2:
            leave_and_enter();
            break;
        case 3:
            alone();
            break;
        case 4:
            if (saves)
                alone();
            else
                halves();
            break;
        default:
            add();
        }
#pragma omp taskwait
}

int main(int count, char **words)
{
    int wrong = 0;
    state = count > 1 ? (unsigned)atoi(words[1]) * 2654435761u : 1;
    deaths_most = count > 2 ? atoi(words[2]) : 1;
    saves = count > 3;
    for (int b = 0; b < BLOCKS; b++) {
        for (int i = 0; i < N; i++)
            host[b][i] = model[b][i] = real[b][i] = b + i % 5;
        double *x = real[b];
#pragma omp target enter data map(to : x[:N])
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    steps();
    for (int b = 0; b < BLOCKS; b++) {
        double *x = real[b];
#pragma omp target exit data map(from : x[:N])
        if (memcmp(x, model[b], sizeof(model[b])) != 0 && wrong++ < 3)
            printf("wrong: block %d\n", b);
    }
    printf("%s, %d deaths\n", wrong ? "wrong" : "right", deaths);
    return wrong ? 6 : 5;
}
