/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ending.c: libomprma-end.so (face/end) is opened by name at run time. Were the face linked with
 * it, the loader would end it after the face.
 */
#include "face/ending.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void ending_add(struct ending *ending)
{
    void *library = dlopen("libomprma-end.so", RTLD_NOW); /* never closed */
    void (*add)(struct ending *) =
        library ? (void (*)(struct ending *))dlsym(library, "omprma_end_add") : NULL;
    const char *verbose = getenv("OMPRMA_VERBOSE");

    if (add)
        add(ending);
    else if (verbose && atoi(verbose) >= 1)
        fprintf(stderr,
                "omprma: note: programs that open libraries with target regions late may crash at "
                "their end over UCX: %s\n",
                dlerror());
}
