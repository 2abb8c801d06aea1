/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* starter.c: arguments that are no program, or options, are passed over. */
#include "tools/launch/starter.h"

#include <stdlib.h>
#include <string.h>

#include "tools/launch/paths.h"

bool starter_of_several(const char *path)
{
    static const char *const names[] = {"sh",    "dash",  "bash",  "zsh",       "ksh",
                                        "mksh",  "fish",  "xargs", "parallel",  "make",
                                        "gmake", "ninja", "find",  "hyperfine", "busybox"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Where several MPI libraries are installed, mpirun and mpiexec have endings that say whose they
 * are. */
bool starter_is_launcher(const char *path)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "prun",
                                        "srun",   "aprun",   "palsrun", "jsrun",   "flux"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        bool ends = strncmp(names[i], "mpi", 3) == 0;
        if (strncmp(name, names[i], length) == 0 &&
            (!name[length] || (ends && name[length] == '.')))
            return true;
    }
    return false;
}

int starter_find(char **argv, starter_wants *wants, char **path, struct needs *needs)
{
    for (int i = 1; argv[0] && argv[i]; i++) {
        char *found = NULL;
        struct needs about;
        if (*argv[i] == '-' || path_program(argv[i], &found) != OMPRMA_OK)
            continue;
        if (needs_read(&about, found, NULL) == OMPRMA_OK) {
            if (wants(&about)) {
                *path = found;
                *needs = about;
                return i;
            }
            needs_clear(&about);
        }
        free(found);
    }
    return 0;
}
