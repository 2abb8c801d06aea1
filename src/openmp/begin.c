/*
 * begin.c: see begin.h. The C library's __libc_start_main() runs the program's constructors and
 * then the function that it is given. A program looks for it in libraries that are preloaded first.
 */
#include "openmp/begin.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "openmp/device.h"
#include "openmp/exports.h"

static atomic_bool wanted;
static main_routine_t *program_main;

void begin_wanted(void)
{
    atomic_store(&wanted, true);
}

/* libomp would know for sure, but main() may still set variables that libomp reads when it
 * starts. */
static bool is_disabled(void)
{
    const char *wish = getenv("OMP_TARGET_OFFLOAD");
    return wish && strcasecmp(wish, "disabled") == 0;
}

static int begin_main(int count, char **arguments, char **environment)
{
    if (atomic_load(&wanted) && !is_disabled())
        devices_start();
    return program_main(count, arguments, environment);
}

int __libc_start_main(main_routine_t *routine, int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    start_main_t *next = (start_main_t *)dlsym(RTLD_NEXT, "__libc_start_main");
    if (!next) {
        fprintf(stderr, "omprma: the C library has no __libc_start_main: start the program without "
                        "omprma-run\n");
        return EXIT_FAILURE;
    }
    program_main = routine;
    return next(begin_main, count, arguments, init, fini, loader_fini, stack_end);
}
