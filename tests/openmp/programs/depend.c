/* test: tier=all
 * nowait regions in a chain over all devices, held together by depend alone. */
#include "check.h"

enum { N = 3000, STEPS = 24 };

int main(void)
{
    static int a[N];
    int count = check_devices(), b = 1, c = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel
#pragma omp single
    for (int s = 0; s < STEPS; s++) {
#pragma omp target device(s % count) map(tofrom : a) nowait depend(inout : a) firstprivate(s)
        for (int i = 0; i < N; i++)
            a[i] = a[i] * 3 + s;
    }
    int bad = 0;
    for (int i = 0; i < N; i++) {
        unsigned expected = (unsigned)i;
        for (int s = 0; s < STEPS; s++)
            expected = expected * 3 + (unsigned)s;
        bad += (unsigned)a[i] != expected;
    }
    CHECK_EQUAL(bad, 0);

    /* A diamond: one writer, two readers on different devices, one that joins. `b` stays mapped,
     * because libomptarget 15 can lose a variable that two threads unmap at the same time. */
    int left = 0, right = 0, last = count - 1;
#pragma omp target enter data map(to : b)
#pragma omp target enter data map(to : b) device(last)
    // clang-format off
#pragma omp target map(always, tofrom : b) nowait depend(out : b)
    b = 20;
#pragma omp target map(always, to : b) map(from : left) nowait depend(in : b) depend(out : left)
    left = b + 1;
#pragma omp target device(last) map(always, to : b) map(from : right) nowait depend(in : b) depend(out : right)
    right = b + 2;
#pragma omp target map(to : left, right) map(from : c) nowait depend(in : left, right) depend(out : c)
    c = left * right;
    // clang-format on
#pragma omp taskwait
    CHECK_EQUAL(c, 21 * 22);
#pragma omp target exit data map(release : b) device(last)
#pragma omp target exit data map(release : b)

    static double x[N];
#pragma omp target enter data map(to : x) nowait depend(out : x)
#pragma omp target nowait depend(inout : x)
    for (int i = 0; i < N; i++)
        x[i] = i;
#pragma omp target update from(x) nowait depend(inout : x)
#pragma omp taskwait
    CHECK(x[N - 1] == N - 1);
#pragma omp target exit data map(delete : x)
    return finish("depend");
}
