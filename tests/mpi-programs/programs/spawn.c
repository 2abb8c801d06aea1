/* The ranks start two more processes by MPI_Comm_spawn, which have regions as well; the
 * results of the regions of all are summed over both. */
#include "ranks.h"

#define CHILDREN 2
#define COUNT 5000

static long sum_in_region(long seed)
{
    long values[COUNT], sum = 0;

    for (long i = 0; i < COUNT; i++)
        values[i] = seed;
#pragma omp target parallel for map(tofrom : values) device(some_device(0))
    for (long i = 0; i < COUNT; i++)
        values[i] = values[i] * i + 1;
    for (long i = 0; i < COUNT; i++)
        sum += values[i];
    return sum;
}

static long sum_wanted(long seed)
{
    return seed * COUNT * (COUNT - 1) / 2 + COUNT;
}

/* The sum over parents and children; all know it. */
static void sum_over_all(MPI_Comm others, int is_child, int parents)
{
    MPI_Comm all;
    long mine = sum_in_region(1 + rank + 100 * is_child), sum, wanted = 0;

    MPI_Intercomm_merge(others, is_child, &all);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, all);
    for (int i = 0; i < parents; i++)
        wanted += sum_wanted(1 + i);
    for (int i = 0; i < CHILDREN; i++)
        wanted += sum_wanted(101 + i);
    compare("the sum of parents and children", sum, wanted);
    MPI_Comm_free(&all);
}

int main(int count, char **words)
{
    MPI_Comm others;
    int parents, is_child;

    ranks_begin(&count, &words, "spawn");
    MPI_Comm_get_parent(&others);
    is_child = others != MPI_COMM_NULL;
    check_on_device(some_device(0));
    compare("the sum of a region", sum_in_region(5 + rank), sum_wanted(5 + rank));
    if (is_child)
        MPI_Comm_remote_size(others, &parents);
    else {
        parents = size;
        MPI_Comm_spawn(words[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                       MPI_ERRCODES_IGNORE);
    }
    sum_over_all(others, is_child, parents);
    MPI_Comm_disconnect(&others);
    program_name = is_child ? "spawned" : "spawn";
    return ranks_end();
}
