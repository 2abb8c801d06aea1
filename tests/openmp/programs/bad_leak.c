/* test: status=1 env=OMPRMA_CHECK=full reference=no needs=worker;program stderr=check:;2;findings
 * Under OMPRMA_CHECK=full: memory is left at the end, by omp_target_alloc and by enter data; what
 * lives as long as the program by itself is not named. */
#include "check.h"

#pragma omp declare target
static int global[1000];
#pragma omp end declare target

int main(void)
{
    int x[100] = {0};
    check_devices();
    CHECK(omp_target_alloc(400, 0) != NULL);
#pragma omp target enter data map(to : x)
#pragma omp target
    global[5] = x[0];
    return finish("bad_leak");
}
