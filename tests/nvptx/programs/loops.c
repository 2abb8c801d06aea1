/* loops.c: OpenACC loops, data regions and asynchronous queues; for gcc. */
#include <openacc.h>
#include <stdio.h>
#include <string.h>

#ifndef KIND
#define KIND acc_device_nvidia
#endif

enum { MANY = 100000 };

static double x[MANY], y[MANY];

int main(void)
{
    double sum = 0;
    int right = acc_get_num_devices(KIND) > 0;

    for (int i = 0; i < MANY; i++)
        x[i] = i % 100;
#pragma acc data copyin(x) copyout(y)
    {
#pragma acc parallel loop present(x, y) async(1)
        for (int i = 0; i < MANY; i++)
            y[i] = x[i] + 1;
#pragma acc parallel loop present(y) async(1)
        for (int i = 0; i < MANY; i++)
            y[i] *= 2;
#pragma acc wait(1)
#pragma acc parallel loop present(y) reduction(+ : sum)
        for (int i = 0; i < MANY; i++)
            sum += y[i];
    }
    for (int i = 0; i < MANY; i++)
        right &= y[i] == 2 * (x[i] + 1);
    right &= sum == 2 * (MANY / 100 * 4950.0 + MANY);
    puts(right ? "right" : "wrong");
    return !right;
}
