/* test: tier=all
 * Where regions run: on each device, on the host if asked for. */
#include "check.h"

int main(void)
{
    int count = check_devices(), host_pid = 0, initial = -1;
    for (int i = 0; i < count; i++) {
#pragma omp target device(i) map(from : initial)
        initial = omp_is_initial_device();
        CHECK_EQUAL(initial, 0);
    }
#pragma omp target if (0) map(from : host_pid, initial)
    {
        host_pid = getpid();
        initial = omp_is_initial_device();
    }
    CHECK_EQUAL(host_pid, getpid());
    CHECK_EQUAL(initial, 1);
#pragma omp target device(omp_get_initial_device()) map(from : host_pid)
    host_pid = getpid();
    CHECK_EQUAL(host_pid, getpid());
    CHECK_EQUAL(omp_get_initial_device(), count);
    return finish("hello");
}
