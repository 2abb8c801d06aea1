/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cliffs.c: whether constructs cost the same per part, however many parts they have: data
 * constructs over 1,000 elements and over 10,000, with a mapper and with a list of maps; 60 copies
 * of a few KiB one after the other, which the memory that carries them holds, and 200, which it
 * does not. Checks its results. See perf/cliffs.
 *
 *   cliffs [TURNS]     prints lines "RESULT ROW COUNT US", the least microseconds per part
 */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cliffs.h"

enum { FEW = 1000, MANY = 10000, LENGTH = 8 };

struct element {
    int length;
    double *data;
};
#pragma omp declare mapper(struct element e) map(e, e.data [0:e.length])

static struct element elements[MANY];

static void elements_make(void)
{
    for (int i = 0; i < MANY; i++) {
        elements[i] = (struct element){LENGTH, malloc(LENGTH * sizeof(double))};
        if (!elements[i].data)
            exit(1);
    }
}

/* ---- a mapper ------------------------------------------------------------------------------- */

static void mapper_enter(int count)
{
#pragma omp target enter data map(to : elements [0:count])
}

static void mapper_update_to(int count)
{
#pragma omp target update to(elements [0:count])
}

static void mapper_update_from(int count)
{
#pragma omp target update from(elements [0:count])
}

static void mapper_exit_from(int count)
{
#pragma omp target exit data map(from : elements [0:count])
}

static void mapper_exit_release(int count)
{
#pragma omp target exit data map(release : elements [0:count])
}

static void mapper_region(int count)
{
#pragma omp target map(tofrom : elements [0:count])
    for (int i = 0; i < count; i++)
        elements[i].data[0]++;
}

/* ---- a list of maps, as compilers pass it ---------------------------------------------------- */

static void list_pass(data_entry *entry, int count, int64_t type)
{
    static void *begins[MANY];
    static int64_t sizes[MANY], types[MANY];
    for (int i = 0; i < count; i++) {
        begins[i] = elements[i].data;
        sizes[i] = LENGTH * sizeof(double);
        types[i] = type;
    }
    entry(NULL, -1, count, begins, begins, sizes, types, NULL, NULL);
}

static void list_enter(int count)
{
    list_pass(__tgt_target_data_begin_mapper, count, TO);
}

static void list_update_to(int count)
{
    list_pass(__tgt_target_data_update_mapper, count, TO);
}

static void list_update_from(int count)
{
    list_pass(__tgt_target_data_update_mapper, count, FROM);
}

static void list_exit_from(int count)
{
    list_pass(__tgt_target_data_end_mapper, count, FROM);
}

static void list_exit_release(int count)
{
    list_pass(__tgt_target_data_end_mapper, count, RELEASE);
}

/* ---- what both need, and is not timed -------------------------------------------------------- */

static void values_make(int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < LENGTH; k++)
            elements[i].data[k] = i + k;
}

static void values_spoil(int count)
{
    for (int i = 0; i < count; i++)
        memset(elements[i].data, 0, LENGTH * sizeof(double));
}

static void values_check(int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < LENGTH; k++)
            if (elements[i].data[k] != i + k) {
                fprintf(stderr, "cliffs: element %d of %d: wrong value\n", i, count);
                exit(1);
            }
}

static void region_check(int count)
{
    for (int i = 0; i < count; i++)
        elements[i].data[0]--;
    values_check(count);
}

/* ---- copies one after the other ---------------------------------------------------------------
 */

enum { COPIES_MOST = 200, KIB = 1024, COPY_MOST = 8 * KIB };

static char copied[COPIES_MOST * COPY_MOST];
static void *copied_there;

static void copy(size_t at, size_t bytes, bool out)
{
    int device = 0, host = omp_get_initial_device();
    if (omp_target_memcpy(out ? copied_there : copied, out ? copied : copied_there, bytes, at, at,
                          out ? device : host, out ? host : device) != 0)
        exit(1);
}

/* They are over when a byte of the last one has come back. */
static void copies_to(int count, size_t bytes)
{
    size_t last = (size_t)count * bytes - 1;
    copied[last] = 1;
    for (int i = 0; i < count; i++)
        copy((size_t)i * bytes, bytes, true);
    copied[last] = 0;
    copy(last, 1, false);
    if (copied[last] != 1) {
        fprintf(stderr, "cliffs: copy %d of %zu bytes: wrong value\n", count - 1, bytes);
        exit(1);
    }
}

static void copies_from(int count, size_t bytes)
{
    for (int i = 0; i < count; i++)
        copy((size_t)i * bytes, bytes, false);
}

static void copies_to_4(int count)
{
    copies_to(count, 4 * KIB);
}

static void copies_to_8(int count)
{
    copies_to(count, 8 * KIB);
}

static void copies_from_4(int count)
{
    copies_from(count, 4 * KIB);
}

static void copies_from_8(int count)
{
    copies_from(count, 8 * KIB);
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* Called in this order, with each count in turns. A row without a name is not timed. */
static const struct row {
    const char *name;
    void (*run)(int count);
} rows[] = {
    {NULL, values_spoil},
    {"mapper-enter", mapper_enter},
    {NULL, values_make},
    {"mapper-update-to", mapper_update_to},
    {NULL, values_spoil},
    {"mapper-update-from", mapper_update_from},
    {NULL, values_check},
    {NULL, values_spoil},
    {"mapper-exit-from", mapper_exit_from},
    {NULL, values_check},
    {NULL, mapper_enter},
    {"mapper-exit-release", mapper_exit_release},
    {"mapper-region", mapper_region},
    {NULL, region_check},

    {NULL, values_spoil},
    {"list-enter", list_enter},
    {NULL, values_make},
    {"list-update-to", list_update_to},
    {NULL, values_spoil},
    {"list-update-from", list_update_from},
    {NULL, values_check},
    {NULL, values_spoil},
    {"list-exit-from", list_exit_from},
    {NULL, values_check},
    {NULL, list_enter},
    {"list-exit-release", list_exit_release},
};

static const struct row copies[] = {
    {"copies-to-of-4KiB", copies_to_4},
    {"copies-to-of-8KiB", copies_to_8},
    {"copies-from-of-4KiB", copies_from_4},
    {"copies-from-of-8KiB", copies_from_8},
};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The first turn does not count. */
static void measure(const struct row *row, int row_count, const int counts[2], int turns)
{
    double us[COUNT_OF(rows)][2]; /* the least */
    for (int turn = -1; turn < turns; turn++)
        for (int size = 0; size < 2; size++)
            for (int i = 0; i < row_count; i++) {
                double begin = now_us();
                row[i].run(counts[size]);
                double each = (now_us() - begin) / counts[size];
                if (turn <= 0 || each < us[i][size])
                    us[i][size] = each;
            }
    for (int i = 0; i < row_count; i++)
        for (int size = 0; size < 2 && row[i].name; size++)
            printf("RESULT %s %d %.4f\n", row[i].name, counts[size], us[i][size]);
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 11;
    if (turns < 1) {
        fprintf(stderr, "cliffs: needs a number of turns from 1 on\n");
        return 2;
    }
    elements_make();
    copied_there = omp_target_alloc(sizeof(copied), 0);
    if (!copied_there)
        return 1;
    measure(rows, COUNT_OF(rows), (const int[]){FEW, MANY}, turns);
    measure(copies, COUNT_OF(copies), (const int[]){60, COPIES_MOST}, 4 * turns);
    omp_target_free(copied_there, 0);
    return 0;
}
