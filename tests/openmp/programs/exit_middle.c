/* test: status=7
 * exit() in the middle, with data still mapped and a region in an exit handler. */
#include "check.h"

static void at_end(void)
{
    int x = 0;
#pragma omp target map(tofrom : x)
    x = 11;
    printf("handler %d\n", x);
}

int main(void)
{
    static int a[1000];
    atexit(at_end);
    check_devices();
#pragma omp target enter data map(to : a)
#pragma omp target
    a[1] = 2;
    printf("leaving\n");
    exit(failures ? 1 : 7);
}
