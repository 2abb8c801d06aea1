/* test: needs=own env=OMP_WAIT_POLICY=passive
 * Barriers that many threads come to one soon after the other, while nowait regions of tasks that
 * are over still land: none lets a thread pass before all that was made before is done. */
#include "check.h"

enum { ROUNDS = 1000, TASKS = 6, THREADS = 8 };

static void start(int *values, int round, int devices)
{
    for (int i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i)
    {
#pragma omp target nowait map(from : values [i:1]) device(i % devices)
        values[i] = round + i;
    }
}

static int count_wrong(const int *values, int round)
{
    int wrong = 0;
    for (int i = 0; i < TASKS; i++)
        wrong += values[i] != round + i;
    return wrong;
}

int main(void)
{
    int devices = check_devices(), values[TASKS] = {0}, others[TASKS] = {0}, wrong = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp single
        start(values, round, devices);
        wrong += count_wrong(values, round);
#pragma omp barrier
#pragma omp master
        start(others, round, devices);
#pragma omp barrier
        wrong += count_wrong(others, round);
    }
    CHECK_EQUAL(wrong, 0);
    return finish("nowait_barriers");
}
