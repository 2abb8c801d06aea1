/* test:
 * A real iteration: a grid split over the devices, borders exchanged by update. */
#include "check.h"

enum { ROWS = 96, COLUMNS = 128, STEPS = 20, MOST = 8 };

static double grid[2][ROWS][COLUMNS], alone[2][ROWS][COLUMNS];

static void reference(void)
{
    for (int s = 0; s < STEPS; s++)
        for (int i = 1; i < ROWS - 1; i++)
            for (int j = 1; j < COLUMNS - 1; j++)
                alone[~s & 1][i][j] = 0.25 * (alone[s & 1][i - 1][j] + alone[s & 1][i + 1][j] +
                                              alone[s & 1][i][j - 1] + alone[s & 1][i][j + 1]);
}

static void step(int device, int from, int first, int last)
{
#pragma omp target teams distribute parallel for collapse(2) device(device) map(to : grid)
    for (int i = first; i < last; i++)
        for (int j = 1; j < COLUMNS - 1; j++)
            grid[!from][i][j] = 0.25 * (grid[from][i - 1][j] + grid[from][i + 1][j] +
                                        grid[from][i][j - 1] + grid[from][i][j + 1]);
}

int main(void)
{
    int count = check_devices(), first[MOST + 1];
    count = count > 3 ? 3 : count;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            grid[0][i][j] = grid[1][i][j] = alone[0][i][j] = alone[1][i][j] = i ? 0 : j;
    for (int d = 0; d <= count; d++)
        first[d] = 1 + d * (ROWS - 2) / count;
    for (int d = 0; d < count; d++) {
#pragma omp target enter data map(to : grid) device(d)
    }
    for (int s = 0; s < STEPS; s++) {
        int to = ~s & 1;
        for (int d = 0; d < count; d++)
            step(d, s & 1, first[d], first[d + 1]);
        for (int d = 1; d < count; d++) {
            int row = first[d];
#pragma omp target update from(grid [to:1] [row:1] [0:COLUMNS]) device(d)
#pragma omp target update to(grid [to:1] [row:1] [0:COLUMNS]) device(d - 1)
#pragma omp target update from(grid [to:1] [row - 1:1] [0:COLUMNS]) device(d - 1)
#pragma omp target update to(grid [to:1] [row - 1:1] [0:COLUMNS]) device(d)
        }
    }
    for (int d = 0; d < count; d++) {
        int rows = first[d + 1] - first[d], row = first[d];
#pragma omp target update from(grid [STEPS & 1:1] [row:rows] [0:COLUMNS]) device(d)
#pragma omp target exit data map(delete : grid) device(d)
    }
    reference();
    CHECK(memcmp(grid[STEPS & 1], alone[STEPS & 1], sizeof(grid[0])) == 0);
    printf("middle %.12f\n", grid[STEPS & 1][3][COLUMNS / 2]);
    return finish("jacobi");
}
