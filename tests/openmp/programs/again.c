/* test: needs=own
 * What must leave nothing behind: mappers that map their structure itself, used twice (LLVM 14 to
 * 16 keep a reference after the first time), pointers of structures, sections of no length. */
#include "check.h"

struct vector {
    int length;
    double *data;
};
#pragma omp declare mapper(struct vector v) map(v, v.data [0:v.length])

static void check_mapper(void)
{
    double data[8] = {0};
    struct vector v = {8, data};
    for (int round = 0; round < 5; round++) {
#pragma omp target map(tofrom : v)
        for (int i = 0; i < v.length; i++)
            v.data[i] += i;
        CHECK(v.data == data && data[7] == 7 * (round + 1));
        CHECK(!omp_target_is_present(&v, 0) && !omp_target_is_present(data, 0));
    }
}

/* A structure that is on the device keeps the device's pointer in it through an update. */
static void check_update(void)
{
    double data[8] = {0};
    struct vector v = {8, data};
#pragma omp target enter data map(to : v)
    for (int round = 1; round <= 3; round++) {
        v.length = round;
#pragma omp target update to(v.length)
#pragma omp target map(alloc : v)
        v.data[0] += v.length;
#pragma omp target update from(data)
        CHECK(v.data == data && data[0] == round * (round + 1) / 2);
    }
#pragma omp target exit data map(delete : v)
    CHECK(!omp_target_is_present(&v, 0));
}

static void check_empty(void)
{
    double data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *p = data;
    double seen = 0;
#pragma omp target data map(to : data)
    {
#pragma omp target map(p[:0]) map(from : seen)
        seen = p[7];
#pragma omp target exit data map(release : p[:0])
        CHECK(!omp_target_is_present(data, 0));
    }
    CHECK_EQUAL(seen, 8);
}

int main(void)
{
    check_devices();
    check_mapper();
    check_update();
    check_empty();
    return finish("again");
}
