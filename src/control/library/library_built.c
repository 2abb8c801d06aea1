/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* library_built.c: what mpi.h says of itself. Calls nothing, so that tools which never start MPI do
 * not load the library. */
#include <mpi.h>

#include "control/library/library.h"

enum library_kind library_built(void)
{
#if defined(OPEN_MPI)
    return LIBRARY_OPENMPI;
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION)
    return LIBRARY_MPICH;
#else
    return LIBRARY_OTHER;
#endif
}
