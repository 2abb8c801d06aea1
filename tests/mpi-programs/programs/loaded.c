/* A program without MPI: its arguments are words that no library in its process may have in
 * its path. */
#include <stdio.h>
#include <string.h>

int main(int count, char **words)
{
    char line[4096];
    int x = 1, found = 0;

#pragma omp target map(tofrom : x)
    x++;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (x != 2 || !maps)
        return 2;
    while (!found && fgets(line, sizeof(line), maps))
        for (int i = 1; i < count; i++)
            if (strstr(line, words[i])) {
                printf("loaded: %s", line);
                found = 1;
            }
    fclose(maps);
    if (!found)
        puts("ok loaded");
    return found;
}
