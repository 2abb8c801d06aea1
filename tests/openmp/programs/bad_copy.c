/* test: needs=worker reference=no stderr=device.0
 * A copy that runs past its block is refused, and the next one works. */
#include "check.h"

int main(void)
{
    char data[300] = {0};
    int host = omp_get_initial_device();
    check_devices();
    void *p = omp_target_alloc(200, 0);
    CHECK(omp_target_memcpy(p, data, 300, 0, 0, 0, host) != 0);
    CHECK(omp_target_memcpy(p, data, 200, 0, 0, 0, host) == 0);
    omp_target_free(p, 0);
    CHECK(omp_target_memcpy(p, data, 100, 0, 0, 0, host) != 0);
    return finish("bad_copy");
}
