/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libomp_names.c: functions under the version that programs ask for when they were linked with
 * libomp first: those of interop objects, and those that give the host's number. libomp has them,
 * too, and passes on to the library behind it, but not which of the latter was called; ours is
 * before it (see task.h). Compiled without link-time optimization, which loses such names.
 */
#include "openmp/abi/exports.h"

#define NAMED(type, name, parameters, arguments)                                                   \
    ABI_EXPORT type named_##name parameters;                                                       \
    type named_##name parameters                                                                   \
    {                                                                                              \
        return name arguments;                                                                     \
    }                                                                                              \
    __asm__(".symver named_" #name ", " #name "@VERSION");

NAMED(int, omp_get_num_devices, (void), ())
NAMED(int, omp_get_initial_device, (void), ())
NAMED(int, omp_get_num_interop_properties, (const struct interop *interop), (interop))
NAMED(intptr_t, omp_get_interop_int, (const struct interop *interop, int property, int *result),
      (interop, property, result))
NAMED(void *, omp_get_interop_ptr, (const struct interop *interop, int property, int *result),
      (interop, property, result))
NAMED(const char *, omp_get_interop_str, (const struct interop *interop, int property, int *result),
      (interop, property, result))
NAMED(const char *, omp_get_interop_name, (const struct interop *interop, int property),
      (interop, property))
NAMED(const char *, omp_get_interop_type_desc, (const struct interop *interop, int property),
      (interop, property))
NAMED(const char *, omp_get_interop_rc_desc, (const struct interop *interop, int result),
      (interop, result))
