/* A program without MPI that takes so many MiB of its first device: "memory N had", or "memory N
 * not had". With a second word it then stays. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words)
{
    size_t mib = count > 1 ? strtoul(words[1], NULL, 10) : 0;
    void *memory = omp_target_alloc(mib << 20, 0);

    printf("memory %zu %s\n", mib, memory ? "had" : "not had");
    fflush(stdout);
    while (count > 2)
        pause();
    if (memory)
        omp_target_free(memory, 0);
    return 0;
}
