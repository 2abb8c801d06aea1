/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.c: the callbacks of the lost GPU's queues are called, or the handler for events of the
 * system. Runtimes print what they are told there, and abort.
 */
#include "hsa/fault.h"

#include <pthread.h>
#include <stdlib.h>

#include "hsa/attendant.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"

static struct faults {
    pthread_mutex_t lock;
    hsa_amd_system_event_callback_t handler;
    void *data;
    bool (*queues)(struct gpu *gpu, hsa_status_t status);
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A GPU that is lost. */
struct fault {
    struct watch watch; /* first */
    struct gpu *gpu;
    hsa_status_t status;
};

/* False: there is none, or it does not take it. */
static bool tell_handler(const struct fault *fault)
{
    hsa_amd_event_t event = {
        .event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT,
        .memory_fault = {.agent = gpu_agent(fault->gpu),
                         .fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT}};
    omprma_addr_t address = 0;

    pthread_mutex_lock(&faults.lock);
    hsa_amd_system_event_callback_t handler = faults.handler;
    void *data = faults.data;
    pthread_mutex_unlock(&faults.lock);
    if (!handler)
        return false;
    if (omprma_fault_address(fault->gpu->device, &address) == OMPRMA_OK)
        event.memory_fault.virtual_address = address;
    attendant_leave();
    hsa_status_t status = handler(&event, data);
    if (!attendant_enter())
        pthread_exit(NULL);
    return status == HSA_STATUS_SUCCESS;
}

/* False: there is none that has a callback. */
static bool tell_queues(const struct fault *fault)
{
    pthread_mutex_lock(&faults.lock);
    bool (*queues)(struct gpu * gpu, hsa_status_t status) = faults.queues;
    pthread_mutex_unlock(&faults.lock);
    return queues && queues(fault->gpu, fault->status);
}

/* The handler is for memory faults. Where there is none, or it does not take the fault, the real
 * runtime ends the process, and so does this one: a runtime that does not expect its queue's
 * callback there (gcc's) waits at its end for the kernel that faulted. The callbacks of queues are
 * for all else; but rather the handler than none. */
static void fault_run(struct watch *watch)
{
    struct fault *fault = (struct fault *)watch;

    if (fault->status == HSA_STATUS_ERROR_MEMORY_FAULT) {
        if (!tell_handler(fault))
            abort();
    } else if (!tell_queues(fault)) {
        tell_handler(fault);
    }
    free(fault);
}

/* The GPU's first calls that fail are on any thread, with any lock held. */
static void fault_tell(struct gpu *gpu, hsa_status_t status)
{
    struct fault *fault = attendant_start(true) ? malloc(sizeof(*fault)) : NULL;

    if (!fault)
        return; /* all calls of the GPU fail from here on */
    *fault = (struct fault){
        .watch = {.calls_program = true, .run = fault_run}, .gpu = gpu, .status = status};
    attendant_give(&fault->watch);
}

void faults_start(bool (*queues)(struct gpu *gpu, hsa_status_t status))
{
    pthread_mutex_lock(&faults.lock);
    if (queues)
        faults.queues = queues;
    pthread_mutex_unlock(&faults.lock);
    gpu_when_lost(fault_tell);
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback,
                                                   void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS) {
        faults_start(NULL);
        pthread_mutex_lock(&faults.lock);
        faults.handler = callback; /* the last one: LLVM 22 has no device where it is refused */
        faults.data = data;
        pthread_mutex_unlock(&faults.lock);
    }
    return api_end(&call, status);
}
