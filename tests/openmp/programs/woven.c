/* test: needs=own
 * Random rows of tasks, of devices and of the host, in flight and waited for, woven by random
 * dependences: in a serial program, by one thread of a team, and by two at once. What is left is
 * what the same row leaves when each step is done before the next one. Only rows without tasks of
 * the host before 19: with them libomp crashes, with LLVM's local device too. */
#include "check.h"

enum { NUMBERS = 6, HELD = 4, SLOTS = 40, LARGE = 5000, STEPS = 150, ROUNDS = 4 };
enum { MODULUS = 1000003 };

struct values {
    long numbers[NUMBERS]; /* moved by each construct */
    long held[HELD];       /* on a device from the beginning to the end, */
    long far[HELD];        /* where the model has its values */
    long slots[SLOTS];     /* each for one construct */
    long exclusive;        /* changed by those that exclude each other */
    int large[LARGE];
};

/* Kinds of steps; those with tasks of the host have names. */
enum { TASK = 1, TASK_HELD = 6, GROUP = 12, KINDS = 14 };

#pragma omp declare target
static long mix(long x, long y, long k)
{
    return (x * 3 + y + k) % MODULUS;
}
#pragma omp end declare target

/* One step, and what the model does. True: it has met a wrong value. */
// clang-format off
static int step(int kind, unsigned *seed, struct values *values, struct values *model, int devices)
{
    int i = check_draw(seed, NUMBERS), other = (i + 1 + check_draw(seed, NUMBERS - 1)) % NUMBERS;
    int h = check_draw(seed, HELD), slot = check_draw(seed, SLOTS), on = check_draw(seed, devices);
    int there = h % devices;
    long k = check_draw(seed, 1000);
    long *x = &values->numbers[i], *y = &values->numbers[other];
    long *held = &values->held[h], *own = &values->slots[slot], *one = &values->exclusive;
    int *large = values->large;
    long *mx = &model->numbers[i], my = model->numbers[other];
    switch (kind) {
    default:
#pragma omp target nowait map(tofrom : x[0:1]) map(to : y[0:1]) depend(inout : x[0]) depend(in : y[0]) device(on) firstprivate(k)
        x[0] = mix(x[0], y[0], k);
        *mx = mix(*mx, my, k);
        return 0;
    case TASK:
#pragma omp task depend(inout : x[0]) depend(in : y[0]) firstprivate(x, y, k)
        x[0] = mix(x[0], y[0], k);
        *mx = mix(*mx, my, k);
        return 0;
    case 2:
#pragma omp target map(tofrom : x[0:1]) map(to : y[0:1]) depend(inout : x[0]) depend(in : y[0]) device(on) firstprivate(k)
        x[0] = mix(x[0], y[0], k);
        *mx = mix(*mx, my, k);
        return x[0] != *mx;
    case 3:
#pragma omp target nowait map(tofrom : held[0:1]) map(to : y[0:1]) depend(inout : held[0]) depend(in : y[0]) device(there) firstprivate(k)
        held[0] = mix(held[0], y[0], k);
        model->far[h] = mix(model->far[h], my, k);
        return 0;
    case 4: {
#pragma omp target update from(held[0:1]) nowait depend(inout : held[0]) device(there)
        model->held[h] = model->far[h];
        return 0;
    }
    case 5: {
#pragma omp target update to(held[0:1]) nowait depend(inout : held[0]) device(there)
        model->far[h] = model->held[h];
        return 0;
    }
    case TASK_HELD:
#pragma omp task depend(inout : held[0]) firstprivate(held, k)
        held[0] += k;
        model->held[h] += k;
        return 0;
    case 7:
#pragma omp target nowait map(tofrom : one[0:1]) depend(mutexinoutset : one[0]) device(on) firstprivate(k)
        one[0] += k;
        model->exclusive += k;
        return 0;
    case 8:
#pragma omp target nowait map(tofrom : own[0:1]) depend(inout : own[0]) device(on) if(k > 500) firstprivate(k)
        own[0] += k;
        model->slots[slot] += k;
        return 0;
    case 9:
#pragma omp target nowait map(tofrom : large[0:LARGE]) depend(inout : large[0]) device(on) firstprivate(k)
        for (int n = 0; n < LARGE; n++)
            large[n] += (int)k;
        for (int n = 0; n < LARGE; n++)
            model->large[n] += (int)k;
        return 0;
    case 10: {
#pragma omp taskwait depend(in : y[0])
        return y[0] != my;
    }
    case 11:
        if (k > 300)
            return 0;
#pragma omp taskwait
        return memcmp(values->numbers, model->numbers, sizeof(values->numbers)) != 0 || one[0] != model->exclusive;
    case GROUP:
#pragma omp taskgroup
        {
#pragma omp target nowait map(tofrom : x[0:1]) depend(inout : x[0]) device(on) firstprivate(k)
            x[0] = mix(x[0], 1, k);
#pragma omp task depend(inout : x[0]) firstprivate(x, k)
            x[0] = mix(x[0], 2, k);
#pragma omp target nowait map(tofrom : x[0:1]) depend(inout : x[0]) device((on + 1) % devices) firstprivate(k)
            x[0] = mix(x[0], 3, k);
        }
        *mx = mix(mix(mix(*mx, 1, k), 2, k), 3, k);
        return x[0] != *mx;
    }
}
// clang-format on

