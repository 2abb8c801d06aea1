/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kinds.c: the kinds that workers know: NAME_kind for each row of the table, see kind.h. */
#include "worker/gpu/kind.h"

#define KIND(NAME, name, maker, ...) extern const struct gpu_kind name##_kind;
GPU_TABLE(KIND)
#undef KIND

const struct gpu_kind *const gpu_kinds[GPU_LIBRARIES] = {
#define KIND(NAME, name, maker, ...) &name##_kind,
    GPU_TABLE(KIND)
#undef KIND
};
