/* Results of reductions in regions are summed over the ranks; then blocks are computed by
 * regions with nowait while the blocks before them travel to the neighbour. */
#include "ranks.h"

#define COUNT 20000
#define BLOCKS 12
#define BLOCK 3000

static void sums(void)
{
    long values = COUNT, sum = 0, largest = -1, totals[2], mine[2];

#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : largest) \
    map(tofrom : sum, largest) firstprivate(rank) device(some_device(0))
    for (long i = 0; i < values; i++) {
        long value = i * (rank + 1) % 1009;

        sum += value;
        largest = value > largest ? value : largest;
    }
    mine[0] = sum, mine[1] = largest;
    MPI_Allreduce(&mine[0], &totals[0], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine[1], &totals[1], 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    sum = 0, largest = -1;
    for (int other = 0; other < size; other++)
        for (long i = 0; i < values; i++) {
            long value = i * (other + 1) % 1009;

            sum += value;
            largest = value > largest ? value : largest;
        }
    compare("the sum of all ranks", totals[0], sum);
    compare("the largest of all ranks", totals[1], largest);
}

static void blocks(void)
{
    long *out = allocate(sizeof(long) * BLOCKS * BLOCK),
         *in = allocate(sizeof(long) * BLOCKS * BLOCK);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request requests[2 * BLOCKS];

    for (int b = 0; b < BLOCKS; b++)
        MPI_Irecv(in + (long)b * BLOCK, BLOCK, MPI_LONG, left, b, MPI_COMM_WORLD, &requests[b]);
    for (int b = 0; b <= BLOCKS; b++) {
        long *block = out + (long)b * BLOCK;

        if (b < BLOCKS) {
            int device = some_device(b);
#pragma omp target teams distribute parallel for nowait map(from                                   \
                                                            : block [0:BLOCK])                     \
    firstprivate(rank, b) device(device)
            for (long i = 0; i < BLOCK; i++)
                block[i] = i * (b + 1) + rank;
        }
        if (b > 0) /* the one before: it is complete */
            MPI_Isend(block - BLOCK, BLOCK, MPI_LONG, right, b - 1, MPI_COMM_WORLD,
                      &requests[BLOCKS + b - 1]);
#pragma omp taskwait
    }
    MPI_Waitall(2 * BLOCKS, requests, MPI_STATUSES_IGNORE);
    for (long i = 0; i < (long)BLOCKS * BLOCK; i++)
        if (in[i] != i % BLOCK * (i / BLOCK + 1) + left) {
            wrong("block %ld, number %ld of the left one is %ld", i / BLOCK, i % BLOCK, in[i]);
            break;
        }
    free(out);
    free(in);
}

int main(int count, char **words)
{
    ranks_begin(&count, &words, "reduce");
    check_on_device(some_device(0));
    sums();
    blocks();
    return ranks_end();
}
