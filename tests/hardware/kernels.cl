// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.cl: what programs of tests/hardware and perf/gpu have GPUs compute; compiled as OpenCL C for GPUs
// of both kinds, where no library for the device is needed, and as C for the stand-ins for their drivers,
// which call each kernel once, with the whole range. Each is right for any number of threads in one
// dimension, in groups of 64.
#ifdef __NVPTX__
#define INDEX \
    (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define STEP (__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#elif defined(__AMDGCN__)
#define INDEX \
    (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())
#define STEP (__builtin_amdgcn_grid_size_x())
#else
#define INDEX 0
#define STEP 1
#define __kernel
#define __global
typedef unsigned long ulong;
#endif

// Adds to bytes.
__kernel void add(__global unsigned char *at, ulong bytes, ulong value)
{
    for (ulong i = INDEX; i < bytes; i += STEP)
        at[i] += value;
}

__kernel void saxpy(__global float *y, __global const float *x, ulong count, ulong a)
{
    for (ulong i = INDEX; i < count; i += STEP)
        y[i] += (float)a * x[i];
}

// c = a * b, n by n each.
__kernel void matrix(__global float *c, __global const float *a, __global const float *b, ulong n)
{
    for (ulong at = INDEX; at < n * n; at += STEP) {
        float sum = 0;
        for (ulong k = 0; k < n; k++)
            sum += a[at / n * n + k] * b[k * n + at % n];
        c[at] = sum;
    }
}

// Adds all numbers to *total, by an atomic of each thread.
__kernel void sum(__global ulong *total, __global const ulong *numbers, ulong count)
{
    ulong own = 0;
    for (ulong i = INDEX; i < count; i += STEP)
        own += numbers[i];
    __atomic_fetch_add(total, own, __ATOMIC_RELAXED);
}

// Writes where there is no memory.
__kernel void fault(ulong address)
{
    *(volatile __global ulong *)address = 1;
}
