/* seeds.h: main() of programs that play random steps: a seed each on the devices in turn. */
#ifndef OMPRMA_TESTS_OPENMP_SEEDS_H
#define OMPRMA_TESTS_OPENMP_SEEDS_H

#include "check.h"

/* Arguments: first seed (1), number of seeds (`count`), seconds at most. `play` says whether its
 * seed went wrong. */
static inline int play_seeds(const char *name, int argc, char **argv, int count,
                             int (*play)(unsigned seed, int device))
{
    enum { THREADS = 3 };
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int wrong = 0, devices = omp_get_num_devices();
    double end = check_end(argc, argv);
    count = argc > 2 ? atoi(argv[2]) : count;
    CHECK(devices > 0);
#pragma omp parallel for num_threads(THREADS) schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < count; i++)
        if (omp_get_wtime() < end)
            wrong += play(first + (unsigned)i, i % devices);
    CHECK_EQUAL(wrong, 0);
    return finish(name);
}

#endif
