/* test: tier=few
 * 100,000 regions; the memory of the process that runs them does not grow. */
#include "check.h"

#pragma omp declare target
/* Resident pages of the process. */
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &size, &pages) != 2)
            pages = 0;
        fclose(file);
    }
    return pages;
}
#pragma omp end declare target

static long resident_on_device(void)
{
    long pages = 0;
#pragma omp target map(from : pages)
    pages = resident();
    return pages;
}

/* A function of its own: clang 16 takes stack anew for each region that it meets in a loop. */
static void __attribute__((noinline)) region(int *value, int *array, int i)
{
#pragma omp target map(tofrom : value [0:1], array [0:16])
    {
        value[0]++;
        array[i % 16] = i;
    }
}

static int regions(int count)
{
    int value = 0, array[16] = {0};
    for (int i = 0; i < count; i++)
        region(&value, array, i);
    return value + array[(count - 1) % 16] - (count - 1);
}

int main(void)
{
    check_devices();
    CHECK_EQUAL(regions(5000), 5000);
    long device_before = resident_on_device(), host_before = resident();
    CHECK_EQUAL(regions(95000), 95000);
    long device_growth = resident_on_device() - device_before;
    CHECK(device_growth < 256);
    CHECK(resident() - host_before < 256);
    return finish("many_regions");
}
