/* ranks.h: what the MPI programs of this folder share. Each rank compares what its regions
 * computed with the same computed by itself, prints one line "ok NAME R of S" or lines "wrong
 * NAME ...", and returns 1 where anything was wrong. A region that runs on the host counts as
 * wrong. */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include <mpi.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, differences;
static const char *program_name;

static void wrong(const char *format, ...)
{
    va_list list;

    if (differences++ >= 5)
        return;
    char text[200];
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    printf("wrong %s %d of %d: %s\n", program_name, rank, size, text);
}

static inline void compare(const char *what, long got, long wanted)
{
    if (got != wanted)
        wrong("%s is %ld, not %ld", what, got, wanted);
}

/* After MPI has started. */
static inline void ranks_known(const char *name)
{
    program_name = name;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline void ranks_begin(int *count, char ***words, const char *name)
{
    MPI_Init(count, words);
    ranks_known(name);
}

/* The device of this rank's next piece of work: neighbours take different ones where there are
 * several. */
static inline int some_device(int number)
{
    int devices = omp_get_num_devices();

    if (devices == 0) {
        wrong("there is no device");
        return omp_get_initial_device();
    }
    return (rank + number) % devices;
}

static inline void check_on_device(int device)
{
    int host = 1;

#pragma omp target map(from : host) device(device)
    host = omp_is_initial_device();
    compare("omp_is_initial_device() in a region", host, 0);
}

/* The exit status; also after MPI has ended. */
static inline int ranks_report(void)
{
    if (differences == 0)
        printf("ok %s %d of %d\n", program_name, rank, size);
    fflush(stdout);
    return differences != 0;
}

static inline int ranks_end(void)
{
    MPI_Finalize();
    return ranks_report();
}

static inline void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory)
        exit(3);
    return memory;
}

#endif
