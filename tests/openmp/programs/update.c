/* test:
 * target update: whole, parts, parts of every second row, of globals. Rows one by one: clang 14 to
 * 16 copy too little when one update names parts of several rows. */
#include "check.h"

enum { N = 4096, ROWS = 12, COLUMNS = 10 };

#pragma omp declare target
int table[N];
#pragma omp end declare target

static void check_parts(void)
{
    static int a[N];
#pragma omp target enter data map(to : a)
    for (int i = 0; i < N; i++)
        a[i] = i + 1;
#pragma omp target update to(a [100:50])
#pragma omp target update to(a [3000:1])
    long sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < N; i++)
        sum += a[i];
    CHECK_EQUAL(sum, (101 + 150) * 25 + 3001);
#pragma omp target
    for (int i = 0; i < N; i++)
        a[i] = -1;
#pragma omp target update from(a [7:3])
    CHECK(a[6] == 7 && a[7] == -1 && a[9] == -1 && a[10] == 11);
#pragma omp target exit data map(delete : a)
}

static void check_rows(void)
{
    double m[ROWS][COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        m[0][i] = i;
#pragma omp target data map(to : m)
    {
#pragma omp target
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                m[i][j] += 1000;
        for (int i = 2; i < 7; i += 2) {
            double *row = m[i];
#pragma omp target update from(row [1:4])
        }
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                int chosen = (i == 2 || i == 4 || i == 6) && j >= 1 && j < 5;
                CHECK(m[i][j] == i * COLUMNS + j + (chosen ? 1000 : 0));
            }
    }
}

int main(void)
{
    check_devices();
    check_parts();
    check_rows();
    for (int i = 0; i < N; i++)
        table[i] = i;
#pragma omp target update to(table)
#pragma omp target
    for (int i = 0; i < N; i++)
        table[i] *= 3;
#pragma omp target update from(table [10:10])
    CHECK(table[9] == 9 && table[10] == 30 && table[19] == 57 && table[20] == 20);
    return finish("update");
}
