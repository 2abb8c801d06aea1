/* test: reference=no needs=worker
 * A region knows the number of its device, in each of its threads and in functions that it calls.
 * On LLVM's local device it is told the host's.
 */
#include "check.h"

enum { THREADS = 4, DEVICES = 64 };

#pragma omp declare target
__attribute__((noinline)) static int number_in_function(void)
{
    return omp_get_device_num();
}
#pragma omp end declare target

static void check_number(int device)
{
    int initial = -1, own = -1, called = -1, others = 0;
#pragma omp target device(device) map(tofrom : initial, own, called, others)
    {
        initial = omp_is_initial_device();
        own = omp_get_device_num();
        called = number_in_function();
#pragma omp parallel num_threads(THREADS) reduction(+ : others)
        others += omp_get_device_num() != device;
    }
    CHECK_EQUAL(initial, 0);
    CHECK_EQUAL(own, device);
    CHECK_EQUAL(called, device);
    CHECK_EQUAL(others, 0);
}

/* All at once, so that each worker runs several devices' regions beside each other. */
static void check_all_at_once(int devices)
{
    int numbers[DEVICES];
    for (int device = 0; device < devices; device++) {
#pragma omp target device(device) nowait map(from : numbers [device:1])
        numbers[device] = omp_get_device_num();
    }
#pragma omp taskwait
    for (int device = 0; device < devices; device++)
        CHECK_EQUAL(numbers[device], device);
}

int main(void)
{
    int devices = omp_get_num_devices(), on_host = -1;
    check_devices();
    for (int device = 0; device < devices; device++)
        check_number(device);
    check_all_at_once(devices < DEVICES ? devices : DEVICES);
#pragma omp target device(omp_get_initial_device()) map(from : on_host)
    on_host = omp_get_device_num();
    CHECK_EQUAL(on_host, omp_get_initial_device());
    return finish("numbers");
}
