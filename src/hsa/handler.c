/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * handler.c: functions of the program that the caller (attendant.h) calls when a signal has a
 * value. One that returns true is called again when the condition is met the next time, by the same
 * signal; its signal may be destroyed meanwhile.
 */
#include <stdlib.h>

#include "hsa/attendant.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/signal.h"

struct handler {
    struct watch watch; /* first */
    hsa_amd_signal_handler call;
    void (*callback)(void *data); /* instead of it, without a signal */
    void *data;
};

static void handler_run(struct watch *watch)
{
    struct handler *handler = (struct handler *)watch;
    bool again = false;

    if (watch->dropped) {
        free(handler);
        return;
    }
    attendant_leave();
    if (handler->callback)
        handler->callback(handler->data);
    else
        again = handler->call(watch->seen, handler->data);
    /* The gate is entered again by whoever has called this; if the process ends meanwhile, that
     * finds out. */
    if (!attendant_enter())
        pthread_exit(NULL);
    if (!again || !watch->signal || !signal_watch(watch->signal, watch))
        free(handler);
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t handle, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler function,
                                          void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct signal *signal = signal_of(handle);
    struct handler *handler = NULL;

    if (status == HSA_STATUS_SUCCESS && (!function || condition > HSA_SIGNAL_CONDITION_GTE))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !signal)
        status = HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (status == HSA_STATUS_SUCCESS && !(handler = malloc(sizeof(*handler))))
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (status == HSA_STATUS_SUCCESS) {
        *handler = (struct handler){.watch = {.condition = condition,
                                              .compare = value,
                                              .mask = -1,
                                              .calls_program = true,
                                              .run = handler_run},
                                    .call = function,
                                    .data = data};
        if (!signal_watch(signal, &handler->watch)) {
            free(handler);
            status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
    }
    return api_end(&call, status);
}

hsa_status_t hsa_amd_async_function(void (*callback)(void *data), void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct handler *handler = NULL;

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS &&
        (!attendant_start(true) || !(handler = malloc(sizeof(*handler)))))
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (status == HSA_STATUS_SUCCESS) {
        *handler = (struct handler){.watch = {.calls_program = true, .run = handler_run},
                                    .callback = callback,
                                    .data = data};
        attendant_give(&handler->watch);
    }
    return api_end(&call, status);
}
