/* test: needs=own
 * Values where an address would be none, near the end and near nothing, by all ways that there are
 * for them; and what is said of what a pointer points to, which is not said of what holds the
 * pointer: present, always, delete and release of inner and outer things, in any order. (LLVM's
 * libomptarget 14 makes pointers to what is not mapped null, 16 to 19 those of use_device_ptr; up
 * to 19 a pointer counts for what holds it, and a delete of a row deletes the pointer, too.) */
#include <stdint.h>
#include "check.h"

static int device;

static int is_present(const void *at)
{
    return omp_target_is_present(at, device);
}

/* ---- values ---- */

/* As a variable, private, a bound of a loop, a pointer. */
static void by_value(uint64_t bits)
{
    int64_t i64 = (int64_t)bits, low = i64 < INT64_MAX - 3 ? i64 : 0, sum = 0;
    size_t size = bits;
    double d;
    char *pointer = (char *)(uintptr_t)bits, *same = NULL, *used = NULL;
    int bad = 0;
    memcpy(&d, &bits, sizeof(d));
#pragma omp target data map(tofrom : bad)
    {
#pragma omp target map(from : same)
        same = pointer;
#pragma omp target map(tofrom : bad) is_device_ptr(pointer)
        bad += (uintptr_t)pointer != bits || (uint64_t)i64 != bits || size != bits;
#pragma omp target map(tofrom : bad) map(to : pointer [0:0]) firstprivate(i64) nowait
        bad += (uintptr_t)pointer != bits || (uint64_t)i64 != bits;
#pragma omp taskwait
#pragma omp target map(tofrom : bad) firstprivate(d, size)
        bad += memcmp(&d, &size, sizeof(d)) != 0;
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
        for (int64_t i = low; i < low + 3; i++)
            sum += i - low;
#pragma omp target data use_device_ptr(pointer)
        used = pointer;
    }
    CHECK_EQUAL(bad, 0);
    CHECK_EQUAL(sum, 3);
    CHECK_EQUAL((uintptr_t)same, bits);
    CHECK_EQUAL((uintptr_t)used, bits);
}

/* ---- pointers ---- */

struct element {
    double *p;
    int x;
};
struct group {
    int n;
    struct element *all;
};

static void group_make(struct group *group)
{
    *group = (struct group){4, calloc(4, sizeof(struct element))};
    group->all[1].p = calloc(10, sizeof(double));
}

static void group_end(struct group *group)
{
    CHECK(!is_present(group) && !is_present(group->all) && !is_present(group->all[1].p));
    free(group->all[1].p);
    free(group->all);
}

/* The innermost is deleted, however often it was mapped; what holds it stays and comes back. */
static void inner_goes_first(int times)
{
    struct group group;
    group_make(&group);
    double *p = group.all[1].p;
#pragma omp target enter data map(to : group)
#pragma omp target enter data map(to : group.all [0:4])
    for (int i = 0; i < times; i++) {
#pragma omp target enter data map(to : group.all[1].p [0:10])
    }
#pragma omp target
    group.all[1].p[3] = 3;
#pragma omp target update from(group.all[1].p [3:2])
#pragma omp target exit data map(delete : group.all[1].p [0:10])
    CHECK(p[3] == 3 && p == group.all[1].p && !is_present(p) && is_present(group.all));
#pragma omp target
    group.all[1].x = group.n = 5;
#pragma omp target exit data map(from : group.all [0:4])
    CHECK(group.all[1].x == 5 && p == group.all[1].p && is_present(&group));
#pragma omp target exit data map(from : group)
    CHECK_EQUAL(group.n, 5);
    group_end(&group);
}

