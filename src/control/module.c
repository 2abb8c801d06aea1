/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c: The module lies in the tree to which the code here belongs: beside libomprma.so, or,
 * for a program, in the library folder beside its own. Its names are global: components of Open
 * MPI, as Debian builds them, are not linked with libmpi, and would else not find it where nothing
 * but this module is.
 */
#define _GNU_SOURCE
#include "control/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "control/library/library.h"
#include "control/shm/doorbell.h"
#include "control/transport.h"

static const struct module_uses uses = {error_set, log_write, doorbell_owner_died};

/* The file in which this function is. The loader has no name for the program itself. */
static bool find_self(char path[PATH_MAX], bool *is_program)
{
    const struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1((const void *)(uintptr_t)&find_self, &info, (void **)&map, RTLD_DL_LINKMAP) ||
        !map)
        return false;
    *is_program = !*map->l_name;
    return realpath(*is_program ? "/proc/self/exe" : map->l_name, path) != NULL;
}

static omprma_status_t find_module(char *path, size_t bytes)
{
    char self[PATH_MAX], *slash;
    bool is_program = false;
    int length;

    if (!find_self(self, &is_program))
        return error_set(OMPRMA_ERR_CONFIG, "the place of omprma's own code cannot be found, and "
                                            "so neither libomprma-mpi.so; is /proc mounted?");
    for (int level = 0; level < (is_program ? 2 : 1); level++)
        if ((slash = strrchr(self, '/')))
            *slash = 0;
    length = snprintf(path, bytes, "%s%s/omprma/libomprma-mpi.so", self, is_program ? "/lib" : "");
    return length < (int)bytes ? OMPRMA_OK
                               : error_set(OMPRMA_ERR_CONFIG, "the path %s is too long", self);
}

/* The words of the loader begin with the file that it could not open. */
static omprma_status_t say_why(const char *path)
{
    const char *words = dlerror();
    bool any = library_built() == LIBRARY_OTHER;

    if (access(path, R_OK) != 0)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s, by which omprma uses MPI, cannot be read: install omprma completely",
                         path);
    return error_set(OMPRMA_ERR_CONFIG,
                     "%s, by which omprma uses MPI, cannot be loaded (%s): install the %s for "
                     "which omprma was built, or let LD_LIBRARY_PATH lead to its libraries",
                     path, words ? words : "the loader says no more",
                     any ? "Open MPI 6 or MPICH 5" : library_name(library_built()));
}

static omprma_status_t check_version(void *module, const char *path)
{
    const char *version = dlsym(module, MODULE_VERSION_NAME);

    if (version && strcmp(version, OMPRMA_VERSION_STRING) == 0)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_VERSION,
                     "%s is of omprma %s, but this process is omprma " OMPRMA_VERSION_STRING
                     ": install one version completely",
                     path, version ? version : "(it does not say which)");
}

const struct transport *module_open(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    module_entry_t *entry;

    if (!module) {
        say_why(path);
        return NULL;
    }
    *(void **)&entry = dlsym(module, MODULE_ENTRY_NAME);
    if (check_version(module, path) == OMPRMA_OK) {
        if (entry)
            return entry(&uses);
        error_set(OMPRMA_ERR_VERSION, "%s is damaged: install omprma again", path);
    }
    dlclose(module);
    return NULL;
}

const struct transport *transport_mpi_open(void)
{
    static const struct transport *transport;
    char path[PATH_MAX];

    if (!transport && find_module(path, sizeof(path)) == OMPRMA_OK)
        transport = module_open(path);
    return transport;
}

omprma_status_t module_mpi_library(char *text, size_t bytes)
{
    const struct transport *transport = transport_mpi_open();

    if (!transport)
        return OMPRMA_ERR_CONFIG;
    transport->library(text, bytes);
    return OMPRMA_OK;
}
