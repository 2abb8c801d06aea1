/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl_common.c: entry points that are the same from LLVM 13 to 18. No logic here: see plugin.h.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "plugin/plugin.h"
#include "plugin/rtl.h"

static atomic_llong requires;

int32_t __tgt_rtl_number_of_devices(void)
{
    return plugin_start();
}

int32_t __tgt_rtl_is_valid_binary(struct tgt_image *image)
{
    return image_accept(image);
}

int64_t __tgt_rtl_init_requires(int64_t flags)
{
    atomic_store(&requires, flags);
    return flags;
}

int32_t __tgt_rtl_init_device(int32_t device)
{
    if (device < 0 || device >= plugin_start())
        return RTL_FAIL;
    const char *refusal = requires_refusal(atomic_load(&requires));
    return refusal ? plugin_fail(device, refusal) : RTL_SUCCESS;
}

void *__tgt_rtl_data_alloc(int32_t device, int64_t bytes, void *host, int32_t kind)
{
    return plugin_alloc(device, bytes, host, kind);
}

int32_t __tgt_rtl_data_delete(int32_t device, void *address, int32_t kind)
{
    (void)kind; /* not passed before LLVM 16 */
    return plugin_delete(device, address);
}

int32_t __tgt_rtl_data_submit(int32_t device, void *to, void *from, int64_t bytes)
{
    return plugin_submit(device, to, from, bytes, NULL);
}

int32_t __tgt_rtl_data_submit_async(int32_t device, void *to, void *from, int64_t bytes,
                                    struct tgt_async *async)
{
    return plugin_submit(device, to, from, bytes, async);
}

int32_t __tgt_rtl_data_retrieve(int32_t device, void *to, void *from, int64_t bytes)
{
    return plugin_retrieve(device, to, from, bytes, NULL);
}

int32_t __tgt_rtl_data_retrieve_async(int32_t device, void *to, void *from, int64_t bytes,
                                      struct tgt_async *async)
{
    return plugin_retrieve(device, to, from, bytes, async);
}

int32_t __tgt_rtl_is_data_exchangable(int32_t from, int32_t to)
{
    int32_t count = plugin_start();
    return from >= 0 && from < count && to >= 0 && to < count;
}

int32_t __tgt_rtl_data_exchange(int32_t from_device, void *from, int32_t to_device, void *to,
                                int64_t bytes)
{
    return plugin_exchange(from_device, from, to_device, to, bytes, NULL);
}

int32_t __tgt_rtl_data_exchange_async(int32_t from_device, void *from, int32_t to_device, void *to,
                                      int64_t bytes, struct tgt_async *async)
{
    return plugin_exchange(from_device, from, to_device, to, bytes, async);
}

int32_t __tgt_rtl_synchronize(int32_t device, struct tgt_async *async)
{
    if (!plugin_enter(device))
        return RTL_FAIL;
    int32_t result = queue_finish(device, async);
    plugin_leave();
    return result;
}

int32_t __tgt_rtl_supports_empty_images(void)
{
    return 1;
}

void __tgt_rtl_set_info_flag(uint32_t flags)
{
    (void)flags; /* libomptarget prints what these flags ask for by itself */
}

void __tgt_rtl_print_device_info(int32_t device)
{
    omprma_device_info_t info;
    if (!plugin_enter(device))
        return;
    if (plugin_result(omprma_device_info(plugin_number(device), &info)) == RTL_SUCCESS)
        printf("    omprma worker on %s, process %d: %s, %d cores, %llu MiB memory, "
               "one-sided component %s\n",
               info.host, info.pid, info.model, info.cores,
               (unsigned long long)(info.memory_bytes >> 20), info.osc);
    plugin_leave();
}