/* The outer ones come back when they are let go, whatever is still mapped inside. */
static void outer_goes_first(void)
{
    struct group group;
    group_make(&group);
    double *p = group.all[1].p;
#pragma omp target enter data map(to : group)
#pragma omp target enter data map(to : group.all [0:4])
#pragma omp target enter data map(to : group.all[1].p [0:10])
#pragma omp target
    group.all[1].p[3] = group.all[2].x = group.n = 7;
#pragma omp target exit data map(from : group)
    CHECK(group.n == 7 && !is_present(&group) && is_present(group.all));
#pragma omp target exit data map(from : group.all [0:4])
    CHECK(group.all[2].x == 7 && !is_present(group.all) && is_present(p));
#pragma omp target exit data map(from : group.all[1].p [0:10])
    CHECK(p[3] == 7 && group.all[1].p == p);
    group_end(&group);
}

/* Nobody has mapped what holds the pointers. */
static void inner_alone(void)
{
    struct group group;
    group_make(&group);
#pragma omp target enter data map(to : group.all[1].p [0:10])
#pragma omp target enter data map(to : group.all[1].p [0:10])
#pragma omp target exit data map(delete : group.all[1].p [0:10])
#pragma omp target enter data map(to : group.all [0:4])
#pragma omp target exit data map(delete : group.all [0:4])
    group_end(&group);
}

static void parts_and_members(void)
{
    struct group group;
    group_make(&group);
    double *p = group.all[1].p;
#pragma omp target enter data map(to : p [0:10])
#pragma omp target enter data map(to : group)
#pragma omp target enter data map(to : group)
#pragma omp target exit data map(delete : group.n, group.all) /* one structure, one count */
    CHECK(!is_present(&group) && is_present(p));
#pragma omp target data map(always, tofrom : group.all[1].p [0:10])
    {
#pragma omp target
        p[2] = 4;
    }
    CHECK(p[2] == 4 && group.all[1].p == p && is_present(p));
#pragma omp target exit data map(release : p [0:10])
    group_end(&group);
}

/* Between two pointers, which have been mapped for what they point to, lie members that are named
 * one after the other: each has its value. */
static void between_pointers(void)
{
    double p[2] = {1, 2}, q[2] = {3, 4}, sum = 0;
    struct {
        double *p;
        int x, y;
        double *q;
    } s = {p, 5, 6, q};
    int y = 0;
#pragma omp target data map(to : s.p [0:2], s.q [0:2])
    {
        s.y = 7;
#pragma omp target data map(to : s.x)
#pragma omp target map(to : s.y) map(from : y)
        y = s.y;
#pragma omp target map(to : s.p [0:2], s.q [0:2]) map(from : sum)
        sum = s.p[1] + s.q[1];
    }
    CHECK_EQUAL(y, 7);
    CHECK_EQUAL(sum, 6);
    CHECK(s.p == p && s.q == q && !is_present(&s.x));
}

/* Rows of a matrix: clang up to 21 passes a delete of a row for the pointer to it, too. */
static void delete_row(void)
{
    double *rows[3];
    for (int i = 0; i < 3; i++)
        rows[i] = calloc(4, sizeof(double));
#pragma omp target enter data map(to : rows)
    for (int i = 0; i < 3; i++) {
#pragma omp target enter data map(to : rows[i] [0:4])
    }
#pragma omp target exit data map(delete : rows[1] [0:4])
    CHECK(is_present(rows) && !is_present(rows[1]) && is_present(rows[2]));
#pragma omp target
    rows[0][2] = rows[2][3] = 9;
#pragma omp target exit data map(from : rows[0] [0:4], rows[2] [0:4])
    CHECK(rows[0][2] == 9 && rows[2][3] == 9 && is_present(rows));
#pragma omp target exit data map(delete : rows)
    CHECK(!is_present(rows));
    for (int i = 0; i < 3; i++)
        free(rows[i]);
}

int main(void)
{
    int count = check_devices();
    for (device = 0; device < count; device++) {
        omp_set_default_device(device);
        for (int i = 0; i < 9; i++) {
            by_value((uint64_t)i);
            by_value(UINT64_MAX - (uint64_t)i);
            by_value(UINT64_C(1) << (63 - i));
        }
        inner_goes_first(1);
        inner_goes_first(3);
        outer_goes_first();
        inner_alone();
        parts_and_members();
        between_pointers();
        delete_row();
    }
    return finish("values");
}
