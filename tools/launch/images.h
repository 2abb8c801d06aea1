/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * images.h: for which kinds of devices a program carries code. Sets of kinds are
 * bits, see base/gpu_library.h. Looks at files only, for what
 * compilers put into them; knows nothing of who runs it.
 */
#ifndef OMPRMA_LAUNCH_IMAGES_H
#define OMPRMA_LAUNCH_IMAGES_H

#include <stdbool.h>

#include "tools/launch/needs.h"

struct images {
    bool native;  /* a shared object for this machine inside the program: clang's */
    int gpus;     /* kinds of GPU: their ELF files, or LLVM bitcode to be made into one */
    int gcc_gpus; /* the same by gcc, which keeps it as data: text, or an ELF file */
};

/* Of the program, and of the libraries that it needs and that are not the system's. What cannot be
 * read has none. */
struct images images_find(const char *program, const struct needs *needs);

#endif
