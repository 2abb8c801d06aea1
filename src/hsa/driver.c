/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.c: the first hsa_init() starts omprma and looks for GPUs; the last hsa_shut_down() waits
 * for what these do. Nothing else starts it (face/driver/guard.h). Each exported function stands
 * between api_begin() and api_end().
 */
#include "hsa/driver.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include <omprma/omprma.h>

#include "face/driver/guard.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/lanes.h"
#include "hsa/result.h"

static struct driver {
    pthread_once_t once;
    atomic_uint references; /* hsa_init() without hsa_shut_down(), in this process */
} driver = {.once = PTHREAD_ONCE_INIT};

/* In a forked child: what the parent has begun is not here. */
static void start_over(void)
{
    atomic_store(&driver.references, 0);
    gpus_forget();
}

static void start_once(void)
{
    omprma_status_t status = guard_start();

    if (status == OMPRMA_OK)
        gpus_find();
    else
        result_of(NULL, status);
    pthread_atfork(NULL, NULL, start_over);
    guard_open();
}

hsa_status_t api_begin(struct call *call)
{
    enum guard state = guard_enter();

    call->inside = state == GUARD_OPEN || state == GUARD_IN_HOST_CALL;
    if (state == GUARD_ENDED || atomic_load(&driver.references) == 0)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t api_end(struct call *call, hsa_status_t status)
{
    if (call->inside)
        guard_leave();
    return status;
}

/* ---- exported ------------------------------------------------------------------------------- */

hsa_status_t hsa_init(void)
{
    enum guard state = guard_look();
    unsigned references = atomic_load(&driver.references);

    if (state == GUARD_STARTING)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (state == GUARD_FORKED && references == 0)
        report_error("this process was forked by one that uses GPUs, and cannot use them: it has "
                     "no GPU; fork before the first call of HSA, or start a new process (Python: "
                     "the start method \"spawn\")");
    else if (state == GUARD_NOT_STARTED)
        pthread_once(&driver.once, start_once);
    do {
        if (references == INT_MAX)
            return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
    } while (!atomic_compare_exchange_weak(&driver.references, &references, references + 1));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_shut_down(void)
{
    unsigned references = atomic_load(&driver.references);

    do {
        if (references == 0)
            return HSA_STATUS_ERROR_NOT_INITIALIZED;
    } while (!atomic_compare_exchange_weak(&driver.references, &references, references - 1));
    if (references == 1 && guard_enter() == GUARD_OPEN) {
        lanes_settle_all();
        guard_leave();
    }
    return HSA_STATUS_SUCCESS;
}
