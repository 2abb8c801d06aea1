/* test: env=OMPRMA_LANES=4
 * Many short regions from many threads on workers that run several kernels at a time. None may wait
 * long for its lane. */
#include "check.h"

enum { THREADS = 8, REGIONS = 150, LONGEST_S = 20 };

int main(void)
{
    int count = check_devices(), wrong = 0;
    double begin = omp_get_wtime();
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int i = 0; i < REGIONS; i++) {
        int x = i, device = (omp_get_thread_num() + i) % count;
#pragma omp target map(tofrom : x) device(device)
        x = x * 3 + 1;
        wrong += x != i * 3 + 1;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK(omp_get_wtime() - begin < LONGEST_S);
    return finish("lanes");
}
