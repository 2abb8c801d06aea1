/* Jacobi steps on a grid whose rows are divided among the ranks. The grid stays on the device;
 * each step is a region, and only the rows at the borders come back, go to the neighbours and
 * return. */
#include "ranks.h"

#define WIDTH 64
#define ROWS 24 /* of each rank */
#define STEPS 30

static double start(long row, long column)
{
    return (double)((row * 37 + column * 11) % 101);
}

static void step_in_region(const double *from, double *to, int device)
{
#pragma omp target teams distribute parallel for collapse(2) device(device)                        \
    map(to                                                                                         \
        : from [0:(ROWS + 2) * WIDTH]) map(from                                                    \
                                           : to [0:(ROWS + 2) * WIDTH])
    for (long row = 1; row <= ROWS; row++)
        for (long column = 1; column < WIDTH - 1; column++) {
            long at = row * WIDTH + column;

            to[at] = 0.25 * (from[at - WIDTH] + from[at + WIDTH] + from[at - 1] + from[at + 1]);
        }
}

static void exchange(double *grid, int device)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double *above = grid, *first = grid + WIDTH, *last = grid + (long)ROWS * WIDTH;
    double *below = last + WIDTH;

#pragma omp target update from(first [0:WIDTH], last [0:WIDTH]) device(device)
    MPI_Sendrecv(first, WIDTH, MPI_DOUBLE, up, 1, below, WIDTH, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, WIDTH, MPI_DOUBLE, down, 2, above, WIDTH, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#pragma omp target update to(above [0:WIDTH], below [0:WIDTH]) device(device)
}

/* The whole grid, on the host. */
static double *compute_here(void)
{
    long rows = (long)ROWS * size + 2, count = rows * WIDTH;
    double *from = allocate((size_t)count * sizeof(*from)),
           *to = allocate((size_t)count * sizeof(*to));

    for (long i = 0; i < count; i++)
        from[i] = to[i] = start(i / WIDTH, i % WIDTH);
    for (int step = 0; step < STEPS; step++) {
        for (long row = 1; row < rows - 1; row++)
            for (long column = 1; column < WIDTH - 1; column++) {
                long at = row * WIDTH + column;

                to[at] = 0.25 * (from[at - WIDTH] + from[at + WIDTH] + from[at - 1] + from[at + 1]);
            }
        double *other = from;
        from = to, to = other;
    }
    free(to);
    return from;
}

int main(int count, char **words)
{
    static double grids[2][(ROWS + 2) * WIDTH];
    double *from = grids[0], *to = grids[1];

    ranks_begin(&count, &words, "halo");
    int device = some_device(0);
    check_on_device(device);
    for (long i = 0; i < (ROWS + 2) * WIDTH; i++)
        from[i] = to[i] = start((long)rank * ROWS + i / WIDTH, i % WIDTH);
#pragma omp target data map(tofrom                                                                 \
                            : from [0:(ROWS + 2) * WIDTH], to [0:(ROWS + 2) * WIDTH])              \
    device(device)
    for (int step = 0; step < STEPS; step++) {
        step_in_region(from, to, device);
        exchange(to, device);
        double *other = from;
        from = to, to = other;
    }
    double *whole = compute_here();
    for (long i = WIDTH; i < (ROWS + 1) * WIDTH; i++)
        if (from[i] != whole[(long)rank * ROWS * WIDTH + i]) {
            wrong("row %ld, column %ld is %g, not %g", i / WIDTH, i % WIDTH, from[i],
                  whole[(long)rank * ROWS * WIDTH + i]);
            break;
        }
    free(whole);
    return ranks_end();
}
