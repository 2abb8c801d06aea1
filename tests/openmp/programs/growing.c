/* test: env=OMPRMA_ARENA=1M
 * Several threads run out of device memory on the same devices at once, give it back, and copy
 * between devices meanwhile: arenas come and go. */
#include "check.h"

enum { THREADS = 5, ROUNDS = 12, BYTES = 3 << 20 };

/* Host to one device, to another, a region in between, back without the first byte. */
static int wrong_after_round(unsigned char *there, unsigned char *back, int seed)
{
    int count = omp_get_num_devices(), host = omp_get_initial_device();
    int first = seed % count, second = (seed + 1) % count, answer = seed;
    size_t bytes = BYTES + (size_t)(seed % 7) * 4097;
    void *p = omp_target_alloc(bytes, first), *q = omp_target_alloc(bytes, second);
    int wrong = !p || !q;
    for (size_t i = 0; i < bytes; i++)
        there[i] = (unsigned char)(i / 61 + (size_t)seed);
    memset(back, 0, bytes);
    wrong += omp_target_memcpy(p, there, bytes, 0, 0, first, host) != 0;
#pragma omp target map(tofrom : answer) device(second)
    answer += 5;
    wrong += answer != seed + 5;
    wrong += omp_target_memcpy(q, p, bytes, 0, 0, second, first) != 0;
    wrong += omp_target_memcpy(back, q, bytes - 1, 1, 1, host, second) != 0;
    wrong += back[0] != 0 || memcmp(there + 1, back + 1, bytes - 1) != 0;
    omp_target_free(p, first);
    omp_target_free(q, second);
    return wrong;
}

int main(void)
{
    check_devices();
    int wrong = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        unsigned char *there = malloc(2 * BYTES), *back = malloc(2 * BYTES);
        for (int round = 0; round < ROUNDS; round++)
            wrong += wrong_after_round(there, back, round * THREADS + omp_get_thread_num());
        free(there);
        free(back);
    }
    CHECK_EQUAL(wrong, 0);
    return finish("growing");
}
