/* What belongs to the program stays as it set it, whatever its regions do: the error handler
 * of MPI_COMM_WORLD, signal handlers, the signals that are blocked, and the level of threads,
 * here the lowest. */
#define _GNU_SOURCE /* dladdr() */
#include "ranks.h"
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,
                              SIGTERM, SIGCHLD, SIGSEGV, SIGBUS,  SIGFPE,  SIGIO,   SIGURG};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static volatile sig_atomic_t signals_seen;
static int errors_seen;

static void on_signal(int number)
{
    (void)number;
    signals_seen++;
}

static void on_error(MPI_Comm *communicator, int *code, ...)
{
    (void)code;
    errors_seen += *communicator == MPI_COMM_WORLD;
}

/* MPI libraries may have set handlers before main(); those of OpenMP did not. */
static void look_at_start(void)
{
    struct sigaction action;
    Dl_info where;

    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &action);
        if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
            continue;
        if (dladdr((void *)(size_t)action.sa_handler, &where) && strstr(where.dli_fname, "libomp"))
            wrong("signal %d has a handler of %s", signals[i], where.dli_fname);
    }
}

static void set_handlers(sigset_t *blocked)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigaddset(&action.sa_mask, SIGWINCH);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, NULL);
    sigemptyset(blocked);
    sigaddset(blocked, SIGUSR2);
    sigaddset(blocked, SIGTTOU);
    sigprocmask(SIG_BLOCK, blocked, NULL);
    sigprocmask(SIG_BLOCK, NULL, blocked);
}

static void look_again(const sigset_t *blocked)
{
    struct sigaction action;
    sigset_t now;

    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &action);
        if (action.sa_handler != on_signal || !(action.sa_flags & SA_RESTART) ||
            !sigismember(&action.sa_mask, SIGWINCH))
            wrong("the handler of signal %d is another one", signals[i]);
    }
    sigprocmask(SIG_BLOCK, NULL, &now);
    for (int number = 1; number < 32; number++)
        if (sigismember(&now, number) != sigismember(blocked, number))
            wrong("signal %d is blocked, or no longer", number);
}

static void run_regions(void)
{
    for (int round = 0; round < 50; round++) {
        long values[64];

        for (int i = 0; i < 64; i++)
            values[i] = round;
#pragma omp target map(tofrom : values) device(some_device(round))
        for (int i = 0; i < 64; i++)
            values[i] += i;
        compare("a value", values[round], 2L * round);
    }
}

int main(int count, char **words)
{
    MPI_Errhandler handler, now;
    sigset_t blocked;
    int level, level_now;

    program_name = "handlers";
    look_at_start();
    MPI_Init_thread(&count, &words, MPI_THREAD_SINGLE, &level);
    ranks_known("handlers");
    set_handlers(&blocked);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);

    check_on_device(some_device(0));
    run_regions();

    look_again(&blocked);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    if (now != handler)
        wrong("the error handler is another one");
    MPI_Send(&level, 1, MPI_INT, size + 10, 1, MPI_COMM_WORLD); /* there is no such rank */
    compare("calls of the error handler", errors_seen, 1);
    int seen = signals_seen;
    raise(SIGUSR1);
    raise(SIGTERM);
    compare("signals that were handled", signals_seen - seen, 2);
    MPI_Query_thread(&level_now);
    compare("the level of threads", level_now, level);
    run_regions();
    return ranks_end();
}
