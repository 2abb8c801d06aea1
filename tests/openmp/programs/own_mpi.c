/* test: tier=few reference=no needs=worker libs=-lmpi
 * A program that starts MPI itself is served without ours, whatever is asked of MPI's components.
 */
#include "check.h"

int MPI_Init(int *count, char ***words);

int main(int count, char **words)
{
    int x = 0;
    MPI_Init(&count, &words);
    check_devices();
#pragma omp target map(tofrom : x)
    x++;
    CHECK(x == 1);
    return finish("own_mpi");
}
