/* Each rank says how many devices it has, and uses all of them. What a device keeps, a global
 * variable, is this rank's alone. With "own": each region runs in another process than this
 * one, and no process runs those of two ranks or two devices. */
#include "ranks.h"
#include <string.h>
#include <unistd.h>

#define MOST 32

#pragma omp declare target
static long counter;
#pragma omp end declare target

/* Counts on one device, in turns with the other ranks; the process that did it. */
static long count_up(int device, int times)
{
    long process = 0, value = -1;

    for (int i = 0; i < times; i++) {
#pragma omp target map(from : value, process) device(device)
        {
            value = ++counter;
            process = getpid();
        }
        compare("a device's own counter", value, i + 1);
    }
    return process;
}

/* Processes of all ranks' devices, this one's first. */
static void look_at_processes(const long *mine)
{
    long *all = allocate(sizeof(long) * MOST * (size_t)size);

    MPI_Allgather(mine, MOST, MPI_LONG, all, MOST, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < MOST && mine[i] != 0; i++) {
        int same = 0;

        for (long j = 0; j < (long)MOST * size; j++)
            same += all[j] == mine[i];
        compare("devices of this process", same, 1);
        if (mine[i] == getpid())
            wrong("a region ran in the program's own process");
    }
    free(all);
}

int main(int count, char **words)
{
    long processes[MOST] = {0};

    ranks_begin(&count, &words, "devices");
    int devices = omp_get_num_devices();
    for (int device = 0; device < devices && device < MOST; device++) {
        check_on_device(device);
        processes[device] = count_up(device, 20 + rank);
    }
    if (devices == 0)
        wrong("there is no device");
    if (count > 1 && strcmp(words[1], "own") == 0)
        look_at_processes(processes);
    printf("devices %d of %d: %d\n", rank, size, devices);
    return ranks_end();
}
