/* The first region comes before MPI_Init, the last one after MPI_Finalize, and what was mapped
 * before the one is there after the other. */
#include "ranks.h"

#define COUNT 2000

int main(int count, char **words)
{
    long values[COUNT], sum, all;
    int before, after;

    program_name = "lifetime";
    MPI_Initialized(&before);
    check_on_device(some_device(0));
    for (long i = 0; i < COUNT; i++)
        values[i] = i;
#pragma omp target enter data map(to : values)
#pragma omp target
    for (long i = 0; i < COUNT; i++)
        values[i] += 1;
    MPI_Initialized(&after);
    compare("MPI_Initialized after regions", before + after, 0);

    ranks_begin(&count, &words, "lifetime");
#pragma omp target firstprivate(rank)
    for (long i = 0; i < COUNT; i++)
        values[i] *= rank + 1;
    sum = 0;
#pragma omp target map(tofrom : sum)
    for (long i = 0; i < COUNT; i++)
        sum += values[i];
    compare("the sum", sum, (rank + 1L) * COUNT * (COUNT + 1) / 2);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();

#pragma omp target exit data map(from : values)
    for (long i = 0; i < COUNT; i++)
        if (values[i] != (i + 1) * (rank + 1)) {
            wrong("value %ld is %ld after MPI_Finalize", i, values[i]);
            break;
        }
    compare("the sum of all", all, (long)size * (size + 1) / 2 * COUNT * (COUNT + 1) / 2);
#pragma omp target map(tofrom : sum)
    sum = -sum;
    compare("a region after MPI_Finalize", sum, -(rank + 1L) * COUNT * (COUNT + 1) / 2);
    MPI_Finalized(&after);
    compare("MPI_Finalized", after, 1);
    return ranks_report();
}
