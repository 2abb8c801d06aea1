/* test: status=9
 * exit() from a second thread, while the first one is in a region. */
#include "check.h"
#include "leave.h"

int main(void)
{
    check_devices();
    printf("start\n");
    leave_after(100000);
    int x = 0;
#pragma omp target map(tofrom : x)
    {
        usleep(600000);
        x = 1;
    }
    usleep(3000000);
    return x;
}
