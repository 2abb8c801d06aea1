/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cliffs_parts.c: whether parts of an array that do not follow each other cost as much as the same
 * by hand, to a device and from it, and whether 100 maps cost as much as one of as many bytes;
 * where there are two devices only the same between them. Checks its results. See perf/cliffs.
 *
 *   cliffs_parts [TURNS]     prints lines "BESIDE ROW us US US LIMIT": the least microseconds of a
 * row, and of what it is compared with, and how many times that it may take
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cliffs.h"

enum { EDGE = 128, HALF = EDGE / 2, BLOCK = 512, SIDE = 2 * BLOCK, FIRST = 100 };

static double cube[EDGE][EDGE][EDGE], other[EDGE][EDGE][EDGE], face[EDGE][EDGE];
static double square[SIDE][SIDE], flat[BLOCK][BLOCK];
static void *cube_there, *square_there[2], *flat_there[2];

static void parts_begin(void)
{
    cube_there = omp_target_alloc(sizeof(cube), 0);
    if (!cube_there)
        exit(1);
    memset(cube, 0, sizeof(cube));
    memset(other, 0, sizeof(other));
#pragma omp target enter data map(to : cube, face, square, flat)
    for (int device = 0; device < 2 && device < omp_get_num_devices(); device++) {
        square_there[device] = omp_target_alloc(sizeof(square), device);
        flat_there[device] = omp_target_alloc(sizeof(flat), device);
        if (!square_there[device] || !flat_there[device])
            exit(1);
    }
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

/* ---- from one device to another -------------------------------------------------------------- */

static void square_block(void *to, int to_device, const void *from, int from_device)
{
    static const size_t volume[] = {BLOCK, BLOCK}, offset[] = {FIRST, FIRST};
    static const size_t extent[] = {SIDE, SIDE};
    if (omp_target_memcpy_rect(to, from, sizeof(double), 2, volume, offset, offset, extent, extent,
                               to_device, from_device) != 0)
        exit(1);
}

static void block_across(void)
{
    square_block(square_there[1], 1, square_there[0], 0);
}

static void flat_across(void)
{
    if (omp_target_memcpy(flat_there[1], flat_there[0], sizeof(flat), 0, 0, 1, 0) != 0)
        exit(1);
}

/* ---- many maps of one construct ---------------------------------------------------------------
 */

enum { MAPS = 100, MAP_BYTES = 1 << 20 };

static char mapped[MAPS][MAP_BYTES];

/* Rows of the array as so many maps of equal size, there and back. */
static void maps_pass(int count)
{
    void *begins[MAPS];
    int64_t sizes[MAPS], types[MAPS];
    for (int i = 0; i < count; i++) {
        begins[i] = mapped[i * (MAPS / count)];
        sizes[i] = (int64_t)sizeof(mapped) / count;
        types[i] = TO | FROM;
    }
    __tgt_target_data_begin_mapper(NULL, 0, count, begins, begins, sizes, types, NULL, NULL);
    __tgt_target_data_end_mapper(NULL, 0, count, begins, begins, sizes, types, NULL, NULL);
}

static void maps_many(void)
{
    maps_pass(MAPS);
}

static void maps_one(void)
{
    maps_pass(1);
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* What came back is what went there, over both devices if there are two: the block and the face
 * were spoilt here meanwhile. */
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
    if (square_there[1]) {
        int host = omp_get_initial_device();
        square_block(square_there[0], 0, square, host);
        block_across();
        memset(square, 0, sizeof(square));
        square_block(square, host, square_there[1], 1);
    }
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
    {"block-between-devices", block_across, flat_across, 1.2},
    {"100-maps-of-1MiB", maps_many, maps_one, 1.3},
};

static double took_us(void (*run)(void))
{
    double begin = now_us();
    run();
    return now_us() - begin;
}

/* In turns; the first one does not count. */
static void measure(const struct beside *beside, int turns)
{
    double us = 0, compared_us = 0;
    for (int turn = -1; turn < turns; turn++) {
        double one = took_us(beside->run), other_one = took_us(beside->compared);
        us = turn <= 0 || one < us ? one : us;
        compared_us = turn <= 0 || other_one < compared_us ? other_one : compared_us;
    }
    printf("BESIDE %s us %.2f %.2f %.1f\n", beside->name, us, compared_us, beside->most);
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 41;
    if (turns < 1) {
        fprintf(stderr, "cliffs_parts: needs a number of turns from 1 on\n");
        return 2;
    }
    parts_begin();
    parts_check();
    memset(mapped, 1, sizeof(mapped));
    for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++)
        if ((besides[i].run == block_across) == (square_there[1] != NULL))
            measure(&besides[i], besides[i].run == maps_many ? (turns + 3) / 4 : turns);
    for (int i = 0; i < MAPS; i++)
        if (mapped[i][i] != 1 || mapped[i][MAP_BYTES - 1] != 1) {
            fprintf(stderr, "cliffs_parts: map %d: wrong value\n", i);
            return 1;
        }
    return 0;
}
