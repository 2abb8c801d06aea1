/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mixed.c: programs that have code for devices of another plugin too. Up to 15 LLVM has a mistake
 * there (seen in 14 and 15): omp_target_memcpy from a device of one plugin to one of another
 * submits on the second, and then has the first one synchronize what that has put into AsyncInfo.
 * So here submits leave nothing in it, and what is not ours when we synchronize is a stream of the
 * CUDA plugin, which has the driver open. That plugin keeps a stream less after each such copy.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "plugin/plugin.h"

static atomic_bool mixed;

/* Newer libomptargets have this function. */
void mixed_note(void)
{
    if (!dlsym(RTLD_DEFAULT, "__tgt_target_nowait_query"))
        atomic_store(&mixed, true);
}

bool mixed_is(void)
{
    return atomic_load_explicit(&mixed, memory_order_relaxed);
}

int32_t mixed_synchronize(void *stream)
{
    void *driver = dlopen("libcuda.so", RTLD_LAZY | RTLD_NOLOAD);
    int (*wait)(void *) = NULL;
    int32_t result = RTL_FAIL;

    if (driver)
        *(void **)&wait = dlsym(driver, "cuStreamSynchronize");
    if (!wait)
        plugin_fail(-1, "a copy to a device of another plugin cannot be waited for, which LLVM up "
                        "to 15 leaves to omprma; compile the program with a newer clang");
    else if (wait(stream) == 0)
        result = RTL_SUCCESS;
    if (driver)
        dlclose(driver);
    return result;
}