static int pure; /* no tasks of the host */

static int row(unsigned seed, int devices)
{
    static __thread struct values values, model;
    unsigned state = seed * 7919 + 1;
    int wrong = 0;
    memset(&values, 0, sizeof(values));
    memset(&model, 0, sizeof(model));
    for (int h = 0; h < HELD; h++) {
        long *held = &values.held[h];
#pragma omp target enter data map(to : held [0:1]) device(h % devices)
    }
    for (int s = 0; s < STEPS; s++) {
        int kind = check_draw(&state, KINDS);
        if (!pure || (kind != TASK && kind != TASK_HELD && kind != GROUP))
            wrong += step(kind, &state, &values, &model, devices);
    }
#pragma omp taskwait
    for (int h = 0; h < HELD; h++) {
        long *held = &values.held[h];
        wrong += held[0] != model.held[h];
#pragma omp target exit data map(from : held [0:1]) device(h % devices)
        wrong += held[0] != model.far[h];
    }
    wrong += memcmp(values.numbers, model.numbers, sizeof(values.numbers)) != 0;
    wrong += memcmp(values.slots, model.slots, sizeof(values.slots)) != 0;
    wrong += memcmp(values.large, model.large, sizeof(values.large)) != 0;
    return wrong + (values.exclusive != model.exclusive);
}

int main(int argc, char **argv)
{
    int devices = check_devices(), first = argc > 1 ? atoi(argv[1]) : 1, wrong = 0;
    /* The first rounds, or as many as asked for, have none. */
    int pure_rounds = argc > 2 ? atoi(argv[2]) : __clang_major__ < 19 ? ROUNDS : ROUNDS / 2;
    for (int round = first; round < first + ROUNDS; round++) {
        unsigned seed = (unsigned)round * 10;
        pure = round < first + pure_rounds;
        wrong += row(seed, devices);
        wrong += row(seed + 1, devices);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        {
#pragma omp single
            wrong += row(seed + 2, devices) + row(seed + 3, devices);
            wrong += row(seed + 4 + 2 * (unsigned)omp_get_thread_num(), devices);
            wrong += row(seed + 5 + 2 * (unsigned)omp_get_thread_num(), devices);
        }
        if (wrong) {
            printf("woven: wrong in round %d\n", round);
            break;
        }
    }
    CHECK_EQUAL(wrong, 0);
    return finish("woven");
}
