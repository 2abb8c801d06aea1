/* test: needs=worker;own reference=no from=19 status=nonzero stderr=ends.before.the.region
 * A region that begins when its program has taken its images back, as one that nobody waits for
 * may: the line says what to do. */
#include "check.h"

static int started;

__attribute__((destructor)) static void late(void)
{
    int x = 1;
    if (!started)
        return;
#pragma omp target map(tofrom : x)
    x++;
    printf("it ran: %d\n", x);
}

int main(void)
{
    check_devices();
    started = 1;
    return finish("toolate");
}
