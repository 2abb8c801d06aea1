/* test: needs=worker;own reference=no status=3
 * A program that ends beside nowait regions, begun or not, which nobody waits for: its end does.
 * (LLVM's own runtime crashes.) */
#include "check.h"

int main(void)
{
    static int x[10];
    check_devices();
    for (int i = 0; i < 10; i++) {
#pragma omp target map(tofrom : x [i:1]) device(i % omp_get_num_devices()) nowait
        {
            usleep(50000);
            x[i] = 1;
        }
        if (i == 3)
            usleep(120000); /* some have begun */
    }
    return failures ? 1 : 3;
}
