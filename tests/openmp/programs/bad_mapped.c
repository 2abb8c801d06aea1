/* test: status=nonzero reference=no needs=worker;own
 * stderr="p.0:100.".*is.already.memory.of.device.*byte.0.of.a.block.of.800.*is_device_ptr A map
 * clause names memory of a device, of which nothing is copied: a region would be given new memory
 * instead, without a word. By is_device_ptr it is right, and so is a section without elements. */
#include "check.h"

int main(void)
{
    int seen = 0;
    check_devices();
    double *p = omp_target_alloc(100 * sizeof(*p), 0);
#pragma omp target is_device_ptr(p)
    p[3] = 4;
#pragma omp target map(p[:0]) map(tofrom : seen)
    seen = (int)p[3];
    CHECK_EQUAL(seen, 4);
    if (failures)
        return 0;
#pragma omp target map(alloc : p [0:100])
    p[3] = 5;
    return 0;
}
