/* test: tier=all needs=own
 * Parts of arrays that do not follow each other, against a model: target update of
 * blocks, and of what a mapper names of structures, omp_target_memcpy_rect of random ones, both
 * ways, from device to device, and by several threads. LLVM's own runtime copies too little of most
 * (seen with 14 to 22, local device). */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { N = 24, M = 40, ROUNDS = 60, THREADS = 3, FACE = 96, RANK = 5, CELLS = 3000 };

static unsigned next(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

/* ---- target update -------------------------------------------------------------------------- */

#define EACH                                                                                       \
    for (int i = 0; i < N; i++)                                                                    \
        for (int j = 0; j < M; j++)                                                                \
            for (int k = 0; k < M; k++)

static double all[THREADS][N][M][M];

/* A part goes there and another one comes back; what is where is known for each element. Bounds are
 * constants: with others clang passes on whole rows. */
static int update_once(int t)
{
    double(*a)[M][M] = all[t];
    int wrong = 0;
    EACH a[i][j][k] = 1;
#pragma omp target update to(all [t:1])
    EACH a[i][j][k] = 2;
#pragma omp target update to(all [t:1] [1:20] [3:30] [5:31])
#pragma omp target
    EACH all[t][i][j][k] += 10;
    EACH a[i][j][k] = 3;
#pragma omp target update from(all [t:1] [2:21] [1:37] [7:2])
    EACH
    {
        int there = i >= 1 && i < 21 && j >= 3 && j < 33 && k >= 5 && k < 36;
        int back = i >= 2 && i < 23 && j >= 1 && j < 38 && k >= 7 && k < 9;
        wrong += a[i][j][k] != (!back ? 3 : there ? 12 : 11);
    }
    return wrong;
}

/* Each of these has its dimensions on a stack that the next one uses, too, before the first may
 * run. */
static void update_row(double (*a)[4][M], int t, int *order)
{
    // clang-format off
#pragma omp target update from(a[t:1][1:2][3:4]) nowait depend(inout : order[0])
    // clang-format on
}

static int update_later(void)
{
    static double a[N][4][M];
    int wrong = 0, order = 0;
    memset(a, 0, sizeof(a));
#pragma omp target enter data map(to : a)
#pragma omp target nowait depend(inout : order)
    {
        usleep(20000);
        for (int i = 0; i < N * 4; i++)
            for (int k = 0; k < M; k++)
                a[i / 4][i % 4][k] = 1;
    }
    for (int t = 0; t < N; t++)
        update_row(a, t, &order);
#pragma omp taskwait
    for (int i = 0; i < N * 4; i++)
        for (int k = 0; k < M; k++)
            wrong += a[i / 4][i % 4][k] != (i % 4 >= 1 && i % 4 < 3 && k >= 3 && k < 7);
#pragma omp target exit data map(delete : a)
    return wrong;
}

static void check_later(void)
{
    CHECK_EQUAL(update_later(), 0);
#pragma omp parallel num_threads(2)
#pragma omp single
    CHECK_EQUAL(update_later(), 0);
#if __clang_major__ >= 19 /* older ones may crash */
    int order = 0;
#pragma omp task depend(in : order) /* from here on libomp puts tasks in order */
    order++;
    CHECK_EQUAL(update_later(), 0);
#endif
}

static void check_update(void)
{
    int wrong = 0;
#pragma omp target enter data map(alloc : all)
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < ROUNDS / THREADS; round++)
        wrong += update_once(omp_get_thread_num());
    CHECK_EQUAL(wrong, 0);
#pragma omp target exit data map(delete : all)
}

/* A face, of many short runs. */
static void check_face(void)
{
    static double c[FACE][FACE][FACE];
    int wrong = 0;
#pragma omp target enter data map(to : c)
#pragma omp target
    for (int i = 0; i < FACE; i++)
        for (int j = 0; j < FACE; j++)
            c[i][j][5] = i * FACE + j;
#pragma omp target update from(c [0:FACE] [0:FACE] [5:1])
    for (int i = 0; i < FACE; i++)
        for (int j = 0; j < FACE; j++)
            for (int k = 0; k < FACE; k++)
                wrong += c[i][j][k] != (k == 5 ? i * FACE + j : 0);
    CHECK_EQUAL(wrong, 0);
#pragma omp target exit data map(delete : c)
}

/* ---- arrays of structures, by a mapper ------------------------------------------------------- */

struct cell {
    double value;
    int stays[3];
    float few[3];
    char last;
};
#pragma omp declare mapper(cell_parts : struct cell c) map(c.value, c.few, c.last)

/* The section has got what the mapper names, and nothing else has changed. */
static int cells_wrong(const struct cell *cells, int first, int count, int value, int stays)
{
    int wrong = 0;
    for (int i = 0; i < CELLS; i++) {
        const struct cell *c = &cells[i];
        int in = i >= first && i < first + count;
        wrong += c->value != (in ? value + i : -1) || c->few[2] != (in ? value : -1) ||
                 c->last != (in ? value : 0) || c->stays[0] != stays || c->stays[2] != stays;
    }
    return wrong;
}

static void cells_fill(struct cell *cells, int value, int stays)
{
    for (int i = 0; i < CELLS; i++) {
        cells[i] = (struct cell){.value = value < 0 ? value : value + i};
        for (int k = 0; k < 3; k++) {
            cells[i].few[k] = (float)value;
            cells[i].stays[k] = stays;
        }
        cells[i].last = (char)(value < 0 ? 0 : value);
    }
}

