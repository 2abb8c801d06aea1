/* MPI_THREAD_MULTIPLE: some threads of each rank run regions while the others send and
 * receive; then each does both in turns. */
#include "ranks.h"

#define THREADS 4
#define ROUNDS 40
#define COUNT 3000

/* One round's numbers in a region: the sum of seed, seed + 1, ... */
static long sum_in_region(long seed, int device)
{
    long sum = 0;

#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) device(device)
    for (long i = 0; i < COUNT; i++)
        sum += seed + i;
    return sum;
}

static long sum_wanted(long seed)
{
    return seed * COUNT + (long)COUNT * (COUNT - 1) / 2;
}

/* Sends to the right, receives from the left, by a tag of its own. */
static long shift(long value, int tag)
{
    long got = -1;

    MPI_Sendrecv(&value, 1, MPI_LONG, (rank + 1) % size, tag, &got, 1, MPI_LONG,
                 (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return got;
}

static int work(int thread)
{
    int left = (rank + size - 1) % size, errors = 0;

    for (int round = 0; round < ROUNDS; round++) { /* half of them this, half of them that */
        long seed = 1000L * rank + 10L * round + thread;

        if (thread % 2 == 0)
            errors += sum_in_region(seed, some_device(thread)) != sum_wanted(seed);
        else
            errors += shift(seed, thread) != 1000L * left + 10L * round + thread;
    }
    for (int round = 0; round < ROUNDS; round++) { /* the sum of the left one's region */
        long seed = 77L * rank + round + thread, of_left = 77L * left + round + thread;

        errors += shift(sum_in_region(seed, some_device(thread)), thread) != sum_wanted(of_left);
    }
    return errors;
}

int main(int count, char **words)
{
    int provided, errors = 0;

    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    ranks_known("threads");
    compare("the level of threads", provided, MPI_THREAD_MULTIPLE);
    check_on_device(some_device(0));
    if (provided == MPI_THREAD_MULTIPLE) {
#pragma omp parallel num_threads(THREADS) reduction(+ : errors)
        errors += work(omp_get_thread_num());
    }
    compare("wrong sums and messages", errors, 0);
    MPI_Query_thread(&provided);
    compare("the level of threads at the end", provided, MPI_THREAD_MULTIPLE);
    return ranks_end();
}
