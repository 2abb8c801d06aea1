/* test: env=OMPRMA_LANES=4 needs=program
 * Workers that run several kernels at a time: regions that wait for each other on one device, and
 * many short ones from many threads. */
#include "check.h"

enum { TOGETHER = 3, THREADS = 8, REGIONS = 150, LONGEST_S = 20 };

#pragma omp declare target
static int arrived;
#pragma omp end declare target

/* Number of regions that were inside together. */
static int meet(int device)
{
    int seen = 0;
#pragma omp target map(tofrom : seen) device(device)
    {
        double begin = omp_get_wtime();
#pragma omp atomic
        arrived++;
        do {
#pragma omp atomic read
            seen = arrived;
        } while (seen < TOGETHER && omp_get_wtime() - begin < LONGEST_S);
    }
    return seen;
}

int main(void)
{
    int count = check_devices(), met = 0, wrong = 0;
#pragma omp parallel num_threads(TOGETHER) reduction(+ : met)
    met += meet(count - 1);
    CHECK_EQUAL(met, TOGETHER * TOGETHER);

#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int i = 0; i < REGIONS; i++) {
        int x = i, device = (omp_get_thread_num() + i) % count;
#pragma omp target map(tofrom : x) device(device)
        x = x * 3 + 1;
        wrong += x != i * 3 + 1;
    }
    CHECK_EQUAL(wrong, 0);
    return finish("lanes");
}
