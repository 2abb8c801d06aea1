/* test: args=1;20 needs=own
 * Random graphs of nowait regions, updates, enters and exits that depend on each other, over blocks
 * of an array, against a model that does the same in the order of the program. Runs with
 * OMPRMA_PLACEMENT=auto as well, where each may go to another worker. Arguments: first seed, number
 * of seeds. */
#include "seeds.h"

#include <omp.h>
#include <string.h>

enum { BLOCKS = 9, N = 700, STEPS = 150 };

struct graph {
    unsigned seed;
    int device, mapped[BLOCKS];
    double host[BLOCKS][N], there[BLOCKS][N]; /* the model's */
    double real[BLOCKS][N];
};

static int draw(struct graph *g, int limit)
{
    return check_draw(&g->seed, limit);
}

static void model_add(struct graph *g, int to, int one, int two, double value)
{
    for (int i = 0; i < N; i++)
        g->there[to][i] =
            g->there[to][i] * 0.5 + g->there[one][i] + g->there[two][N - 1 - i] + value;
}

/* A block from two others; they may all be the same. */
static void add(struct graph *g)
{
    int t = draw(g, BLOCKS), a = draw(g, BLOCKS), b = draw(g, BLOCKS);
    double value = draw(g, 100), *to = g->real[t], *one = g->real[a], *two = g->real[b];
    if (a == t || b == t)
        return;
#pragma omp target nowait device(g->device) depend(inout                                           \
                                                   : to[0]) depend(in                              \
                                                                   : one[0], two[0])               \
    map(tofrom                                                                                     \
        : to [0:N]) map(to                                                                         \
                        : one [0:N], two [0:N])
    for (int i = 0; i < N; i++)
        to[i] = to[i] * 0.5 + one[i] + two[N - 1 - i] + value;
    model_add(g, t, a, b, value);
}

/* Without a word of who reads: pointers to what is mapped. */
static void add_unsaid(struct graph *g)
{
    int t = draw(g, BLOCKS), a = draw(g, BLOCKS);
    double value = draw(g, 100), *to = g->real[t], *one = g->real[a];
    if (a == t)
        return;
#pragma omp target nowait device(g->device) depend(inout : to[0]) depend(in : one[0])
    for (int i = 0; i < N; i++)
        to[i] = to[i] * 0.5 + one[i] + one[N - 1 - i] + value;
    model_add(g, t, a, a, value);
}

/* Two regions without an order write halves of one block. */
static void halves(struct graph *g)
{
    int t = draw(g, BLOCKS);
    double *x = g->real[t], value = draw(g, 10);
#pragma omp taskwait
    for (int h = 0; h < 2; h++) {
        int low = h * (N / 2), end = low + N / 2;
#pragma omp target nowait device(g->device) depend(in : x[0]) map(tofrom : x [0:N])
        for (int round = 0; round < 50; round++)
            for (int i = low; i < end; i++)
                x[i] += value;
    }
#pragma omp taskwait
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < N; i++)
            g->there[t][i] += value;
}

static void update(struct graph *g)
{
    int t = draw(g, BLOCKS), low = draw(g, N), length = 1 + draw(g, N - low), to = draw(g, 2);
    double *x = g->real[t];
    size_t bytes = (size_t)length * sizeof(double);
    if (to) {
#pragma omp target update nowait device(g->device) depend(inout : x[0]) to(x [low:length])
        memcpy(g->there[t] + low, g->host[t] + low, bytes);
    } else {
#pragma omp target update nowait device(g->device) depend(inout : x[0]) from(x [low:length])
        memcpy(g->host[t] + low, g->there[t] + low, bytes);
    }
}

/* Its values go home and come again. */
static void leave_and_enter(struct graph *g)
{
    int t = draw(g, BLOCKS), from = draw(g, 2);
    double *x = g->real[t];
    if (from) {
#pragma omp target exit data nowait device(g->device) depend(inout : x[0]) map(from : x [0:N])
        memcpy(g->host[t], g->there[t], sizeof(g->host[t]));
    } else {
#pragma omp target exit data nowait device(g->device) depend(inout : x[0]) map(release : x [0:N])
    }
#pragma omp target enter data nowait device(g->device) depend(inout : x[0]) map(to : x [0:N])
    memcpy(g->there[t], g->host[t], sizeof(g->host[t]));
}

static void waited(struct graph *g)
{
    int t = draw(g, BLOCKS);
    double *x = g->real[t], value = draw(g, 10);
#pragma omp taskwait
#pragma omp target device(g->device) map(always, tofrom : x [0:N])
    for (int i = 0; i < N; i++)
        x[i] += value;
    for (int i = 0; i < N; i++)
        g->there[t][i] = g->host[t][i] += value;
}

static void steps(struct graph *g)
{
    for (int i = 0; i < STEPS; i++)
        switch (draw(g, 16)) {
        case 0:
        case 1:
            update(g);
            break;
        case 2:
            leave_and_enter(g);
            break;
        case 3:
            waited(g);
            break;
        case 4:
        case 5:
            halves(g);
            break;
        case 6:
        case 7:
            add_unsaid(g);
            break;
        default:
            add(g);
        }
#pragma omp taskwait
}

static int play(unsigned seed, int device)
{
    static __thread struct graph graph;
    struct graph *g = &graph;
    int wrong = 0;
    g->seed = seed * 2654435761u + (unsigned)device;
    g->device = device;
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < N; i++)
            g->host[b][i] = g->there[b][i] = g->real[b][i] = b + i % 5;
    for (int b = 0; b < BLOCKS; b++) {
        double *x = g->real[b];
#pragma omp target enter data device(g->device) map(to : x [0:N])
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    steps(g);
    for (int b = 0; b < BLOCKS; b++) {
        double *x = g->real[b];
#pragma omp target exit data device(g->device) map(from : x [0:N])
        if (memcmp(g->real[b], g->there[b], sizeof(g->real[b])) != 0) {
            fprintf(stderr, "seed %u on device %d: block %d is wrong\n", seed, device, b);
            wrong = 1;
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    return play_seeds("graphs", argc, argv, 20, play);
}
