/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shared.c: what flang 23 calls for variables that a region's threads share. On a GPU each thread
 * has memory that others do not see; here none has.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/flang.h"

void *__kmpc_alloc_shared(uint64_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "omprma: error: no memory for variables of a target region\n");
        abort();
    }
    return memory;
}

void __kmpc_free_shared(void *memory, uint64_t bytes)
{
    (void)bytes;
    free(memory);
}

/* Of GPUs' threads that wait until the region's first one has work for them. */
void __kmpc_get_shared_variables(void ***variables)
{
    (void)variables;
    abort();
}
