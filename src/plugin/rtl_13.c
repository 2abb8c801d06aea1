/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl_13.c: entry points that came with LLVM 13 or before and are gone in 16 to 18. No logic here:
 * see plugin.h.
 */
#include <stdlib.h>

#include "plugin/plugin.h"
#include "plugin/rtl.h"

/* Larger than the AsyncInfo of any LLVM version. */
enum { ASYNC_INFO_BYTES = 256 };

int32_t __tgt_rtl_run_target_region(int32_t device, void *kernel, void **arguments,
                                    ptrdiff_t *offsets, int32_t count)
{
    return plugin_launch(device, kernel, arguments, offsets, (uint32_t)count, 0, NULL);
}

int32_t __tgt_rtl_run_target_region_async(int32_t device, void *kernel, void **arguments,
                                          ptrdiff_t *offsets, int32_t count,
                                          struct tgt_async *async)
{
    return plugin_launch(device, kernel, arguments, offsets, (uint32_t)count, 0, async);
}

int32_t __tgt_rtl_run_target_team_region(int32_t device, void *kernel, void **arguments,
                                         ptrdiff_t *offsets, int32_t count, int32_t teams,
                                         int32_t thread_limit, uint64_t trip_count)
{
    (void)teams, (void)thread_limit, (void)trip_count;
    return plugin_launch(device, kernel, arguments, offsets, (uint32_t)count, 0, NULL);
}

int32_t __tgt_rtl_run_target_team_region_async(int32_t device, void *kernel, void **arguments,
                                               ptrdiff_t *offsets, int32_t count, int32_t teams,
                                               int32_t thread_limit, uint64_t trip_count,
                                               struct tgt_async *async)
{
    (void)teams, (void)thread_limit, (void)trip_count;
    return plugin_launch(device, kernel, arguments, offsets, (uint32_t)count, 0, async);
}

int32_t __tgt_rtl_register_lib(void *description)
{
    (void)description;
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_unregister_lib(void *description)
{
    (void)description;
    return RTL_SUCCESS;
}

/* The next three serve the interop construct. */

int32_t __tgt_rtl_init_device_info(int32_t device, struct tgt_device_info *info, const char **error)
{
    (void)error;
    if (device < 0 || device >= plugin_start())
        return RTL_FAIL;
    *info = (struct tgt_device_info){0}; /* there is no native handle to give */
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_init_async_info(int32_t device, struct tgt_async **async)
{
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    struct tgt_async *made = calloc(1, ASYNC_INFO_BYTES);
    if (!made)
        plugin_fail(device, "no host memory for an interop object");
    else if (queue_of(device, made)) {
        *async = made;
        result = RTL_SUCCESS;
    } else
        free(made);
    plugin_leave();
    return result;
}

int32_t __tgt_rtl_release_async_info(int32_t device, struct tgt_async *async)
{
    int32_t result = __tgt_rtl_synchronize(device, async);
    free(async);
    return result;
}
