/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * offload.h: what compilers hand over for target regions whoever takes it: the plugin through
 * libomptarget, the OpenMP runtime directly. The layouts are checked when this compiles; they hold
 * for 64-bit machines only. Knows nothing of omprma.
 */
#ifndef OMPRMA_FACE_OFFLOAD_H
#define OMPRMA_FACE_OFFLOAD_H

#include <stddef.h>
#include <stdint.h>

enum entry_flags {
    ENTRY_LINK = 1,
    ENTRY_CONSTRUCTOR = 2, /* up to clang 18 */
    ENTRY_DESTRUCTOR = 4,  /* up to clang 18 */
    ENTRY_INDIRECT = 8,
    ENTRY_REQUIRES = 16, /* its data are the clauses */
    ENTRY_VTABLE = 32
};

/* A kernel or a variable of an image, up to LLVM 20 or so. */
struct offload_entry {
    void *address; /* on the host in an image, on the device in a table */
    char *name;    /* symbol in the image */
    size_t bytes;  /* 0: a kernel */
    int32_t flags; /* enum entry_flags */
    int32_t data;
};

enum requires_clauses {
    REQUIRES_NONE = 1, /* the program has no requires directive */
    REQUIRES_REVERSE_OFFLOAD = 2,
    REQUIRES_UNIFIED_ADDRESS = 4,
    REQUIRES_UNIFIED_SHARED_MEMORY = 8,
    REQUIRES_DYNAMIC_ALLOCATORS = 16
};

/* What a program is told that requires what its devices cannot give; NULL: they can. */
static inline const char *requires_refusal(int64_t clauses)
{
    if (clauses & REQUIRES_UNIFIED_SHARED_MEMORY)
        return "the program requires unified_shared_memory, which a remote device cannot give: "
               "map the data instead";
    if (clauses & REQUIRES_REVERSE_OFFLOAD)
        return "the program requires reverse_offload, which a remote device cannot give: end the "
               "region before the host's part, and begin another one after it";
    if (clauses & ~(REQUIRES_NONE | REQUIRES_UNIFIED_ADDRESS | REQUIRES_DYNAMIC_ALLOCATORS))
        return "the program has '#pragma omp requires' with a clause that omprma does not know: "
               "leave it out, or take a newer omprma";
    return NULL;
}

/* How a kernel is to be launched. Clang 15's ends after trip_count. */
struct kernel_arguments {
    uint32_t version; /* 1: clang 15, 2: 16 and 17, 3: 18 to 22, 5: since 23; 4 was in no release */
    uint32_t count;
    void **bases, **begins;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trip_count;
    uint64_t flags; /* bit 0: nowait */
    uint32_t teams[3], thread_limit[3];
    uint32_t dynamic_group_bytes;
};

_Static_assert(sizeof(void *) == 8, "this interface is known for 64-bit machines only");
_Static_assert(sizeof(struct offload_entry) == 32, "offload entry");
_Static_assert(offsetof(struct offload_entry, bytes) == 16, "offload entry size");
_Static_assert(offsetof(struct offload_entry, flags) == 24, "offload entry flags");
_Static_assert(offsetof(struct kernel_arguments, count) == 4, "kernel argument count");
_Static_assert(offsetof(struct kernel_arguments, bases) == 8, "kernel base pointers");
_Static_assert(offsetof(struct kernel_arguments, trip_count) == 56, "kernel trip count");
_Static_assert(offsetof(struct kernel_arguments, flags) == 64, "end of clang 15's arguments");
_Static_assert(offsetof(struct kernel_arguments, teams) == 72, "kernel teams");
_Static_assert(sizeof(struct kernel_arguments) == 104, "kernel arguments");

#endif
