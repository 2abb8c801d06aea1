/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl_events.c: entry points for events, the same from LLVM 13 to 18. No logic here: see plugin.h.
 */
#include "plugin/plugin.h"
#include "plugin/rtl.h"

int32_t __tgt_rtl_create_event(int32_t device, void **event)
{
    omprma_event_t *created = NULL;
    if (!plugin_enter(device))
        return RTL_FAIL;
    int32_t result = plugin_result(omprma_event_create(&created));
    if (result == RTL_SUCCESS)
        *event = created;
    plugin_leave();
    return result;
}

int32_t __tgt_rtl_record_event(int32_t device, void *event, struct tgt_async *async)
{
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    omprma_queue_t *queue = queue_of(device, async);
    if (queue)
        result = plugin_result(omprma_event_record(event, queue));
    plugin_leave();
    return result;
}

int32_t __tgt_rtl_wait_event(int32_t device, void *event, struct tgt_async *async)
{
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    omprma_queue_t *queue = queue_of(device, async);
    if (queue)
        result = plugin_result(omprma_event_wait(event, queue));
    plugin_leave();
    return result;
}

int32_t __tgt_rtl_sync_event(int32_t device, void *event)
{
    if (!plugin_enter(device))
        return RTL_FAIL;
    int32_t result = plugin_result(omprma_event_synchronize(event));
    plugin_leave();
    return result;
}

int32_t __tgt_rtl_destroy_event(int32_t device, void *event)
{
    if (plugin_ended())
        return RTL_SUCCESS; /* it went with everything else */
    if (!plugin_enter(device))
        return RTL_FAIL;
    omprma_event_destroy(event);
    plugin_leave();
    return RTL_SUCCESS;
}
