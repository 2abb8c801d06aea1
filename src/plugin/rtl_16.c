/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl_16.c: entry points that came with LLVM 16 and 17. No logic here: see plugin.h.
 *
 * There is no __tgt_rtl_query_async, which all of these look for: with it libomptarget puts a
 * nowait region that is not done back into libomp's queue as a task, and libomp 16 loses it at
 * times, so that all threads wait for ever (the stock plugins too). 17 and 18 have not been shown
 * to be sound. Without it libomptarget synchronizes, in a hidden helper thread.
 */
#include "plugin/plugin.h"
#include "plugin/rtl.h"

/* From this version of the kernel arguments on, kernels take a pointer to a launch environment
 * first; host kernels do not look at it. */
enum { VERSION_WITH_ENVIRONMENT = 3 };

int32_t __tgt_rtl_launch_kernel(int32_t device, void *kernel, void **arguments, ptrdiff_t *offsets,
                                struct kernel_arguments *kernel_args, struct tgt_async *async)
{
    uint32_t leading = kernel_args->version >= VERSION_WITH_ENVIRONMENT ? 1 : 0;
    return plugin_launch(device, kernel, arguments, offsets, kernel_args->count, leading, async);
}

/* Locked host memory keeps its address: nothing is pinned. */
int32_t __tgt_rtl_data_lock(int32_t device, void *host, int64_t bytes, void **locked)
{
    (void)device, (void)bytes;
    *locked = host;
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_data_unlock(int32_t device, void *host)
{
    (void)device, (void)host;
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_data_notify_mapped(int32_t device, void *host, int64_t bytes)
{
    (void)device, (void)host, (void)bytes;
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_data_notify_unmapped(int32_t device, void *host)
{
    (void)device, (void)host;
    return RTL_SUCCESS;
}
