/* test: from=19 needs=own
 * nowait regions that take part in a reduction: it knows where their tasks were made. */
#include "check.h"

enum { REGIONS = 20, ROUNDS = 10 };

int main(void)
{
    int devices = check_devices();
    for (int round = 0; round < ROUNDS; round++) {
        int x = 0, y = 0, chain = 0;
#pragma omp taskgroup task_reduction(+ : x)
        {
            for (int i = 0; i < REGIONS; i++) {
                // clang-format off
#pragma omp target nowait in_reduction(+ : x) depend(inout : chain) device(i % devices) firstprivate(i)
                {
                    usleep(100);
                    x += i;
                }
                // clang-format on
            }
            usleep(5000); /* meanwhile some begin that had to wait */
        }
        CHECK_EQUAL(x, REGIONS * (REGIONS - 1) / 2);
#pragma omp target nowait map(tofrom : y) depend(inout : y)
        y = 7;
#pragma omp taskwait
        CHECK_EQUAL(y, 7);
    }
    return finish("reduction_nowait");
}
