/* test:
 * Text without a newline, printed by the last region, is not lost. */
#include "check.h"

int main(void)
{
    printf("start ");
#pragma omp target
    printf("from the region");
    return 0;
}
