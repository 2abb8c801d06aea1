/* test: status=1 env=OMPRMA_CHECK=full reference=no needs=worker;program
 * stderr=check:.*4;bytes;of;the;block;of;400;bytes.*freed;in;main.*were;written;after;that,;at;offsets;12;to;15
 * Under OMPRMA_CHECK=full: a region uses memory that was freed, by is_device_ptr. */
#include "check.h"

int main(void)
{
    check_devices();
    int *p = omp_target_alloc(100 * sizeof(*p), 0);
    omp_target_free(p, 0);
#pragma omp target is_device_ptr(p) device(0)
    p[3] = 1;
    return finish("bad_freed");
}
