/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cliffs.c: whether constructs cost the same per part, however many parts they have: data
 * constructs over 1,000 elements and over 10,000, with a mapper and with a list of maps. And
 * whether parts of an array that do not follow each other cost as much as the same by hand. Checks
 * its results. See perf/cliffs.
 *
 *   cliffs [TURNS]     prints lines "RESULT ROW COUNT US", the least microseconds per element, and
 *                      "BESIDE ROW US US LIMIT": the least microseconds of a row, and of what it
 *                      is compared with, and how many times that it may take
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEW = 1000, MANY = 10000, LENGTH = 8 };

struct element {
    int length;
    double *data;
};
#pragma omp declare mapper(struct element e) map(e, e.data [0:e.length])

static struct element elements[MANY];

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

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

typedef void data_entry(void *where, int64_t device, int32_t count, void **bases, void **begins,
                        int64_t *sizes, int64_t *types, void **names, void **mappers);
extern data_entry __tgt_target_data_begin_mapper, __tgt_target_data_end_mapper,
    __tgt_target_data_update_mapper;

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

enum { RELEASE = 0, TO = 1, FROM = 2 };

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

/* ---- parts of an array ----------------------------------------------------------------------- */

enum { EDGE = 128, HALF = EDGE / 2, BLOCK = 512, SIDE = 2 * BLOCK, FIRST = 100 };

static double cube[EDGE][EDGE][EDGE], other[EDGE][EDGE][EDGE], face[EDGE][EDGE];
static double square[SIDE][SIDE], flat[BLOCK][BLOCK];
static void *cube_there;

static void parts_begin(void)
{
    cube_there = omp_target_alloc(sizeof(cube), 0);
    if (!cube_there)
        exit(1);
    memset(cube, 0, sizeof(cube));
    memset(other, 0, sizeof(other));
#pragma omp target enter data map(to : cube, face, square, flat)
}

static void face_to(void)
{
#pragma omp target update to(cube [0:EDGE] [0:EDGE] [0:1])
}

static void face_from(void)
{
#pragma omp target update from(cube [0:EDGE] [0:EDGE] [0:1])
}

static void face_to_by_hand(void)
{
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            face[i][j] = cube[i][j][0];
#pragma omp target update to(face)
}

static void face_from_by_hand(void)
{
#pragma omp target update from(face)
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            cube[i][j][0] = face[i][j];
}

static void block_to(void)
{
#pragma omp target update to(square [FIRST:BLOCK] [FIRST:BLOCK])
}

static void block_from(void)
{
#pragma omp target update from(square [FIRST:BLOCK] [FIRST:BLOCK])
}

static void flat_to(void)
{
#pragma omp target update to(flat)
}

static void flat_from(void)
{
#pragma omp target update from(flat)
}

static void rectangle(void *to, const void *from, int to_device, int from_device)
{
    static const size_t volume[] = {HALF, HALF, HALF}, offset[] = {HALF / 2, HALF / 2, HALF / 2};
    static const size_t extent[] = {EDGE, EDGE, EDGE};
    if (omp_target_memcpy_rect(to, from, sizeof(double), 3, volume, offset, offset, extent, extent,
                               to_device, from_device) != 0)
        exit(1);
}

static void rectangle_to(void)
{
    rectangle(cube_there, cube, 0, omp_get_initial_device());
}

static void rectangle_from(void)
{
    rectangle(cube, cube_there, omp_get_initial_device(), 0);
}

static void rectangle_by_hand(void)
{
    const int first = HALF / 2;
    for (int i = first; i < first + HALF; i++)
        for (int j = first; j < first + HALF; j++)
            memcpy(&other[i][j][first], &cube[i][j][first], HALF * sizeof(double));
    __asm__ volatile("" : : "r"(other) : "memory");
}

/* What came back is what went there: the block and the face were spoilt here meanwhile. */
static void parts_check(void)
{
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++)
            square[FIRST + i][FIRST + j] = i + 3 * j;
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            cube[i][j][0] = i + 3 * j;
    block_to();
    face_to();
    memset(square, 0, sizeof(square));
    memset(cube, 0, sizeof(cube));
    block_from();
    face_from();
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            if (square[FIRST + i][FIRST + j] != i + 3 * j || cube[i][j][0] != i + 3 * j ||
                square[i][FIRST - 1] != 0 || cube[i][j][1] != 0) {
                fprintf(stderr, "cliffs: a part at %d, %d: wrong value\n", i, j);
                exit(1);
            }
}

static const struct beside {
    const char *name;
    void (*run)(void), (*compared)(void);
    double most; /* times what it is compared with */
} besides[] = {
    {"face-to", face_to, face_to_by_hand, 2},
    {"face-from", face_from, face_from_by_hand, 2},
    {"block-to", block_to, flat_to, 1.2},
    {"block-from", block_from, flat_from, 1.2},
    {"rectangle-to", rectangle_to, rectangle_by_hand, 3},
    {"rectangle-from", rectangle_from, rectangle_by_hand, 3},
};

static double took_us(void (*run)(void))
{
    double begin = now_us();
    run();
    return now_us() - begin;
}

/* In turns; the first one does not count. */
static void parts_measure(int turns)
{
    parts_begin();
    parts_check();
    for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++) {
        const struct beside *beside = &besides[i];
        double us = 0, compared_us = 0;
        for (int turn = -1; turn < turns; turn++) {
            double one = took_us(beside->run), other_one = took_us(beside->compared);
            us = turn <= 0 || one < us ? one : us;
            compared_us = turn <= 0 || other_one < compared_us ? other_one : compared_us;
        }
        printf("BESIDE %s %.2f %.2f %.1f\n", beside->name, us, compared_us, beside->most);
    }
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

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

int main(int argc, char **argv)
{
    static const int counts[] = {FEW, MANY};
    double us[ROWS][2]; /* the least */
    int turns = argc > 1 ? atoi(argv[1]) : 11;
    if (turns < 1) {
        fprintf(stderr, "cliffs: needs a number of turns from 1 on\n");
        return 2;
    }
    elements_make();
    for (int turn = -1; turn < turns; turn++) /* the first one does not count */
        for (int size = 0; size < 2; size++)
            for (int row = 0; row < ROWS; row++) {
                double begin = now_us();
                rows[row].run(counts[size]);
                double each = (now_us() - begin) / counts[size];
                if (turn <= 0 || each < us[row][size])
                    us[row][size] = each;
            }
    for (int row = 0; row < ROWS; row++)
        for (int size = 0; size < 2 && rows[row].name; size++)
            printf("RESULT %s %d %.4f\n", rows[row].name, counts[size], us[row][size]);
    parts_measure(4 * turns);
    return 0;
}
