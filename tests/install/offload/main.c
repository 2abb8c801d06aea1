/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* main.c: sums on as many devices as it is told to have; anything else is a failure. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int part(int device, int from);

int main(int argc, char **argv)
{
    int devices = argc > 1 ? atoi(argv[1]) : 1, sum = 0, on_host = 1;

    for (int device = 0; device < omp_get_num_devices(); device++)
        sum += part(device, 10 * device);
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    printf("%d devices, sum %d\n", omp_get_num_devices(), sum);
    return omp_get_num_devices() != devices || on_host || sum != 5 * devices * (10 * devices - 1);
}
