/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* library.c: reads how MPI libraries name themselves. */
#include "control/library/library.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* How each kind begins, up to its version. */
static const struct {
    enum library_kind kind;
    const char *begin;
} names[] = {
    {LIBRARY_OPENMPI, "Open MPI v"},    {LIBRARY_OPENMPI, "Open MPI "},
    {LIBRARY_MPICH, "MPICH Version: "}, {LIBRARY_MPICH, "MPICH Version:\t"},
    {LIBRARY_MPICH, "MPICH "},
};

const char *library_name(enum library_kind kind)
{
    static const char *const words[] = {
        [LIBRARY_OTHER] = "MPI", [LIBRARY_OPENMPI] = "Open MPI", [LIBRARY_MPICH] = "MPICH"};
    return words[kind];
}

struct library library_of(const char *text)
{
    struct library library = {LIBRARY_OTHER, 0};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library.version; i++) {
        int major = 0, minor = 0, patch = 0;
        size_t length = strlen(names[i].begin);
        if (strncmp(text, names[i].begin, length) != 0)
            continue;
        library.kind = names[i].kind;
        if (sscanf(text + length, "%d.%d.%d", &major, &minor, &patch) >= 1)
            library.version = major * 10000 + minor * 100 + patch;
    }
    return library;
}

static omprma_status_t check_version(const char *text, const struct library *library)
{
    if (library->kind != LIBRARY_OPENMPI || !library->version ||
        (library->version >= LIBRARY_OPENMPI_FIRST && library->version < LIBRARY_OPENMPI_END))
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "the MPI library is %.40s, and omprma knows Open MPI 4.1 to 6; run with one "
                     "of these%s",
                     text, library->version < LIBRARY_OPENMPI_FIRST ? "" : ", or a newer omprma");
}

/* Versions of one kind go together when the major number is the same. */
static omprma_status_t check_launcher(const char *text, const struct library *library,
                                      const char *launcher)
{
    struct library other = library_of(launcher);
    if (!library->version || !other.version ||
        (library->kind == other.kind && library->version / 10000 == other.version / 10000))
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "the MPI library is %.40s, but the first mpirun in PATH, which has started "
                     "this job, is of %.40s; put that of the library first in PATH, or let "
                     "LD_LIBRARY_PATH lead to the library of that one",
                     text, launcher);
}

omprma_status_t library_check(const char *text, const char *launcher)
{
    struct library library = library_of(text);
    enum library_kind built = library_built();
    if (built != LIBRARY_OTHER && library.kind != LIBRARY_OTHER && library.kind != built)
        return error_set(OMPRMA_ERR_CONFIG,
                         "this process has the MPI library %.40s, but omprma was built for %s, and "
                         "two cannot be in one process: link the program with %s, or build omprma "
                         "with -DMPI_C_COMPILER=MPICC, the mpicc of %s",
                         text, library_name(built), library_name(built),
                         library_name(library.kind));
    omprma_status_t status = check_version(text, &library);
    if (status == OMPRMA_OK && launcher)
        status = check_launcher(text, &library, launcher);
    return status;
}
