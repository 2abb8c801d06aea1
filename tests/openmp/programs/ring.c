/* test: tier=all libs=-pthread
 * From device to device by several host threads at once: rings, all to all, and halos of the tiles
 * of a torus, whose columns are strided. Some neighbours share a device, the others do not. */
#include <pthread.h>
#include "check.h"

enum { ACROSS = 3, DOWN = 2, THREADS = ACROSS * DOWN, N = 30000, ROUNDS = 3, STEPS = 5 };
enum { ROWS = 20, COLUMNS = 30, TILE = (ROWS + 2) * (COLUMNS + 2) }; /* with a halo */

static int devices, bad[THREADS];
static int *out[THREADS], *in[THREADS][2], *tile[THREADS][2];
static int torus[2][DOWN * ROWS][ACROSS * COLUMNS];
static pthread_barrier_t barrier;

static int device_of(int thread)
{
    return thread % devices;
}

static int value(int round, int from, int to)
{
    return (round * THREADS + from) * THREADS + to + 1;
}

static int *device_memory(int me, size_t numbers)
{
    int *memory = omp_target_alloc(numbers * sizeof(int), device_of(me));
    bad[me] += !memory;
    return memory;
}

static void copy(int me, int *to, int to_thread, const int *from, int from_thread, size_t numbers)
{
    bad[me] += omp_target_memcpy(to, from, numbers * sizeof(int), 0, 0, device_of(to_thread),
                                 device_of(from_thread)) != 0;
}

/* Counts on the device how many of `numbers` are not `first`, `first` + 1, and so on. */
static int wrong(int me, const int *at, int numbers, int first)
{
    int count = 0;
#pragma omp target is_device_ptr(at) firstprivate(numbers, first) map(tofrom                       \
                                                                      : count)                     \
    device(device_of(me))
    for (int i = 0; i < numbers; i++)
        count += at[i] != first + i;
    return count;
}

/* Each passes on what came in the round before. */
static void ring(int me)
{
    int next = (me + 1) % THREADS, *mine = in[me][0];
#pragma omp target is_device_ptr(mine) firstprivate(me) device(device_of(me))
    for (int i = 0; i < N; i++)
        mine[i] = me * N + i;
    for (int round = 0; round < THREADS + 1; round++) {
        pthread_barrier_wait(&barrier);
        copy(me, in[next][1 - round % 2], next, in[me][round % 2], me, N);
    }
    pthread_barrier_wait(&barrier);
    bad[me] += wrong(me, in[me][(THREADS + 1) % 2], N, (me + THREADS - 1) % THREADS * N);
}

/* Another block from each to each, in both directions at once. */
static void all_to_all(int me, int round)
{
    int part = N / THREADS, *mine = out[me], *here = malloc(N * sizeof(int));
#pragma omp target is_device_ptr(mine) firstprivate(me, round, part) device(device_of(me))
    for (int i = 0; i < N; i++)
        mine[i] = value(round, me, i / part) + i % part;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++) {
        int to = (me + i) % THREADS;
        copy(me, in[to][round % 2] + me * part, to, out[me] + to * part, me, part);
    }
    pthread_barrier_wait(&barrier);
    for (int from = 0; from < THREADS; from++)
        bad[me] += wrong(me, in[me][round % 2] + from * part, part, value(round, from, me));
    bad[me] += omp_target_memcpy(here, in[me][round % 2], N * sizeof(int), 0, 0,
                                 omp_get_initial_device(), device_of(me)) != 0;
    for (int i = 0; i < THREADS * part; i++)
        bad[me] += here[i] != value(round, i / part, me) + i % part;
    free(here);
}

/* A part of my tile of `rows` by `columns` becomes that part of a neighbour's. */
static void halo(int me, int to, int which, size_t rows, size_t columns, size_t to_row,
                 size_t to_column, size_t from_row, size_t from_column)
{
    size_t size[2] = {ROWS + 2, COLUMNS + 2}, volume[2] = {rows, columns};
    size_t to_offset[2] = {to_row, to_column}, from_offset[2] = {from_row, from_column};
    bad[me] +=
        omp_target_memcpy_rect(tile[to][which], tile[me][which], sizeof(int), 2, volume, to_offset,
                               from_offset, size, size, device_of(to), device_of(me)) != 0;
}

