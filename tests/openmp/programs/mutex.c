/* test:
 * Hundreds of nowait regions that exclude each other (mutexinoutset), among others that do not.
 * libomp, 16 to 22, loses one that is put back between two that may not start yet, unless its
 * threads look through whole lists: every run hung. */
#include "check.h"

enum { REGIONS = 300, ROUNDS = 3 };

int main(void)
{
    static long n[REGIONS];
    int count = check_devices(), wrong = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        long x = 0, y = 0;
        // clang-format off
        for (int i = 0; i < REGIONS; i++) {
            long *p = &n[i];
#pragma omp target nowait map(tofrom : x) depend(mutexinoutset : x) firstprivate(i)
            x += i;
#pragma omp target nowait map(tofrom : p[0:1]) device(i % count) firstprivate(i)
            p[0] += i;
#pragma omp target nowait map(tofrom : y) depend(mutexinoutset : y) device(i % count) firstprivate(i)
            y += i;
        }
#pragma omp taskwait
        // clang-format on
        CHECK_EQUAL(x, REGIONS * (REGIONS - 1) / 2);
        CHECK_EQUAL(y, REGIONS * (REGIONS - 1) / 2);
        for (int i = 0; i < REGIONS; i++)
            wrong += n[i] != (long)round * i;
    }
    CHECK_EQUAL(wrong, 0);
    return finish("mutex");
}
