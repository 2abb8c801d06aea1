/* test: tier=most libs=-lm
 * LU of a sparse matrix of blocks, by tasks of a parallel region: blocks come into being between
 * regions that use others, and dependences name the places of pointers to blocks, not their data.
 */
#include "check.h"

#include <math.h>

enum { BLOCKS = 8, N = 20, SIZE = N * N };

static double *real[BLOCKS][BLOCKS], *model[BLOCKS][BLOCKS];
static int made;

#pragma omp begin declare target
static void factor(double *d)
{
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++) {
            d[i * N + k] /= d[k * N + k];
            for (int j = k + 1; j < N; j++)
                d[i * N + j] -= d[i * N + k] * d[k * N + j];
        }
}

static void to_the_right(const double *d, double *x)
{
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++)
            for (int j = 0; j < N; j++)
                x[i * N + j] -= d[i * N + k] * x[k * N + j];
}

static void below(const double *d, double *x)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            x[i * N + k] /= d[k * N + k];
            for (int j = k + 1; j < N; j++)
                x[i * N + j] -= x[i * N + k] * d[k * N + j];
        }
}

static void subtract(const double *row, const double *column, double *x)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                x[i * N + j] -= row[i * N + k] * column[k * N + j];
}
#pragma omp end declare target

static void fill(void)
{
    unsigned seed = 7;
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++) {
            if (abs(i - j) > 1 && (i + j) % 5 != 0 && (i % 3 != 0 || j % 4 != 0))
                continue;
            double *x = real[i][j] = malloc(SIZE * sizeof(double));
            double *y = model[i][j] = malloc(SIZE * sizeof(double));
            for (int k = 0; k < SIZE; k++)
                y[k] = x[k] = check_draw(&seed, 1000) / 1000.0 + (i == j && k % (N + 1) == 0) * 40;
#pragma omp target enter data map(to : x[:SIZE]) nowait depend(out : real[i][j])
        }
}

static void update(int i, int j, int k)
{
    double *row = real[i][k], *column = real[k][j];
    if (!real[i][j]) {
        double *x = real[i][j] = malloc(SIZE * sizeof(double));
#pragma omp target enter data map(alloc : x[:SIZE]) nowait depend(out : real[i][j])
#pragma omp target nowait depend(inout : real[i][j]) map(from : x[:SIZE])
        for (int n = 0; n < SIZE; n++)
            x[n] = 0;
        made++;
    }
    double *x = real[i][j];
#pragma omp target nowait depend(in                                                                \
                                 : real[i][k], real[k][j]) depend(inout                            \
                                                                  : real[i][j])                    \
    map(to                                                                                         \
        : row[:SIZE], column                                                                       \
        [:SIZE]) map(tofrom                                                                        \
                     : x[:SIZE])
    subtract(row, column, x);
}

static void step(int k)
{
    double *d = real[k][k];
#pragma omp target nowait depend(inout : real[k][k]) map(tofrom : d[:SIZE])
    factor(d);
    for (int j = k + 1; j < BLOCKS; j++) {
        double *right = real[k][j], *down = real[j][k];
        if (right) {
#pragma omp target nowait depend(in                                                                \
                                 : real[k][k]) depend(inout                                        \
                                                      : real[k][j]) map(to                         \
                                                                        : d[:SIZE])                \
    map(tofrom                                                                                     \
        : right[:SIZE])
            to_the_right(d, right);
        }
        if (down) {
#pragma omp target nowait depend(in                                                                \
                                 : real[k][k]) depend(inout                                        \
                                                      : real[j][k]) map(to                         \
                                                                        : d[:SIZE])                \
    map(tofrom                                                                                     \
        : down[:SIZE])
            below(d, down);
        }
    }
    for (int i = k + 1; i < BLOCKS; i++)
        for (int j = k + 1; j < BLOCKS; j++)
            if (real[i][k] && real[k][j])
                update(i, j, k);
}

static void come_home(void)
{
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++) {
            double *x = real[i][j];
            if (x) {
#pragma omp target exit data map(from : x[:SIZE]) nowait depend(inout : real[i][j])
            }
        }
#pragma omp taskwait
}

static void model_step(int k)
{
    factor(model[k][k]);
    for (int j = k + 1; j < BLOCKS; j++) {
        if (model[k][j])
            to_the_right(model[k][k], model[k][j]);
        if (model[j][k])
            below(model[k][k], model[j][k]);
    }
    for (int i = k + 1; i < BLOCKS; i++)
        for (int j = k + 1; j < BLOCKS; j++)
            if (model[i][k] && model[k][j]) {
                if (!model[i][j])
                    model[i][j] = calloc(SIZE, sizeof(double));
                subtract(model[i][k], model[k][j], model[i][j]);
            }
}

static void compare(int i, int j)
{
    CHECK(!real[i][j] == !model[i][j]);
    for (int n = 0; model[i][j] && n < SIZE; n++)
        CHECK(fabs(real[i][j][n] - model[i][j][n]) < 1e-9);
    free(real[i][j]);
    free(model[i][j]);
}

int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        fill();
        for (int k = 0; k < BLOCKS; k++)
            step(k);
        come_home();
    }
    for (int k = 0; k < BLOCKS; k++)
        model_step(k);
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++)
            compare(i, j);
    printf("%d blocks came into being\n", made);
    return finish("sparse");
}