static void send_halos(int me, int which)
{
    int row = me / ACROSS, column = me % ACROSS;
    int above = (row + DOWN - 1) % DOWN * ACROSS + column;
    int below = (row + 1) % DOWN * ACROSS + column;
    int left = row * ACROSS + (column + ACROSS - 1) % ACROSS;
    int right = row * ACROSS + (column + 1) % ACROSS;
    halo(me, above, which, 1, COLUMNS, ROWS + 1, 1, 1, 1);
    halo(me, below, which, 1, COLUMNS, 0, 1, ROWS, 1);
    halo(me, left, which, ROWS, 1, 1, COLUMNS + 1, 1, 1);
    halo(me, right, which, ROWS, 1, 1, 0, 1, COLUMNS);
}

/* The whole torus to or from the tiles. */
static void place(int me, int which, int to_device)
{
    int host = omp_get_initial_device(), *whole = &torus[0][0][0];
    size_t volume[2] = {ROWS, COLUMNS}, inner[2] = {1, 1};
    size_t outer[2] = {me / ACROSS * ROWS, me % ACROSS * COLUMNS};
    size_t tile_size[2] = {ROWS + 2, COLUMNS + 2}, size[2] = {DOWN * ROWS, ACROSS * COLUMNS};
    if (to_device)
        bad[me] += omp_target_memcpy_rect(tile[me][which], whole, sizeof(int), 2, volume, inner,
                                          outer, tile_size, size, device_of(me), host) != 0;
    else
        bad[me] += omp_target_memcpy_rect(whole, tile[me][which], sizeof(int), 2, volume, outer,
                                          inner, size, tile_size, host, device_of(me)) != 0;
}

static void steps(int me)
{
    int width = COLUMNS + 2;
    place(me, 0, 1);
    for (int step = 0; step < STEPS; step++) {
        int *old = tile[me][step % 2], *new = tile[me][1 - step % 2];
        pthread_barrier_wait(&barrier);
        send_halos(me, step % 2);
        pthread_barrier_wait(&barrier);
#pragma omp target is_device_ptr(old, new) firstprivate(width) device(device_of(me))
        for (int i = 1; i <= ROWS; i++)
            for (int j = 1; j <= COLUMNS; j++) {
                int *at = old + i * width + j;
                new[i * width + j] =
                    (at[0] + 2 * at[-1] + 3 * at[1] + 5 * at[-width] + 7 * at[width]) % 10007;
            }
    }
    pthread_barrier_wait(&barrier);
    place(me, STEPS % 2, 0);
}

static void *work(void *argument)
{
    int me = (int)(long)argument;
    out[me] = device_memory(me, N);
    for (int i = 0; i < 2; i++) {
        in[me][i] = device_memory(me, N);
        tile[me][i] = device_memory(me, TILE);
    }
    pthread_barrier_wait(&barrier);
    ring(me);
    for (int round = 0; round < ROUNDS; round++)
        all_to_all(me, round);
    steps(me);
    pthread_barrier_wait(&barrier);
    omp_target_free(out[me], device_of(me));
    for (int i = 0; i < 2; i++) {
        omp_target_free(in[me][i], device_of(me));
        omp_target_free(tile[me][i], device_of(me));
    }
    return NULL;
}

/* The same steps on the host, without tiles. The result of the tiles is in torus[0]. */
static void check_torus(void)
{
    enum { HEIGHT = DOWN * ROWS, WIDTH = ACROSS * COLUMNS };
    static int wanted[2][HEIGHT][WIDTH];
    int differ = 0;
    memcpy(wanted[0], torus[1], sizeof(torus[1]));
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < HEIGHT; i++)
            for (int j = 0; j < WIDTH; j++) {
                int(*old)[WIDTH] = wanted[step % 2], above = (i + HEIGHT - 1) % HEIGHT;
                wanted[1 - step % 2][i][j] =
                    (old[i][j] + 2 * old[i][(j + WIDTH - 1) % WIDTH] + 3 * old[i][(j + 1) % WIDTH] +
                     5 * old[above][j] + 7 * old[(i + 1) % HEIGHT][j]) %
                    10007;
            }
    for (int i = 0; i < HEIGHT; i++)
        for (int j = 0; j < WIDTH; j++)
            differ += torus[0][i][j] != wanted[STEPS % 2][i][j];
    CHECK_EQUAL(differ, 0);
}

int main(void)
{
    pthread_t threads[THREADS];
    devices = check_devices();
    for (int i = 0; i < DOWN * ROWS * ACROSS * COLUMNS; i++)
        torus[0][0][i] = torus[1][0][i] = i * 37 % 10007;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(bad[i], 0);
    check_torus();
    return finish("ring");
}
