/* test: tier=few reference=no needs=worker status=1 libs=-lmpi
 * stderr=omprma:.*calls.MPI_Init,.but.omprma.starts.MPI A program that starts MPI itself is
 * refused, with one line. */
#include "check.h"

int MPI_Init(int *count, char ***words);

int main(int count, char **words)
{
    int x = 0;
    MPI_Init(&count, &words);
#pragma omp target map(tofrom : x)
    x++;
    return x == 1 ? 0 : 2;
}
