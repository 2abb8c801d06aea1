/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reproducer.h: what the reproducers of this folder share: start of a job of two processes, one
 * line of result, and an end in bounded time even where the MPI library crashes or hangs. Only a
 * header, so that each program compiles by `mpicc NAME.c -o NAME`; knows nothing of omprma.
 *
 * A program prints "NAME: seen: ..." or "NAME: not seen: ..." and ends with status 0, or
 * "NAME: broken: ..." and ends with 1. Between watch() and calm() a signal or too much time is the
 * defect; elsewhere it means that the program is broken.
 */
#ifndef MPI_QUIRKS_REPRODUCER_H
#define MPI_QUIRKS_REPRODUCER_H

#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ORIGIN,
    TARGET,
    PROCESSES,
    JOB_SECONDS = 20, /* longest time outside watch() */
    PAGE = 4096
};

static struct {
    const char *name;
    int rank;
    volatile sig_atomic_t watching, said;
    char doing[160]; /* what goes on between watch() and calm() */
} job;

/* Ends the whole job, also where it can no longer end in order. mpirun's status is `code`. */
static inline void job_stop(int code)
{
    usleep(300000);           /* mpirun of Open MPI 5 would lose what was said last */
    signal(SIGALRM, SIG_DFL); /* if even MPI_Abort hangs */
    alarm(3);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

/* Callable in a signal handler: the text was made before. */
static inline void job_write(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

static inline const char *job_signal(int number)
{
    switch (number) {
    case SIGALRM:
        return "does not return";
    case SIGABRT:
        return "ends with SIGABRT";
    case SIGSEGV:
        return "ends with SIGSEGV";
    default:
        return "ends with a signal";
    }
}

static inline void job_on_signal(int number)
{
    bool broken = !job.watching && !job.said;

    if (!job.said) {
        job.said = 1;
        job_write(job.name);
        job_write(broken ? ": broken: " : ": seen: ");
        job_write(broken ? "outside of what it tests" : job.doing);
        job_write(" ");
        job_write(job_signal(number));
        job_write("\n");
    }
    job_stop(broken);
}

static inline void broken(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static inline void broken(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    printf("%s: broken: ", job.name);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    fflush(stdout);
    job.said = 1;
    job_stop(1);
    _exit(1);
}

/* An error of MPI between watch() and calm() is the defect; elsewhere nothing can be said. */
static inline void must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;

    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    if (!job.watching)
        broken("%s: %s", what, text);
    printf("%s: seen: %s ends with \"%s\" from %s\n", job.name, job.doing, text, what);
    fflush(stdout);
    job.said = 1;
    job_stop(0);
}

/* From here on a signal, or `seconds` that pass, is the defect: "<text> does not return". */
static inline void watch(unsigned seconds, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void watch(unsigned seconds, const char *format, ...)
{
    va_list list;

    job.watching = 0;
    va_start(list, format);
    vsnprintf(job.doing, sizeof(job.doing), format, list);
    va_end(list);
    job.watching = 1;
    alarm(seconds);
}

static inline void calm(void)
{
    job.watching = 0;
    alarm(JOB_SECONDS);
}

/* Starts MPI, with errors returned, in a job of two. */
static inline void begin(const char *name, int level)
{
    static const int signals[] = {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    int size = 0, got = 0;

    job.name = name;
    alarm(JOB_SECONDS); /* kills the process if MPI does not even start */
    MPI_Init_thread(NULL, NULL, level, &got);
    /* After MPI_Init, because UCX sets handlers of its own there. */
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], job_on_signal);
    alarm(JOB_SECONDS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != PROCESSES)
        broken("started with %d processes, needs %d", size, PROCESSES);
    if (got < level)
        broken("MPI gives thread level %d instead of %d", got, level);
}

/* The origin says the result; all end. What hangs or crashes after that changes nothing. */
static inline void finish(bool seen, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void finish(bool seen, const char *format, ...)
{
    va_list list;

    if (job.rank == ORIGIN) {
        va_start(list, format);
        printf("%s: %s: ", job.name, seen ? "seen" : "not seen");
        vprintf(format, list);
        printf("\n");
        va_end(list);
        fflush(stdout);
    }
    job.said = 1;
    alarm(5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static inline MPI_Win dynamic_window(void)
{
    MPI_Win window = MPI_WIN_NULL;

    must(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window), "MPI_Win_create_dynamic");
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    return window;
}

static inline void *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        broken("no memory");
    return memory;
}

/* Makes the heap like that of a program that has run for a while: the next copy that osc/ucx makes
 * of the target's attach table will lie behind memory that was in use. In most fresh processes
 * there are zeros, which hide that an entry in front of the table is read. What is not freed is so
 * on purpose. */
static inline void use_heap(void)
{
    enum { TRIES = 64, TABLE = 8 + 32 * (16 + 1024) };
    uintptr_t gap = TABLE + 16;

    for (int i = 0; i < TRIES && gap > TABLE + 8; i++) {
        char *in_front = malloc(TABLE), *hole = malloc(TABLE);

        if (!in_front || !hole)
            broken("no memory");
        memset(in_front, 0xff, TABLE);
        gap = (uintptr_t)hole - (uintptr_t)in_front;
        if (gap <= TABLE + 8)
            free(hole);
    }
}

/* The target's address, on both sides. */
static inline MPI_Aint share_address(const void *address)
{
    MPI_Aint value = 0;

    if (job.rank == TARGET)
        MPI_Get_address(address, &value);
    must(MPI_Bcast(&value, 1, MPI_AINT, TARGET, MPI_COMM_WORLD), "MPI_Bcast");
    return value;
}

#endif
