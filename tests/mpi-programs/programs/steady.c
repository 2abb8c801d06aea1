/* Runs regions and sums over the ranks for so many milliseconds; what kills.sh disturbs.
 * "ready" says that all have run a region. */
#include "ranks.h"

#define COUNT 2000

static long step_in_region(long *values, long step, int device)
{
    long sum = 0;

#pragma omp target teams distribute parallel for reduction(+ : sum) \
    map(tofrom : values[0 : COUNT], sum) device(device)
    for (long i = 0; i < COUNT; i++) {
        values[i] = values[i] * 3 + step & 0xffff;
        sum += values[i];
    }
    return sum;
}

int main(int count, char **words)
{
    static long values[COUNT], here[COUNT];
    double milliseconds = count > 1 ? atof(words[1]) : 1000;
    int more = 1;

    ranks_begin(&count, &words, "steady");
    double begin = MPI_Wtime();
    for (long step = 0; more; step++) {
        long sum = step_in_region(values, step + rank, some_device((int)(step % 100))), wanted = 0;

        for (long i = 0; i < COUNT; i++) {
            here[i] = here[i] * 3 + step + rank & 0xffff;
            wanted += here[i];
        }
        compare("a sum", sum, wanted);
        more = (MPI_Wtime() - begin) * 1e3 < milliseconds && differences == 0;
        MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (step == 0 && rank == 0)
            puts("ready"), fflush(stdout);
    }
    return ranks_end();
}
