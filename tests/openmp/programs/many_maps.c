/* test:
 * 10,000 mappings at once. */
#include "check.h"

enum { N = 10000 };

int main(void)
{
    int **blocks = malloc(N * sizeof(*blocks));
    check_devices();
    for (int i = 0; i < N; i++) {
        int *block = blocks[i] = malloc(sizeof(int) * (size_t)(i % 7 + 1));
        block[0] = i;
#pragma omp target enter data map(to : block [0:i % 7 + 1])
    }
    long sum = 0;
    for (int i = 0; i < N; i += 997) {
        int *block = blocks[i];
#pragma omp target map(tofrom : sum)
        sum += block[0]++;
    }
    int bad = 0;
    for (int i = 0; i < N; i++) {
        int *block = blocks[i];
#pragma omp target exit data map(from : block [0:i % 7 + 1])
        bad += block[0] != i + (i % 997 == 0);
        free(block);
    }
    CHECK_EQUAL(bad, 0);
    CHECK_EQUAL(sum, 997 * 55);
    free(blocks);
    return finish("many_maps");
}
