/* test: status=1 env=OMPRMA_CHECK=full reference=no needs=worker
 * stderr=check:.*retrieve;of;400;bytes;reads;bytes;0;to;399;of;the;block.*nothing;has;written Under
 * OMPRMA_CHECK=full: values come back that nothing has written. */
#include "check.h"

int main(void)
{
    int x[100] = {0};
    check_devices();
#pragma omp target enter data map(alloc : x)
#pragma omp target update from(x)
#pragma omp target exit data map(delete : x)
    return finish("bad_unwritten");
}
