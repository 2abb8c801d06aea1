/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start_main.c: takes the place of the C library's __libc_start_main(), which runs the program's
 * constructors and then the function that it is given, to do begin_main() between them. A program
 * looks for it in libraries that are preloaded first. Not in the objects that tests link: those
 * have a main() of their own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "openmp/abi/exports.h"
#include "openmp/entry/begin.h"

static main_routine_t *program_main;

static int main_after_begin(int count, char **arguments, char **environment)
{
    begin_main();
    return program_main(count, arguments, environment);
}

int __libc_start_main(main_routine_t *routine, int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    start_main_t *next = (start_main_t *)dlsym(RTLD_NEXT, "__libc_start_main");
    if (!next) {
        fprintf(stderr,
                "omprma: error: the C library has no __libc_start_main: start the program without "
                "omprma-run\n");
        _exit(EXIT_FAILURE); /* nothing is there to return to */
    }
    program_main = routine;
    return next(main_after_begin, count, arguments, init, fini, loader_fini, stack_end);
}
