/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parts.c: a region in a library. */
int part(int device, int from)
{
    int sum = 0;

#pragma omp target map(tofrom : sum) device(device)
    for (int i = from; i < from + 10; i++)
        sum += i;
    return sum;
}
