/* test: reference=no status=nonzero stderr=unified_shared_memory
 * requires unified_shared_memory is refused. */
#include <stdlib.h>

#pragma omp requires unified_shared_memory

int main(void)
{
    int *a = malloc(sizeof(*a));
    *a = 1;
#pragma omp target
    *a = 2;
    return *a == 2 ? 0 : 1;
}
