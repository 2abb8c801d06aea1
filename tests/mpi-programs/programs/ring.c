/* Numbers go round the ring of ranks; each computes on them in a region before it sends them
 * on. */
#include "ranks.h"

#define ROUNDS 6

#pragma omp declare target
static unsigned hop(unsigned value, int at, long i)
{
    return value * 1664525U + 1013904223U + 7U * (unsigned)at + (unsigned)i;
}
#pragma omp end declare target

static void hop_in_region(unsigned *values, long count, int device)
{
    int at = rank;

#pragma omp target teams distribute parallel for map(tofrom : values [0:count]) device(device)
    for (long i = 0; i < count; i++)
        values[i] = hop(values[i], at, i);
}

/* What this rank has after its region of the last round: all hops before it, on the host. */
static unsigned wanted(long i)
{
    unsigned value = (unsigned)i;

    for (int round = 0; round < ROUNDS; round++)
        for (int at = 0; at < size; at++) {
            value = hop(value, at, i);
            if (round == ROUNDS - 1 && at == rank)
                break;
        }
    return value;
}

static void go_round(long count)
{
    unsigned *values = allocate((size_t)count * sizeof(*values));
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    for (long i = 0; i < count; i++)
        values[i] = (unsigned)i;
    for (int round = 0; round < ROUNDS; round++) {
        if (size > 1 && (rank != 0 || round > 0))
            MPI_Recv(values, (int)count, MPI_UNSIGNED, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hop_in_region(values, count, some_device(round));
        if (size > 1 && (rank != size - 1 || round < ROUNDS - 1))
            MPI_Send(values, (int)count, MPI_UNSIGNED, right, 1, MPI_COMM_WORLD);
    }
    for (long i = 0; i < count; i++)
        if (values[i] != wanted(i)) {
            wrong("%ld numbers: number %ld is %u, not %u", count, i, values[i], wanted(i));
            break;
        }
    free(values);
}

int main(int count, char **words)
{
    ranks_begin(&count, &words, "ring");
    check_on_device(some_device(0));
    go_round(1);
    go_round(1000);
    go_round(200000);
    return ranks_end();
}
