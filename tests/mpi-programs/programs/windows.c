/* One-sided windows of the program's own, whose memory regions read and write: one with memory
 * of MPI, by fences and by locks, and a dynamic one. */
#include "ranks.h"

#define COUNT 4000

static int left, right;

static void fill_in_region(long *values, long seed)
{
#pragma omp target teams distribute parallel for map(from : values [0:COUNT]) device(some_device(0))
    for (long i = 0; i < COUNT; i++)
        values[i] = seed + 3 * i;
}

static long count_wrong_in_region(const long *values, long seed, long more)
{
    long errors = 0;

#pragma omp target teams distribute parallel for reduction(+ : errors) \
    map(to : values[0 : COUNT]) map(tofrom : errors) device(some_device(1))
    for (long i = 0; i < COUNT; i++)
        errors += values[i] != seed + 3 * i + more;
    return errors;
}

static void with_memory_of_mpi(void)
{
    long *mine, *window_memory, ones[COUNT];
    MPI_Win window;

    MPI_Win_allocate(COUNT * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &window_memory, &window);
    mine = allocate(COUNT * sizeof(long));
    fill_in_region(mine, 100 * rank);
    MPI_Win_fence(0, window);
    MPI_Put(mine, COUNT, MPI_LONG, right, 0, COUNT, MPI_LONG, window);
    MPI_Win_fence(0, window);
    compare("numbers that were put and are wrong",
            count_wrong_in_region(window_memory, 100 * left, 0), 0);
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    for (int target = 0; target < size; target++) { /* each adds to each */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Accumulate(ones, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(target, window);
        check_on_device(some_device(target));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    compare("sums that are wrong", count_wrong_in_region(window_memory, 100 * left, size), 0);
    fill_in_region(window_memory, 9 * rank); /* a region writes into the window */
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Get(mine, COUNT, MPI_LONG, right, 0, COUNT, MPI_LONG, window);
    MPI_Win_unlock(right, window);
    compare("numbers that were got and are wrong", count_wrong_in_region(mine, 9 * right, 0), 0);
    MPI_Win_free(&window);
    free(mine);
}

static void with_dynamic_window(void)
{
    long *values = allocate(COUNT * sizeof(long)), *got = allocate(COUNT * sizeof(long));
    MPI_Aint mine, theirs;
    MPI_Win window;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, values, COUNT * sizeof(long));
    MPI_Get_address(values, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 1, &theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    fill_in_region(values, 11 * rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Get(got, COUNT, MPI_LONG, right, theirs, COUNT, MPI_LONG, window);
    MPI_Win_flush(right, window);
    MPI_Win_unlock_all(window);
    compare("numbers of the dynamic window that are wrong",
            count_wrong_in_region(got, 11 * right, 0), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(window, values);
    MPI_Win_free(&window);
    free(values);
    free(got);
}

int main(int count, char **words)
{
    ranks_begin(&count, &words, "windows");
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    check_on_device(some_device(0));
    with_memory_of_mpi();
    with_dynamic_window();
    return ranks_end();
}
