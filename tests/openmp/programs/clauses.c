/* test: flags=-fopenmp-version=51 needs=program
 * Clauses that say where a construct runs and how data comes: if, device, defaultmap, ompx_hold,
 * close, present, use_device_addr, use_device_ptr, in_reduction, private. */
#include "check.h"

enum { N = 100 };

static int place(int wanted, int device)
{
    int pid = 0;
#pragma omp target map(from : pid) if (wanted) device(device)
    pid = getpid();
    return pid;
}

/* Constructs for data that are not to be do nothing. */
static void conditional_data(int device, int wanted)
{
    int a[N], seen = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp target data map(to : a) device(device) if (wanted)
    {
        CHECK_EQUAL(omp_target_is_present(a, device), wanted);
        a[3] = 33;
#pragma omp target update to(a [3:1]) device(device) if (!wanted)
#pragma omp target map(tofrom : a) map(from : seen) device(device)
        seen = a[3];
    }
    CHECK_EQUAL(seen, wanted ? 3 : 33);
#pragma omp target enter data map(to : a) device(device) if (wanted)
    CHECK_EQUAL(omp_target_is_present(a, device), wanted);
#pragma omp target exit data map(delete : a) device(device) if (target exit data : wanted)
    CHECK(!omp_target_is_present(a, device));
}

static void defaults(int device)
{
    int scalar = 1, array[N] = {0}, *pointer = array;
    struct pair {
        int first, second;
    } pair = {1, 2};
#pragma omp target device(device)
    {
        scalar = 10;
        array[1] = 11;
        pair.first = 12;
    }
    CHECK_EQUAL(scalar, 1);
    CHECK_EQUAL(array[1], 11);
    CHECK_EQUAL(pair.first, 12);
#pragma omp target device(device) defaultmap(tofrom : scalar)
    scalar = 10;
    CHECK_EQUAL(scalar, 10);
#pragma omp target device(device) defaultmap(to : aggregate)
    array[1] += 5;
    CHECK_EQUAL(array[1], 11);
#pragma omp target device(device) defaultmap(firstprivate : aggregate) defaultmap(from : scalar)
    {
        scalar = array[1] + pair.second;
        array[1] = 0;
        pair.second = 0;
    }
    CHECK_EQUAL(scalar, 13);
    CHECK_EQUAL(array[1], 11);
    CHECK_EQUAL(pair.second, 2);
#pragma omp target data map(tofrom : array) device(device)
#pragma omp target device(device) defaultmap(present : aggregate)
    array[2] = scalar + 1;
    CHECK_EQUAL(array[2], 14);
#pragma omp target data map(tofrom : array) device(device)
#pragma omp target device(device) map(pointer[:0])
    pointer[4] = 44;
    CHECK_EQUAL(array[4], 44);
#pragma omp target device(device) defaultmap(none) map(tofrom : scalar)
    scalar++;
    CHECK_EQUAL(scalar, 14);
}

/* What is held stays through deletion, until it is let go. */
static void holds(int device)
{
    int a[N];
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp target data map(ompx_hold, tofrom : a) device(device)
    {
#pragma omp target enter data map(to : a) device(device)
#pragma omp target exit data map(delete : a) device(device)
        CHECK(omp_target_is_present(a, device));
#pragma omp target exit data map(release : a) device(device)
        CHECK(omp_target_is_present(a, device));
#pragma omp target device(device) map(ompx_hold, tofrom : a)
        a[5] = 55;
        CHECK_EQUAL(a[5], 5);
    }
    CHECK_EQUAL(a[5], 55);
    CHECK(!omp_target_is_present(a, device));
}

static void modifiers(int device)
{
    int a[N] = {0}, b[N] = {0};
#pragma omp target data map(close, tofrom : a) map(tofrom : b) device(device)
    {
#pragma omp target device(device) map(present, always, from : a) map(present, close, to : b)
        {
            a[1] = 1;
            b[1] = 2;
        }
        CHECK_EQUAL(a[1], 1);
        CHECK_EQUAL(b[1], 0);
#pragma omp target update from(present : b [0:2]) device(device)
        CHECK_EQUAL(b[1], 2);
    }
}

static void addresses(int device)
{
    int a[N], x = 5, sum = 0, *p = a;
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp target data map(tofrom                                                                 \
                            : a, x) map(tofrom                                                     \
                                        : p [10:5]) use_device_addr(a, x) device(device)
    {
        int *device_a = a, *device_x = &x;
        CHECK(device_x != NULL);
#pragma omp target is_device_ptr(device_a, device_x) map(tofrom : sum) device(device)
        {
            sum += device_a[7] + *device_x;
            *device_x = 6;
            device_a[8] = 88;
        }
    }
    CHECK_EQUAL(sum, 12);
    CHECK_EQUAL(x, 6);
    CHECK_EQUAL(a[8], 88);
#pragma omp target data map(tofrom : p [20:10]) use_device_ptr(p) device(device)
#pragma omp target is_device_ptr(p) device(device)
    p[25] = 250;
    CHECK_EQUAL(a[25], 250);
}

/* Reductions over tasks that are regions, which clang 14 does not know; private copies. */
static void reductions(int count)
{
    int sum = 0, own = 7;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 8; i++) {
#if __clang_major__ >= 15
#pragma omp target in_reduction(+ : sum) device(i % count) private(own)
#endif
        {
            own = i;
            sum += own;
        }
    }
    CHECK_EQUAL(sum, 28);
    CHECK_EQUAL(own, 7);
}

int main(void)
{
    int count = check_devices(), host = omp_get_initial_device();
    CHECK_EQUAL(host, count);
    for (int d = 0; d < count; d++) {
        CHECK_EQUAL(place(1, d), device_pid(d));
        CHECK_EQUAL(place(0, d), getpid());
        conditional_data(d, 1);
        conditional_data(d, 0);
        defaults(d);
        holds(d);
        modifiers(d);
        addresses(d);
    }
    CHECK_EQUAL(place(1, host), getpid());
    omp_set_default_device(host);
    CHECK_EQUAL(device_pid(omp_get_default_device()), getpid());
    omp_set_default_device(0);
    reductions(count);
    return finish("clauses");
}
