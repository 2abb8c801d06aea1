/* test: reference=no needs=worker
 * A region knows the number of its device, in each of its threads and in functions that it calls.
 * On LLVM's local device it is told the host's. Functions take -1 for the host, as any construct
 * does where that is the default device; and each device has a name of its own.
 */
#include "check.h"

/* Of libomptarget 22; the runtime has them for all. */
__attribute__((weak)) const char *omp_get_uid_from_device(int device);
__attribute__((weak)) int omp_get_device_from_uid(const char *uid);

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

/* -1 is omp_initial_device, which older omp.h do not have. */
static void check_host(int device)
{
    int initial = omp_get_initial_device(), on_host = 0, given = 4, taken = 0;
    int *here = omp_target_alloc(sizeof(*here), -1),
        *there = omp_target_alloc(sizeof(*there), device);
    const size_t one[] = {1}, none[] = {0};
    CHECK(here && there);
    *here = 3;
    CHECK(omp_target_is_present(&given, -1));
    CHECK_EQUAL(omp_target_memcpy(there, &given, sizeof(given), 0, 0, device, -1), 0);
    CHECK_EQUAL(omp_target_memcpy(&taken, there, sizeof(taken), 0, 0, -1, device), 0);
    CHECK_EQUAL(taken, 4);
    CHECK_EQUAL(omp_target_memcpy_rect(&taken, here, sizeof(taken), 1, one, none, none, one, one,
                                       initial, -1),
                0);
    CHECK_EQUAL(taken, 3);
    CHECK(omp_target_associate_ptr(&given, here, sizeof(given), 0, -1) != 0);
    omp_target_free(there, device);
    omp_target_free(here, -1);
    omp_set_default_device(-1);
#pragma omp target map(tofrom : on_host)
    on_host += omp_is_initial_device() != 0;
#pragma omp target enter data map(to : given)
#pragma omp target update to(given)
#pragma omp target exit data map(from : given)
    omp_set_default_device(initial);
#pragma omp target map(tofrom : on_host)
    on_host += omp_is_initial_device() != 0;
    CHECK_EQUAL(on_host, 2);
    omp_set_default_device(0);
}

static void check_names(int devices)
{
    char names[DEVICES][128];
    for (int device = 0; device <= devices && device < DEVICES; device++) {
        snprintf(names[device], sizeof(names[device]), "%s", omp_get_uid_from_device(device));
        CHECK_EQUAL(omp_get_device_from_uid(names[device]), device);
        CHECK(!strstr(names[device], "null"));
        for (int other = 0; other < device; other++)
            CHECK(strcmp(names[other], names[device]) != 0);
    }
    CHECK(strcmp(omp_get_uid_from_device(-1), omp_get_uid_from_device(devices)) == 0);
    CHECK(!omp_get_uid_from_device(-2) && !omp_get_uid_from_device(devices + 1));
    CHECK_EQUAL(omp_get_device_from_uid("nobody"), -2);
}

int main(void)
{
    int devices = omp_get_num_devices(), on_host = -1;
    check_devices();
    for (int device = 0; device < devices; device++)
        check_number(device);
    check_host(devices - 1);
    check_names(devices);
    check_all_at_once(devices < DEVICES ? devices : DEVICES);
#pragma omp target device(omp_get_initial_device()) map(from : on_host)
    on_host = omp_get_device_num();
    CHECK_EQUAL(on_host, omp_get_initial_device());
    return finish("numbers");
}
