/* test: tier=all flags14=-mllvm;-openmp-opt-disable flags16=-mllvm;-openmp-opt-disable
 * Variables on devices that regions write (declare target, static), compared with a model: bytes
 * and words side by side, which regions without an order write at the same time; static ones of
 * functions; a pointer to one of them. Regions that touch the same are put in order by dependences,
 * others are not; update directives write and read them, too. Arguments: first seed, seeds. LLVM's
 * pass for OpenMP has static variables begin anew (14) and volatile ones keep their value (16).
 */
#include "check.h"

enum { BYTES = 40, WORDS = 16, OWN = 8, ALL = BYTES + WORDS + OWN, STEPS = 200 };

#pragma omp declare target
unsigned char bytes[BYTES];
unsigned words[WORDS];
unsigned *at = &words[3];

static unsigned *own(int i)
{
    static unsigned list[OWN] = {7, 8};
    return &list[i];
}

static unsigned value_of(int i)
{
    return i < BYTES ? bytes[i] : i < BYTES + WORDS ? words[i - BYTES] : *own(i - BYTES - WORDS);
}

static void value_set(int i, unsigned value)
{
    if (i < BYTES)
        bytes[i] = (unsigned char)value;
    else if (i < BYTES + WORDS)
        words[i - BYTES] = value;
    else
        *own(i - BYTES - WORDS) = value;
}

static unsigned mixed(unsigned a, unsigned b, unsigned c)
{
    return a * 31 + b * 7 + c;
}

static void change(int a, int b, unsigned c, int turns)
{
    volatile int turn = 0;
    while (turn < turns)
        turn = turn + 1;
    value_set(a, mixed(value_of(a), value_of(b), c));
}
#pragma omp end declare target

static unsigned model[ALL], seed;
static int model_at;
static char tokens[ALL], at_token;

static int draw(int limit)
{
    return check_draw(&seed, limit);
}

static void model_set(int i, unsigned value)
{
    model[i] = i < BYTES ? (unsigned char)value : value;
}

static void step_change(void)
{
    int a = draw(ALL), b = draw(ALL), turns = draw(3000);
    unsigned c = (unsigned)draw(1000);
    model_set(a, mixed(model[a], model[b], c));
#pragma omp target nowait depend(inout : tokens[a], tokens[b]) firstprivate(a, b, c, turns)
    change(a, b, c, turns);
}

static void step_wait(void)
{
    int a = draw(ALL), b = draw(ALL);
#pragma omp taskwait
    model_set(a, mixed(model[a], model[b], 1));
#pragma omp target firstprivate(a, b)
    change(a, b, 1, 0);
}

static void step_point(void)
{
    int i = draw(WORDS);
    model_at = i;
#pragma omp target nowait depend(inout : at_token) firstprivate(i)
    at = &words[i];
}

static void step_through(void)
{
    int i = BYTES + model_at;
    model[i] = mixed(model[i], 2, 3);
#pragma omp target nowait depend(inout : at_token, tokens[i])
    *at = mixed(*at, 2, 3);
}

static void step_update_to(void)
{
#pragma omp taskwait
    for (int i = 0; i < WORDS; i++)
        words[i] = model[BYTES + i] = (unsigned)draw(100000);
#pragma omp target update to(words)
}

static void step_update_from(void)
{
#pragma omp taskwait
#pragma omp target update from(bytes)
    for (int i = 0; i < BYTES; i++)
        CHECK_EQUAL(bytes[i], model[i]);
}

static void compare(void)
{
    unsigned now[ALL];
#pragma omp taskwait
#pragma omp target map(from : now)
    for (int i = 0; i < ALL; i++)
        now[i] = value_of(i);
    for (int i = 0; i < ALL; i++)
        CHECK_EQUAL(now[i], model[i]);
}

static void begin(void)
{
    unsigned first[ALL];
    model_at = draw(WORDS);
    for (int i = 0; i < ALL; i++)
        model_set(i, (unsigned)draw(100000));
    memcpy(first, model, sizeof(first));
#pragma omp target map(to : first) firstprivate(model_at)
    {
        at = &words[model_at];
        for (int i = 0; i < ALL; i++)
            value_set(i, first[i]);
    }
}

static void step(void)
{
    int kind = draw(100);
    if (kind < 70)
        step_change();
    else if (kind < 78)
        step_wait();
    else if (kind < 84)
        step_point();
    else if (kind < 90)
        step_through();
    else if (kind < 93)
        step_update_to();
    else if (kind < 96)
        step_update_from();
    else
        compare();
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
    for (unsigned i = first; i < first + count && !failures; i++) {
        seed = i * 2654435761u;
        begin();
        for (int n = 0; n < STEPS; n++)
            step();
        compare();
        if (failures)
            fprintf(stderr, "seed %u\n", i);
    }
    return finish("variables");
}
