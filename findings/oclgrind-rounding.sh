#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Oclgrind 21.10, the OpenCL device that checks kernels, Debian 12, x86-64. Floats and doubles become integers by
# convert_int_rtp(), which rounds towards positive infinity, and convert_int_rtn(), towards negative infinity.
# Guess: -2.5 becomes -2 by rtp and -3 by rtn, as ceil() and floor() say.
# Seen: for negative numbers the two are exchanged: rtp rounds away from zero, rtn towards it. -2.5 becomes -3 by rtp
# and -2 by rtn, for char and long, in vectors and from doubles as well. Positive numbers are right, and so is
# _sat_rtp, so convert_int_rtp(x) and convert_int_sat_rtp(x) differ with nothing to saturate. Nor are these right:
# isnormal(1e-40f) is 1, mad_sat() of the largest long by 2 is -2, not the largest long, and NaN becomes the smallest
# int by convert_int_sat(), not 0. So a kernel may be found wrong by the checker for what the checker computes.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack oclgrind=21.10-3 liboclgrind-21.10=21.10-3 libllvm14=1:14.0.6-12 \
    ocl-icd-libopencl1=2.3.1-1 opencl-c-headers=3.0~2023.02.06-1

cat >"$folder/try.c" <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

enum { INPUTS = 4, RESULTS = 12, OTHERS = 3 };

static const char *source = "kernel void round(global const float *in, global long *out, long most) {\n"
                            "    float x = in[get_global_id(0)];\n"
                            "    global long *o = out + 12 * get_global_id(0);\n"
                            "    o[0] = convert_int_rtp(x); o[1] = convert_int_rtn(x);\n"
                            "    o[2] = convert_long_rtp(x); o[3] = convert_long_rtn(x);\n"
                            "    o[4] = convert_char4_rtp((float4)x).s1; o[5] = convert_char4_rtn((float4)x).s1;\n"
                            "    o[6] = convert_int_rtp((double)x); o[7] = convert_int_rtn((double)x);\n"
                            "    o[8] = convert_int_sat_rtp(x); o[9] = convert_int_sat_rtn(x);\n"
                            "    o[10] = ceil(x); o[11] = floor(x);\n"
                            "    if (get_global_id(0) == 0) {\n"
                            "        out[48] = isnormal(in[4]);\n"
                            "        out[49] = mad_sat(most, 2l, 0l);\n"
                            "        out[50] = convert_int_sat(in[5]);\n"
                            "    }\n"
                            "}\n";

int main(void)
{
    cl_float in[INPUTS + 2] = {2.5f, -2.5f, -0.5f, -2, 1e-40f, NAN};
    cl_long out[RESULTS * INPUTS + OTHERS], most = LONG_MAX;
    size_t inputs = INPUTS;
    cl_int failed = 0;
    cl_platform_id platform;
    cl_device_id device;

    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    failed |= clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "round", NULL);
    cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(in), in, NULL);
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(out), NULL, NULL);
    failed |= clSetKernelArg(kernel, 0, sizeof(from), &from) | clSetKernelArg(kernel, 1, sizeof(to), &to) |
              clSetKernelArg(kernel, 2, sizeof(most), &most);
    failed |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &inputs, NULL, 0, NULL, NULL);
    failed |= clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL);
    if (failed)
        return 1;
    for (int i = 0; i < INPUTS; i++) {
        const char *names[RESULTS / 2] = {"int", "long", "char4", "from double", "saturated", "ceil and floor"};

        for (int j = 0; j < RESULTS; j += 2)
            printf("%g, %s: %d and %d\n", in[i], names[j / 2], (int)out[RESULTS * i + j],
                   (int)out[RESULTS * i + j + 1]);
    }
    printf("isnormal %d\nmad_sat %lld\nNaN %lld\n", (int)out[RESULTS * INPUTS], (long long)out[RESULTS * INPUTS + 1],
           (long long)out[RESULTS * INPUTS + 2]);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include" "$folder/try.c" "$system/libOpenCL.so.1" -o "$folder/try" || exit 77
export LD_LIBRARY_PATH="$system" OCL_ICD_VENDORS="$folder/usr/lib/oclgrind/liboclgrind-rt-icd.so"
ldd "$OCL_ICD_VENDORS" | grep -q 'not found' && exit 77
saw timeout 60 "$folder/try"
for what in int long char4 'from double'; do
    expect "^2.5, $what: 3 and 2\$"
    expect "^-2.5, $what: -3 and -2\$"
    expect "^-0.5, $what: -1 and 0\$"
    expect "^-2, $what: -2 and -2\$"
done
for what in saturated 'ceil and floor'; do
    expect "^2.5, $what: 3 and 2\$"
    expect "^-2.5, $what: -2 and -3\$"
    expect "^-0.5, $what: 0 and -1\$"
done
expect '^isnormal 1$'
expect '^mad_sat -2$'
expect '^NaN -2147483648$'
exit "$changed"
