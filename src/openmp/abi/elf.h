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
#include <stdint.h>

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

/* A variable, at an address as the image counts them. */
struct elf_variable {
    uint64_t at, bytes;
    const char *name; /* in the image */
};

/* Calls for each variable that the image's code may write, those of functions (static) among them.
 * Those of threads are none: what they are in the next region is not said. Nor is what libomp keeps
 * there. False: `call` has returned false, or the table of symbols was taken out. */
bool elf_each_variable(const char *image, size_t bytes,
                       bool (*call)(const struct elf_variable *variable, void *context),
                       void *context);

/* Does it have such variables? Also true where its table of symbols was taken out. */
bool elf_has_variables(const char *image, size_t bytes);

/* Where a symbol is, as the image counts addresses; 0: there is none. */
uint64_t elf_symbol(const char *image, size_t bytes, const char *name);

/* Where the image ends when it is loaded, as it counts addresses. */
uint64_t elf_extent(const char *image, size_t bytes);

#endif
