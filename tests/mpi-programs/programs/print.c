/* Each rank prints lines in turns by itself and from regions: "RANK LINE". run.sh looks at
 * their order. */
#include "ranks.h"

#define LINES 40

int main(int count, char **words)
{
    ranks_begin(&count, &words, "print");
    check_on_device(some_device(0));
    for (int line = 0; line < LINES; line += 2) {
        printf("%d %d\n", rank, line);
        fflush(stdout);
#pragma omp target firstprivate(rank, line) device(some_device(0))
        printf("%d %d\n", rank, line + 1);
    }
    return ranks_end();
}
