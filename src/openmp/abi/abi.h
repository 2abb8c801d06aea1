/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * abi.h: what programs compiled by clang 14 to 23 hand to the OpenMP runtime for devices. The
 * layouts are checked when this compiles; they hold for 64-bit machines only. Knows nothing of
 * omprma.
 */
#ifndef OMPRMA_OPENMP_ABI_ABI_H
#define OMPRMA_OPENMP_ABI_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "face/offload.h"

#define ABI_EXPORT __attribute__((visibility("default")))

/* Of a construct in the source; `where` is ";file;function;line;column;;". */
struct location {
    int32_t reserved[4];
    const char *where;
};

/* ---- what constructors register ------------------------------------------------------------- */

/* An entry (face/offload.h) later. `zero` tells it from the older form, which begins with an
 * address. */
struct abi_entry_new {
    uint64_t zero;
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t bytes, data;
    void *aux;
};
enum { ENTRY_KIND_OPENMP = 1 };

struct abi_image {
    char *start, *end;
    char *entries_begin, *entries_end;
};

struct abi_library {
    int32_t count;
    struct abi_image *images;
    char *entries_begin, *entries_end;
};

/* ---- maps ----------------------------------------------------------------------------------- */

enum map_type {
    MAP_TO = 1,
    MAP_FROM = 2,
    MAP_ALWAYS = 4,
    MAP_DELETE = 8,
    MAP_PTR_AND_OBJ = 0x10,
    MAP_TARGET_PARAM = 0x20,
    MAP_RETURN_PARAM = 0x40,
    MAP_PRIVATE = 0x80,
    MAP_LITERAL = 0x100,
    MAP_IMPLICIT = 0x200,
    MAP_CLOSE = 0x400,
    MAP_PRESENT = 0x1000,
    MAP_HOLD = 0x2000,
    MAP_ATTACH = 0x4000,
    MAP_NULLIFY = 0x8000 /* with RETURN_PARAM: what is not mapped is NULL; clang 23 */
};
#define MAP_NON_CONTIG INT64_C(0x100000000000)
#define MAP_MEMBER_OF ((int64_t)(UINT64_C(0xffff) << 48))

/* All that any of these compilers says, and a bit that another company's has. */
#define MAP_KNOWN (INT64_C(0xffff) | MAP_NON_CONTIG | MAP_MEMBER_OF)

/* The index of the entry that this one is a member of, -1: none. */
static inline int32_t map_parent(int64_t type)
{
    return (int32_t)((uint64_t)type >> 48) - 1;
}

/* One dimension of a range that is not contiguous. */
struct dimension {
    uint64_t offset, count, stride;
};

/* ---- regions -------------------------------------------------------------------------------- */

/* Of struct kernel_arguments (face/offload.h). */
enum { ARGUMENTS_NOWAIT = 1 }; /* a flag */
/* Their versions: since FLAGS they hold what the call itself holds, too; with DYN_PTR kernels take
 * one more pointer, the first; since CONTEXT it is the last one, and kernels take an array. Clang
 * 18 says FLAGS, as 16 and 17 do, and its kernels take that pointer all the same. */
enum {
    CLANG_DYN_PTR = 18,
    ARGUMENTS_VERSION_FLAGS = 2,
    ARGUMENTS_VERSION_DYN_PTR = 3,
    ARGUMENTS_VERSION_CONTEXT = 5
};

/* ---- interop constructs, what other compilers than clang pass ---- */

struct interop_context {
    uint32_t version;
    uint32_t flags; /* bit 0: implicit, bit 1: nowait */
    int32_t thread;
};

struct dependence_pack {
    int32_t count;
    void *list; /* libomp's */
    int32_t alias_free_count;
    void *alias_free;
};

/* What the entry points return. */
enum { ABI_OK = 0, ABI_FAIL = 1 };

_Static_assert(offsetof(struct location, where) == 16, "source location");
_Static_assert(sizeof(struct abi_entry_new) == 56, "newer offload entry");
_Static_assert(offsetof(struct abi_entry_new, address) == 16, "newer offload entry's address");
_Static_assert(sizeof(struct abi_image) == 32, "device image");
_Static_assert(sizeof(struct abi_library) == 32, "registered library");
_Static_assert(sizeof(struct interop_context) == 12, "context of an interop construct");
_Static_assert(sizeof(struct dependence_pack) == 32, "dependences of an interop construct");

#endif
