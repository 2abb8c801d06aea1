/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * no_gpu.c: a region with code for AMD GPUs where there is none: there are no devices, and the host
 * computes. With HIP: its library says that there is no device.
 */
#include <stdio.h>

#ifdef HIP
#include <hip/hip_runtime_api.h>

int main(void)
{
    int count = -1;
    hipError_t error = hipGetDeviceCount(&count);

    printf("%d devices, %s\n", count, error == hipErrorNoDevice ? "right" : hipGetErrorName(error));
    return 0;
}
#else
#include <omp.h>

enum { COUNT = 1000 };
static float x[COUNT], y[COUNT];

int main(void)
{
    int host = 0;

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i, y[i] = 1;
#pragma omp target map(to : x) map(tofrom : y, host)
    {
        host = omp_is_initial_device();
        for (int i = 0; i < COUNT; i++)
            y[i] += 2 * x[i];
    }
    for (int i = 0; i < COUNT; i++)
        host &= y[i] == 1 + 2 * (float)i;
    printf("%d devices, %s\n", omp_get_num_devices(), host ? "right" : "wrong");
    return 0;
}
#endif
