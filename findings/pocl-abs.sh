#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pocl 3.1, the OpenCL device on the host, with LLVM 15, Debian 12, x86-64. abs(x) of the smallest int and long, and
# abs_diff(x, y) of the smallest and the largest, which come from a buffer.
# Guess: 2147483648, in whatever way one looks at it. In C, abs(INT_MIN) is undefined; in OpenCL C the results of abs()
# and abs_diff() are unsigned, and hold it.
# Seen: what is stored is 2147483648, but the same kernel finds that it is not equal to 2147483648, and that shifted
# right by 31 bits it is 0. So it is for long and in vectors, and abs_diff() is not equal to 4294967295, either. pocl
# computes both by the abs() of C, whose result LLVM takes for one that is not negative. Other numbers are right, and
# so are char and short. With -cl-opt-disable all is right, so what a kernel decides depends on the optimizer.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libpocl2=3.1-3+deb12u1 libpocl2-common=3.1-3+deb12u1 libclang-cpp15=1:15.0.6-4+b1 libllvm15=1:15.0.6-4+b1 \
    libhwloc15=2.9.0-1 ocl-icd-libopencl1=2.3.1-1 opencl-c-headers=3.0~2023.02.06-1

cat >"$folder/try.c" <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <limits.h>
#include <stdio.h>

enum { RESULTS = 4, TRIES = 8 };

static const char *source =
    "void look(global long *see, ulong got, ulong expected, ulong top) {\n"
    "    see[0] = got; see[1] = got == expected; see[2] = top; see[3] = expected; }\n"
    "kernel void try(global const int *i, global const long *l, global long *see) {\n"
    "    uint a = abs(i[0]), b = abs(i[1]), d = abs_diff(i[0], i[2]);\n"
    "    ulong c = abs(l[0]), e = abs_diff(l[0], l[1]);\n"
    "    uint4 v = abs((int4)(i[1], i[0], i[1], i[1]));\n"
    "    ushort s = abs((short)i[3]);\n"
    "    uchar h = abs((char)i[4]);\n"
    "    look(see, a, 2147483648u, a >> 31);\n"
    "    look(see + 4, b, 5, b >> 31);\n"
    "    look(see + 8, c, 9223372036854775808ul, c >> 63);\n"
    "    look(see + 12, v.y, 2147483648u, v.y >> 31);\n"
    "    look(see + 16, d, 4294967295u, d >> 31);\n"
    "    look(see + 20, e, 18446744073709551615ul, e >> 63);\n"
    "    look(see + 24, s, 32768, s >> 15);\n"
    "    look(see + 28, h, 128, h >> 7);\n"
    "}\n";

int main(int argc, char **argv)
{
    static const char *names[TRIES] = {"int", "another int", "long", "int4", "difference of int", "difference of long",
                                       "short", "char"};
    cl_int ints[] = {INT_MIN, -5, INT_MAX, SHRT_MIN, SCHAR_MIN}, failed = 0;
    cl_long longs[] = {LONG_MIN, LONG_MAX}, see[TRIES * RESULTS] = {0};
    size_t one = 1;
    cl_platform_id platform;
    cl_device_id device;

    if (argc != 2 || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    failed |= clBuildProgram(program, 1, &device, argv[1], NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "try", NULL);
    cl_mem buffers[] = {
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(ints), ints, NULL),
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(longs), longs, NULL),
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(see), see, NULL),
    };
    for (int i = 0; i < 3; i++)
        failed |= clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
    failed |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    failed |= clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof(see), see, 0, NULL, NULL);
    if (failed)
        return 1;
    for (int i = 0; i < TRIES; i++)
        printf("%s: %s, %sequal, highest bit %d\n", names[i],
               see[RESULTS * i] == see[RESULTS * i + 3] ? "right" : "wrong", see[RESULTS * i + 1] ? "" : "not ",
               (int)see[RESULTS * i + 2]);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include" "$folder/try.c" "$system/libOpenCL.so.1" -o "$folder/try" || exit 77
LD_LIBRARY_PATH=$system ldd "$system/libpocl.so.2" | grep -q 'not found' && exit 77

# shellcheck disable=SC2317 # saw calls it
built() { # OPTIONS
    echo "options '$1'"
    LD_LIBRARY_PATH=$system OCL_ICD_VENDORS=$system/libpocl.so.2 POCL_CACHE_DIR=$folder/cache POCL_DEVICES=basic \
        timeout 60 "$folder/try" "$1"
}

saw built ''
expect '^another int: right, equal, highest bit 0$'
expect '^int: right, not equal, highest bit 0$'
expect '^long: right, not equal, highest bit 0$'
expect '^int4: right, not equal, highest bit 0$'
expect '^difference of int: right, not equal, highest bit '
expect '^difference of long: right, not equal, highest bit '
expect '^short: right, equal, highest bit 1$'
expect '^char: right, equal, highest bit 1$'
saw built -cl-opt-disable
for what in int long int4 'difference of int' 'difference of long' short char; do
    expect "^$what: right, equal, highest bit 1\$"
done
exit "$changed"
