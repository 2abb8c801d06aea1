/* test: tier=all
 * Large copies with nowait, beside which the host computes, in chains with kernels held together by
 * depend: updates both ways, regions that map the data, enter and exit. Each array takes the steps
 * of a model, in the order in which they were made, whoever copies.
 */
#include "check.h"

enum { ARRAYS = 4, STEPS = 60, WORDS = 1 << 18, ROUNDS = 3 };

static unsigned *host[ARRAYS];   /* what the program has */
static unsigned *model[ARRAYS];  /* what it should have, */
static unsigned *beyond[ARRAYS]; /* and the device */

static unsigned sum(const unsigned *at, int words)
{
    unsigned value = 0;
    for (int i = 0; i < words; i++)
        value = value * 31 + at[i];
    return value;
}

static void model_add(unsigned *at, int from, int count, unsigned value)
{
    for (int i = from; i < from + count; i++)
        at[i] += value * (unsigned)i;
}

/* One construct, and what it does in the model. `a` is no array of its own: clang maps pointers. */
static void __attribute__((noinline)) step(int which, int kind, int from, int count, unsigned value)
{
    unsigned *a = host[which];
    // clang-format off
    switch (kind) {
    case 0: {
#pragma omp target update to(a[from:count]) nowait depend(inout : host[which])
        memcpy(beyond[which] + from, model[which] + from, (size_t)count * sizeof(*a));
        break;
    }
    case 1: {
#pragma omp target update from(a[from:count]) nowait depend(inout : host[which])
        memcpy(model[which] + from, beyond[which] + from, (size_t)count * sizeof(*a));
        break;
    }
    case 2:
#pragma omp target nowait map(alloc : a[0:WORDS]) firstprivate(from, count, value) depend(inout : host[which])
        for (int i = from; i < from + count; i++)
            a[i] += value * (unsigned)i;
        model_add(beyond[which], from, count, value);
        break;
    default: /* there and back, and a kernel between */
#pragma omp target nowait map(always, tofrom : a[0:WORDS]) firstprivate(from, count, value) depend(inout : host[which])
        for (int i = from; i < from + count; i++)
            a[i] += value * (unsigned)i;
        model_add(model[which], from, count, value);
        memcpy(beyond[which], model[which], WORDS * sizeof(*a));
    }
    // clang-format on
}

static void __attribute__((noinline)) round_of(int seed)
{
    unsigned draws = (unsigned)seed, busy = 1;
    // clang-format off
    for (int which = 0; which < ARRAYS; which++) {
        unsigned *a = host[which];
#pragma omp target enter data map(to : a[0:WORDS]) nowait depend(inout : host[which])
        memcpy(beyond[which], model[which], WORDS * sizeof(*a));
    }
    for (int i = 0; i < STEPS; i++) {
        int from = check_draw(&draws, WORDS), count = 1 + check_draw(&draws, WORDS - from);
        step(check_draw(&draws, ARRAYS), check_draw(&draws, 4), from, count, (unsigned)i);
        for (int k = 0; k < 20000; k++) /* the program computes meanwhile */
            busy = busy * 1664525u + 1013904223u;
    }
    for (int which = 0; which < ARRAYS; which++) {
        unsigned *a = host[which];
#pragma omp target exit data map(from : a[0:WORDS]) nowait depend(inout : host[which])
        memcpy(model[which], beyond[which], WORDS * sizeof(*a));
    }
#pragma omp taskwait
    // clang-format on
    CHECK(busy != 0);
    for (int which = 0; which < ARRAYS; which++)
        CHECK_EQUAL(sum(host[which], WORDS), sum(model[which], WORDS));
}

int main(void)
{
    for (int which = 0; which < ARRAYS; which++) {
        host[which] = malloc(WORDS * sizeof(unsigned));
        model[which] = malloc(WORDS * sizeof(unsigned));
        beyond[which] = malloc(WORDS * sizeof(unsigned));
        for (int i = 0; i < WORDS; i++)
            host[which][i] = model[which][i] = (unsigned)(which * WORDS + i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        round_of(round + 1);
        printf("round %d: %u\n", round, sum(host[round % ARRAYS], WORDS));
    }
    for (int which = 0; which < ARRAYS; which++) {
        free(host[which]);
        free(model[which]);
        free(beyond[which]);
    }
    return failures != 0;
}
