/* test: needs=worker env=OMPRMA_TIMEOUT=4
 * A program that needs nothing of its workers for a quarter of the limit, and then ends. */
#include "check.h"

int main(void)
{
    int value = 1;
    check_devices();
#pragma omp target map(tofrom : value)
    value++;
    CHECK_EQUAL(value, 2);
    usleep(1300000);
    return finish("rest");
}
