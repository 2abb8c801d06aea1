/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* recomputed_own.c: what lost_placed.sh runs: random tasks on blocks, whose regions have memory of
 * their own (structures and arrays as private variables, and what they map themselves), or find
 * blocks by pointers in mapped structures. Two of them, the numbers of which are the arguments, end
 * their workers; FOLDER is where files say that it has happened. Nothing comes home before the end,
 * so what these workers had is computed again. Ends with status 5, and a line.
 */
#include <stdlib.h>
#include <string.h>

#include "die.h"

enum { BLOCKS = 6, N = 3000, TASKS = 72, TABLE = 40 };

struct setting {
    double factor;
    int shift;
    double table[TABLE];
};

struct field {
    int times; /* that a region has found its values by this */
    double *values;
};

static double real[BLOCKS][N], model[BLOCKS][N];
static struct field fields[BLOCKS];
static unsigned state = 17;
static int deaths[2], fields_used;

static unsigned draw(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

/* The number of the death that the task brings about; -1: none. */
static int death_of(int task)
{
    return task == deaths[0] ? 0 : task == deaths[1] ? 1 : -1;
}

static struct setting setting_draw(void)
{
    struct setting setting = {.factor = draw(8) * 0.125, .shift = (int)draw(N)};
    for (int i = 0; i < TABLE; i++)
        setting.table[i] = draw(100);
    return setting;
}

#pragma omp begin declare target
static void compute(double *x, const double *y, const struct setting *setting)
{
    for (int i = 0; i < N; i++)
        x[i] =
            x[i] * setting->factor + y[(i + setting->shift) % N] * 0.25 + setting->table[i % TABLE];
}
#pragma omp end declare target

static void region_structure(double *x, const double *y, int death, struct setting setting)
{
#pragma omp target map(tofrom : x[:N]) map(to : y[:N]) firstprivate(death, setting)
    {
        compute(x, y, &setting);
        setting.factor = -1; /* it is this region's own */
        die(death);
    }
}

/* Large enough to be sent from where it is. */
static void region_array(double *x, const double *y, int death, struct setting setting)
{
    double list[300];
    for (int i = 0; i < 300; i++)
        list[i] = setting.table[i % TABLE];
#pragma omp target map(tofrom : x[:N]) map(to : y[:N]) firstprivate(death, setting, list)
    {
        memcpy(setting.table, list, sizeof(setting.table));
        memset(list, 0, sizeof(list));
        die(death);
        compute(x, y, &setting);
    }
}

/* A section of an array, and what comes home. */
static void region_maps(double *x, const double *y, int death, struct setting setting)
{
    double *table = setting.table, factor = 0, sum = setting.shift;
    int seen[4] = {-1, -1, -1, -1};
#pragma omp target map(tofrom                                                                      \
                       : x[:N]) map(to                                                             \
                                    : y[:N]) map(to                                                \
                                                 : table [2:TABLE - 2]) map(tofrom                 \
                                                                            : sum, seen [1:2])     \
    firstprivate(death, setting) map(from                                                          \
                                     : factor)
    {
        struct setting inner = setting;
        for (int i = 2; i < TABLE; i++)
            inner.table[i] = table[i];
        table[2] = -5;
        inner.shift = (int)sum;
        sum += 1;
        seen[1]++;
        factor = setting.factor;
        compute(x, y, &inner);
        die(death);
    }
    if (factor != setting.factor || sum != setting.shift + 1 || seen[0] + seen[1] != -1)
        printf("wrong: what has come home\n");
}

/* A structure with a pointer in it. */
static void region_pointer(double *x, const double *y, int death, struct setting setting)
{
    struct {
        double *table;
        int shift;
    } own = {setting.table, setting.shift};
    double factor = setting.factor;
#pragma omp target map(tofrom                                                                      \
                       : x[:N]) map(to                                                             \
                                    : y[:N]) map(to                                                \
                                                 : own, own.table[:TABLE])                         \
    firstprivate(death, factor)
    {
        struct setting inner = {.factor = factor, .shift = own.shift};
        memcpy(inner.table, own.table, sizeof(inner.table));
        own.shift = 0;
        die(death);
        compute(x, y, &inner);
    }
}

static struct field *field_of(const double *x)
{
    return &fields[(x - real[0]) / N];
}

/* Pointers that are attached. */
static void region_fields(double *x, const double *y, int death, struct setting setting)
{
    struct field *to = field_of(x), *from = field_of(y);
#pragma omp target map(tofrom : to[:1]) map(to : from[:1]) firstprivate(death, setting)
    {
        if (setting.shift % 2)
            die(death);
        compute(to->values, from->values, &setting);
        to->times++;
        die(death);
    }
}

static void (*const kinds[])(double *, const double *, int, struct setting) = {
    region_structure, region_fields, region_array, region_maps, region_pointer};

/* Together, or one after the other. */
static void field_enter(int b)
{
    struct field *field = &fields[b];
    field->values = real[b];
    if (b % 2) {
#pragma omp target enter data map(to : field[:1], field->values[:N])
    } else {
#pragma omp target enter data map(to : field[:1])
#pragma omp target enter data map(to : field->values[:N])
    }
}

static int field_leave(int b)
{
    struct field *field = &fields[b];
#pragma omp target exit data map(from : field->values[:N])
#pragma omp target exit data map(from : field[:1])
    return field->values != real[b] || memcmp(real[b], model[b], sizeof(model[b])) != 0;
}

/* clang 19 and 22 pass structures to regions that are tasks by reference, so the task is around the
 * region. */
static void tasks_make(void)
{
    for (int i = 0; i < TASKS; i++) {
        unsigned to = draw(BLOCKS), from = (to + 1 + draw(BLOCKS - 1)) % BLOCKS;
        int kind = i % (int)(sizeof(kinds) / sizeof(*kinds)), death = death_of(i);
        struct setting setting = setting_draw();
        double *x = real[to], *y = real[from];
#pragma omp task depend(inout : x[0]) depend(in : y[0]) firstprivate(kind, x, y, death, setting)
        kinds[kind](x, y, death, setting);
        fields_used += kinds[kind] == region_fields;
        compute(model[to], model[from], &setting);
    }
}

int main(int count, char **words)
{
    int wrong = 0, times = 0;
    for (int i = 0; i < 2; i++)
        deaths[i] = count > 1 + i ? atoi(words[1 + i]) : -1;
    for (int b = 0; b < BLOCKS; b++) {
        for (int n = 0; n < N; n++)
            real[b][n] = model[b][n] = (b * 31 + n * 7) % 101;
        field_enter(b);
    }
#pragma omp parallel num_threads(4)
#pragma omp single
    tasks_make();
    for (int b = 0; b < BLOCKS; b++) {
        wrong += field_leave(b);
        times += fields[b].times;
    }
    printf("%d tasks, %d blocks wrong, %d times by pointers\n", TASKS, wrong, times);
    return wrong || times != fields_used ? 6 : 5;
}
