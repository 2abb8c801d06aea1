/* test: tier=most
 * A constant variable on devices, to which a pointer of the program leads: on each device it lies
 * elsewhere. It is the only one, so there is nothing that devices could tell each other of. */
#include <unistd.h>

#include "check.h"

enum { PARTS = 8, ROUNDS = 4 };

#pragma omp declare target
const double table[PARTS] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp end declare target

int main(void)
{
    static double sum[PARTS];
    const double *at = table;
    check_devices();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < PARTS; i++) {
            double *own = &sum[i];
#pragma omp target nowait depend(inout : own[0]) map(tofrom : own [0:1]) map(to : at [0:PARTS])
            {
                usleep(500);
                own[0] += at[i];
            }
        }
#pragma omp taskwait
    for (int i = 0; i < PARTS; i++)
        CHECK_EQUAL((int)sum[i], ROUNDS * (i + 1));
    return finish("constants");
}
