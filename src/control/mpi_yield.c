/* mpi_yield.c: see mpi_yield.h. MPI has no call for it, and Open MPI's own setting can be read but
 * not written once it runs; what the setting is kept in is a symbol of its library. */
#define _GNU_SOURCE
#include "control/mpi_yield.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

#include "base/log.h"

/* NULL: MPI does not yield, or cannot be told. */
static volatile bool *yields;

void mpi_yield_find(void)
{
    Dl_info mpi;
    void *library = NULL;

    /* The library may have been loaded for a plugin only: no global name leads to it. */
    if (dladdr((const void *)(uintptr_t)&MPI_Init_thread, &mpi))
        library = dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    yields = library ? dlsym(library, "opal_progress_yield_when_idle") : NULL;
    if (library)
        dlclose(library); /* it stays: we are linked with it */
    if (!yields)
        log_write(LOG_DETAIL, "this MPI does not say whether it yields the processor in each call");
    else if (!*yields)
        yields = NULL;
}

void mpi_yield_allow(bool allow)
{
    if (yields)
        *yields = allow;
}
