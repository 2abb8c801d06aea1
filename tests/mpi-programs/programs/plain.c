/* A short program without MPI, as scripts start many of them: "ok plain NUMBER", or what is
 * wrong. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 10000

int main(int count, char **words)
{
    long seed = count > 1 ? atol(words[1]) : 0, wrong = 0, host = 1;
    static long values[COUNT];

    for (int device = 0; device < omp_get_num_devices(); device++) {
#pragma omp target teams distribute parallel for map(from : values) device(device)
        for (long i = 0; i < COUNT; i++)
            values[i] = seed * i;
#pragma omp target map(from : host) device(device)
        host = omp_is_initial_device();
        for (long i = 0; i < COUNT; i++)
            wrong += values[i] != seed * i;
    }
    if (omp_get_num_devices() == 0) {
        printf("wrong plain %ld: there is no device\n", seed);
        return 1;
    }
    if (wrong || host) {
        printf("wrong plain %ld: %ld numbers, on the host %ld\n", seed, wrong, host);
        return 1;
    }
    printf("ok plain %ld\n", seed);
    return 0;
}
