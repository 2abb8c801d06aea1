/* equal.h: regions that the program and its library have under the same names, each with a value of
 * its own, EQUAL_VALUE. */
#ifndef OMPRMA_TESTS_OPENMP_EQUAL_H
#define OMPRMA_TESTS_OPENMP_EQUAL_H

#pragma omp declare target
static int equal_kept = EQUAL_VALUE;
#pragma omp end declare target

static int equal_value(int device)
{
    int x = 0;
#pragma omp target map(from : x) device(device)
    x = EQUAL_VALUE;
    return x;
}

static int equal_count(int device)
{
    int x = 0;
#pragma omp target map(from : x) device(device) nowait depend(out : x)
    x = equal_kept += EQUAL_VALUE;
#pragma omp taskwait
    return x;
}

static int equal_sum(int device)
{
    int x = 0;
#pragma omp target teams distribute parallel for reduction(+ : x) map(tofrom : x) device(device)
    for (int i = 0; i < 10; i++)
        x += EQUAL_VALUE;
    return x;
}

#endif
