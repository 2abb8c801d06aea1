/* test:
 * Many independent nowait regions on all devices. */
#include "check.h"

enum { REGIONS = 200, N = 500 };

int main(void)
{
    static int a[REGIONS][N];
    int count = check_devices(), bad = 0;
    for (int r = 0; r < REGIONS; r++) {
        int *row = a[r];
#pragma omp target map(tofrom : row [0:N]) nowait device(r % count) firstprivate(r)
        for (int i = 0; i < N; i++)
            row[i] = r * i;
    }
#pragma omp taskwait
    for (int r = 0; r < REGIONS; r++)
        for (int i = 0; i < N; i++)
            bad += a[r][i] != r * i;
    CHECK_EQUAL(bad, 0);
    return finish("hidden");
}
