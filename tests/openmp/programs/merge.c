/* test: tier=most
 * Merge sort of blocks by nowait regions. What a merge gives is mapped when its region is issued,
 * and what it took is given up while others are under way; blocks grow from 3,000 to 48,000
 * numbers, and the last one comes home alone. */
#include "check.h"

enum { BLOCKS = 16, N = 3000 };

static int numbers[BLOCKS * N], sorted[BLOCKS * N];

#pragma omp begin declare target
static void sort(int *x)
{
    for (int gap = N / 2; gap > 0; gap /= 2)
        for (int i = gap; i < N; i++) {
            int value = x[i], at = i;
            for (; at >= gap && x[at - gap] > value; at -= gap)
                x[at] = x[at - gap];
            x[at] = value;
        }
}

static void merge(const int *one, const int *other, int count, int *to)
{
    for (int i = 0, j = 0, k = 0; k < 2 * count; k++)
        to[k] = j == count || (i < count && one[i] <= other[j]) ? one[i++] : other[j++];
}
#pragma omp end declare target

static void block_sort(int *x)
{
#pragma omp target enter data map(to : x[:N]) nowait depend(out : x[0])
#pragma omp target nowait depend(inout : x[0]) map(tofrom : x[:N])
    sort(x);
}

static int *blocks_merge(int *one, int *other, int count)
{
    int *to = malloc(2 * (size_t)count * sizeof(int));
#pragma omp target enter data map(alloc : to[:2 * count]) nowait depend(out : to[0])
#pragma omp target nowait depend(in                                                                \
                                 : one[0], other[0]) depend(inout                                  \
                                                            : to[0]) map(to                        \
                                                                         : one[:count], other      \
                                                                         [:count])                 \
    map(from                                                                                       \
        : to[:2 * count])
    merge(one, other, count, to);
#pragma omp target exit data map(delete                                                            \
                                 : one[:count], other                                              \
                                 [:count]) nowait                                                  \
depend(inout                                                                                       \
       : one[0], other[0])
    return to;
}

static int compare(const void *a, const void *b)
{
    int one = *(const int *)a, other = *(const int *)b;
    return (one > other) - (one < other);
}

int main(void)
{
    int *made[BLOCKS], *blocks[BLOCKS], count = 0;
    unsigned seed = 3;
    for (int i = 0; i < BLOCKS * N; i++)
        sorted[i] = numbers[i] = check_draw(&seed, 1000000);
    for (int b = 0; b < BLOCKS; b++)
        block_sort(blocks[b] = numbers + b * N);
    for (int width = 1; width < BLOCKS; width *= 2)
        for (int b = 0; b < BLOCKS; b += 2 * width)
            made[count++] = blocks[b] = blocks_merge(blocks[b], blocks[b + width], width * N);
    int *all = blocks[0];
#pragma omp target exit data map(from : all[:BLOCKS * N]) nowait depend(inout : all[0])
#pragma omp taskwait
    qsort(sorted, BLOCKS * N, sizeof(int), compare);
    CHECK(memcmp(all, sorted, sizeof(sorted)) == 0);
    printf("%d to %d\n", all[0], all[BLOCKS * N - 1]);
    while (count > 0)
        free(made[--count]);
    return finish("merge");
}
