/* test: args=30
 * Regions that write what they map `to`, which is mapped around them: later regions read what was
 * written, wherever they run, and so does an update. Several run side by side, so that there are
 * others to read; as there is one device, all are told the same number. Argument: rounds.
 */
#include "check.h"

enum { N = 2000, READERS = 6 };

static double x[N], scratch[N], seen[READERS];
static int number[READERS];

static void write_there(double value)
{
#pragma omp target map(to : x) firstprivate(value)
    for (int i = 0; i < N; i++)
        x[i] = value + i;
}

/* In order by `depend`, and not by a word about what is written. */
static void write_in_task(double value)
{
#pragma omp target nowait depend(inout : scratch) map(to : x) firstprivate(value)
    for (int i = 0; i < N; i++)
        x[i] = value + i;
#pragma omp taskwait
}

static void read_there(void)
{
    for (int r = 0; r < READERS; r++) {
        double *to = &seen[r];
#pragma omp target nowait map(to : x) map(from : to [0:1])
        {
            double sum = 0;
            for (int round = 0; round < 400; round++)
                for (int i = 0; i < N; i++)
                    sum += x[i];
            *to = sum / 400;
        }
    }
#pragma omp taskwait
}

/* Nothing that they read keeps these in one place. */
static int count_numbers(void)
{
    int others = 0;
    for (int r = 0; r < READERS; r++) {
        int *own = &number[r];
#pragma omp target nowait map(from : own [0:1])
        {
            volatile double sink = 1;
            for (int i = 0; i < 1000000; i++)
                sink = sink * 0.5;
            *own = omp_get_device_num();
        }
    }
#pragma omp taskwait
    for (int r = 1; r < READERS; r++)
        others += number[r] != number[0];
    return others;
}

static double sum_of(double value)
{
    return N * value + N * (N - 1) / 2.0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 30, wrong = 0;
#pragma omp target data map(to : x) map(alloc : scratch)
    for (int round = 0; round < rounds; round++) {
        if (round % 2)
            write_there(round);
        else
            write_in_task(round);
        read_there();
        for (int r = 0; r < READERS; r++)
            wrong += seen[r] != sum_of(round);
#pragma omp target update from(x [N - 1:1])
        wrong += x[N - 1] != round + N - 1;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(count_numbers(), 0);
    return finish("written");
}
