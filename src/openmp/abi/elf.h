/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * elf.h: what calls do not say of a device image and the image itself does: which compilers made
 * it, and which symbols it has.
 *
 * Thread: no shared state. Blocks: never.
 */
#ifndef OMPRMA_OPENMP_ABI_ELF_H
#define OMPRMA_OPENMP_ABI_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct compilers {
    int oldest, newest; /* versions of clang; 0: none is named */
    bool flang;
};

static inline void compilers_add(struct compilers *compilers, int version)
{
    if (compilers->oldest == 0 || version < compilers->oldest)
        compilers->oldest = version;
    if (version > compilers->newest)
        compilers->newest = version;
}

/* All are of a shared object in memory, which may be damaged. */
struct compilers elf_compilers(const char *image, size_t bytes);
bool elf_has_symbol(const char *image, size_t bytes, const char *name);

/* Does it have variables that its code may write, those of functions (static) among them? Those of
 * threads are none: what they are in the next region is not said. Also true where its table of
 * symbols was taken out. */
bool elf_has_variables(const char *image, size_t bytes);

#endif
