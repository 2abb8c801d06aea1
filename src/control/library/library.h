/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * library.h: which MPI library this is, and whether it is one that omprma can use: that for which
 * it was built, of a version that is known, and the one to which the launcher belongs. Knows
 * nothing of what their differences mean.
 */
#ifndef OMPRMA_CONTROL_LIBRARY_LIBRARY_H
#define OMPRMA_CONTROL_LIBRARY_LIBRARY_H

#include <omprma/omprma.h>

enum library_kind {
    LIBRARY_OTHER, /* not known, or built for any */
    LIBRARY_OPENMPI,
    LIBRARY_MPICH /* and those that share its interface */
};

struct library {
    enum library_kind kind;
    int version; /* major * 10000 + minor * 100 + patch; 0: not known */
};

/* The first version of Open MPI that is known, and the first one that is not. */
enum { LIBRARY_OPENMPI_FIRST = 40100, LIBRARY_OPENMPI_END = 70000 };

/* In which omprma-run says which launcher it has started, for example "Open MPI 5.0.7". */
#define LIBRARY_LAUNCHER "OMPRMA_INTERNAL_LAUNCHER"

/* For which kind omprma was built. */
enum library_kind library_built(void);

/* For users. */
const char *library_name(enum library_kind kind);

/* By the first line of what MPI_Get_library_version() says. */
struct library library_of(const char *text);

/* Can a process with the library that says this go on? `launcher` is the value of LIBRARY_LAUNCHER;
 * NULL: not known. Errors: CONFIG; the text names both sides and what to do. */
omprma_status_t library_check(const char *text, const char *launcher);

#endif
