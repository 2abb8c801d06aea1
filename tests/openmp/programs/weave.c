/* test:
 * Regions as tasks, woven by all kinds of dependences with each other and with tasks of the host:
 * rows that read their neighbours, mutexinoutset, taskgroup, taskloop. */
#include "check.h"

enum { ROWS = 24, LENGTH = 400, ROUNDS = 4 };

static void check_rows(int count)
{
    static int rows[ROWS][LENGTH], expected[ROWS];
    for (int t = 0; t < ROWS; t++) {
        expected[t] = t;
        for (int i = 0; i < LENGTH; i++)
            rows[t][i] = t;
    }
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < ROUNDS; round++)
        for (int t = 0; t < ROWS; t++) {
            int *above = rows[(t + ROWS - 1) % ROWS], *row = rows[t];
            expected[t] += expected[(t + ROWS - 1) % ROWS];
#pragma omp target nowait depend(in                                                                \
                                 : above[0]) depend(inout                                          \
                                                    : row[0]) device((t + round) % count)          \
    map(to                                                                                         \
        : above [0:LENGTH]) map(tofrom                                                             \
                                : row [0:LENGTH])
            for (int i = 0; i < LENGTH; i++)
                row[i] += above[i];
        }
    for (int t = 0; t < ROWS; t++)
        CHECK(rows[t][0] == expected[t] && rows[t][LENGTH - 1] == expected[t]);
}

static void check_counters(void)
{
    int x = 0, y = 0, z = 0;
#pragma omp target enter data map(to : x, y) nowait depend(out : x, y)
    for (int i = 0; i < 20; i++) {
#pragma omp target map(tofrom : x) nowait depend(mutexinoutset : x)
        x += i;
#pragma omp target map(tofrom : y) nowait depend(inout : y)
        y = y * 2 + 1;
    }
#pragma omp target exit data map(from : x, y) nowait depend(inout : x, y)
#pragma omp taskwait
    CHECK_EQUAL(x, 190);
    CHECK_EQUAL(y, (1 << 20) - 1);
#pragma omp taskgroup
    for (int i = 0; i < 10; i++) {
#pragma omp target nowait map(tofrom : z) depend(inout : z)
        z++;
#pragma omp task depend(inout : z) shared(z)
        z += 100;
    }
    CHECK_EQUAL(z, 1010);
}

static void check_loop(int count)
{
    int values[64] = {0}, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop shared(values)
    for (int i = 0; i < 64; i++) {
#pragma omp target map(tofrom : values [i:1]) device(i % count)
        values[i] = i + 1;
    }
    for (int i = 0; i < 64; i++)
        sum += values[i];
    CHECK_EQUAL(sum, 2080);
}

int main(int argc, char **argv)
{
    int count = check_devices(), times = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < times; i++) {
        check_rows(count);
        check_counters();
        check_loop(count);
    }
    return finish("weave");
}