static void check_cells(void)
{
    static const int sections[][2] = {{0, CELLS}, {5, 3}, {7, 4}, {100, CELLS - 200}, {9, 1}};
    static struct cell cells[CELLS];
    for (int s = 0; s < 5; s++) {
        const int first = sections[s][0], count = sections[s][1];
        int wrong = 0;
        cells_fill(cells, -1, 1);
#pragma omp target enter data map(to : cells)
        cells_fill(cells, 9, 2);
#pragma omp target update to(mapper(cell_parts) : cells [first:count])
#pragma omp target map(tofrom : wrong)
        wrong = cells_wrong(cells, first, count, 9, 1);
        CHECK_EQUAL(wrong, 0);
        cells_fill(cells, -1, 3);
#pragma omp target update from(mapper(cell_parts) : cells [first:count])
        CHECK_EQUAL(cells_wrong(cells, first, count, 9, 3), 0);
#pragma omp target exit data map(delete : cells)
    }
}

/* ---- omp_target_memcpy_rect ----------------------------------------------------------------- */

struct rectangle {
    int rank;
    size_t element, volume[RANK], to[RANK], from[RANK], to_extent[RANK], from_extent[RANK];
};

static struct rectangle rectangle_of(unsigned *state)
{
    static const size_t elements[] = {1, 2, 4, 8, 12};
    struct rectangle r = {.rank = 1 + (int)(next(state) % RANK)};
    r.element = elements[next(state) % 5];
    for (int d = 0; d < r.rank; d++) {
        unsigned most = r.rank > 3 ? 7 : r.rank == 3 ? 40 : 200;
        r.volume[d] = 1 + next(state) % most;
        r.to[d] = next(state) % 4;
        r.from[d] = next(state) % 4;
        r.to_extent[d] = r.to[d] + r.volume[d] + next(state) % 3;
        r.from_extent[d] = r.from[d] + r.volume[d] + next(state) % 3;
    }
    return r;
}

static size_t bytes_of(const struct rectangle *r, const size_t *extent)
{
    size_t bytes = r->element;
    for (int d = 0; d < r->rank; d++)
        bytes *= extent[d];
    return bytes;
}

static void model_copy(const struct rectangle *r, int level, unsigned char *to,
                       const unsigned char *from)
{
    size_t to_step = r->element, from_step = r->element;
    for (int d = level + 1; d < r->rank; d++) {
        to_step *= r->to_extent[d];
        from_step *= r->from_extent[d];
    }
    for (size_t i = 0; i < r->volume[level]; i++) {
        unsigned char *there = to + (r->to[level] + i) * to_step;
        const unsigned char *here = from + (r->from[level] + i) * from_step;
        if (level == r->rank - 1)
            memcpy(there, here, r->element);
        else
            model_copy(r, level + 1, there, here);
    }
}

static int rect(const struct rectangle *r, void *to, const void *from, int to_device,
                int from_device)
{
    return omp_target_memcpy_rect(to, from, r->element, r->rank, r->volume, r->to, r->from,
                                  r->to_extent, r->from_extent, to_device, from_device);
}

/* From one place to another: host (the initial device) or devices. */
static void rect_once(unsigned *state, int to_device, int from_device)
{
    const int host = omp_get_initial_device();
    struct rectangle r = rectangle_of(state);
    size_t to_bytes = bytes_of(&r, r.to_extent), from_bytes = bytes_of(&r, r.from_extent);
    unsigned char *from = malloc(from_bytes), *to = malloc(to_bytes), *model = malloc(to_bytes);
    void *source = omp_target_alloc(from_bytes, from_device);
    void *target = omp_target_alloc(to_bytes, to_device);
    for (size_t i = 0; i < from_bytes; i++)
        from[i] = (unsigned char)next(state);
    memset(model, 0x55, to_bytes);
    memset(to, 0x55, to_bytes);
    CHECK_EQUAL(omp_target_memcpy(source, from, from_bytes, 0, 0, from_device, host), 0);
    CHECK_EQUAL(omp_target_memcpy(target, to, to_bytes, 0, 0, to_device, host), 0);
    CHECK_EQUAL(rect(&r, target, source, to_device, from_device), 0);
    CHECK_EQUAL(omp_target_memcpy(to, target, to_bytes, 0, 0, host, to_device), 0);
    model_copy(&r, 0, model, from);
    CHECK_EQUAL(memcmp(to, model, to_bytes), 0);
    omp_target_free(source, from_device);
    omp_target_free(target, to_device);
    free(from);
    free(to);
    free(model);
}

static void check_rectangles(void)
{
    const int host = omp_get_initial_device(), last = omp_get_num_devices() - 1;
    const int pairs[][2] = {{0, host}, {host, 0}, {last, host}, {0, last}, {0, 0}};
    unsigned state = 3;
    for (int round = 0; round < ROUNDS; round++)
        rect_once(&state, pairs[round % 5][0], pairs[round % 5][1]);
}

int main(void)
{
    check_update();
    check_face();
    check_cells();
    check_rectangles();
    if (getenv("OMPRMA_WORKERS")) /* else libomp alone makes the tasks */
        check_later();
    return finish("strided");
}
