/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loaded.c: by the names of the files that the loader has, which are the same for all of its
 * answers. */
#define _GNU_SOURCE
#include "control/library/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

bool loaded_is_mpi(const char *path)
{
    static const char *const begins[] = {"libmpi.so", "libmpich.so", "libmpi_abi.so",
                                         "libmpi_abi_"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

struct pair {
    const char *own, *other;
};

static int look(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct pair *pair = data;

    (void)bytes;
    if (loaded_is_mpi(info->dlpi_name) && strcmp(info->dlpi_name, pair->own) != 0)
        pair->other = info->dlpi_name;
    return pair->other != NULL;
}

/* Where the function is not of such a file, as in a program that is linked statically, or behind a
 * library that looks on at calls, nothing can be said. */
omprma_status_t loaded_check(const void *function)
{
    struct pair pair = {0};
    Dl_info info;

    if (!dladdr(function, &info) || !loaded_is_mpi(info.dli_fname))
        return OMPRMA_OK;
    pair.own = info.dli_fname;
    dl_iterate_phdr(look, &pair);
    if (!pair.other)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "two MPI libraries are in this process, %s and %s, and only one can be: link "
                     "the program with that of omprma, which omprma-info names, or with none, or "
                     "run it with --transport direct",
                     pair.own, pair.other);
}
