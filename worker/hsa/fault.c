/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.c: how a GPU is lost. The runtime tells of memory that is none, and of hardware that fails,
 * by one handler for the process, which has to return success, because else the runtime ends it;
 * of other faults of a kernel by a callback of its queue. Both come on threads of the runtime.
 * Nothing else says so: what is under way never ends. So whoever polls looks here.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "worker/hsa/hsa.h"

/* The GPUs that are open, for the handler. */
static struct {
    pthread_mutex_t lock;
    struct hsa *gpus[ROCR_GPUS_MOST];
    int count;
} open_gpus = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The first fault stays. */
static void note(struct hsa *hsa, int code, uint64_t address, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void note(struct hsa *hsa, int code, uint64_t address, const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&hsa->lock);
    if (!rocr_fault_code(hsa)) {
        hsa->fault.address = address;
        va_start(arguments, format);
        vsnprintf(hsa->fault.words, sizeof(hsa->fault.words), format, arguments);
        va_end(arguments);
        atomic_store_explicit(&hsa->fault.code, code, memory_order_release);
    }
    pthread_mutex_unlock(&hsa->lock);
}

/* ---- memory and hardware ---- */

static const char *reason_words(uint32_t reasons)
{
    return reasons & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT ? ", where there is no memory"
           : reasons & HSA_AMD_MEMORY_FAULT_READ_ONLY      ? ", which is read-only"
           : reasons & HSA_AMD_MEMORY_FAULT_NX             ? ", which is not executable"
           : reasons & HSA_AMD_MEMORY_FAULT_HOST_ONLY      ? ", which is the host's"
           : reasons & (HSA_AMD_MEMORY_FAULT_DRAMECC | HSA_AMD_MEMORY_FAULT_SRAMECC)
               ? ", where the memory is defective"
               : "";
}

static void note_event(struct hsa *hsa, const hsa_amd_event_t *event)
{
    const hsa_amd_gpu_memory_fault_info_t *info = &event->memory_fault;
    char words[ROCR_WORDS_BYTES];

    if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT)
        note(hsa, HSA_STATUS_ERROR_MEMORY_FAULT, info->virtual_address,
             "%s at address 0x%" PRIx64 "%s",
             rocr_words(hsa->rocr, HSA_STATUS_ERROR_MEMORY_FAULT, words), info->virtual_address,
             reason_words(info->fault_reason_mask));
    else
        note(hsa, HSA_STATUS_ERROR_EXCEPTION, 0, "%s: the hardware has failed",
             rocr_words(hsa->rocr, HSA_STATUS_ERROR_EXCEPTION, words));
}

/* Each kind of event begins with its agent. What is no GPU of ours is left to the runtime. */
static hsa_status_t handle_event(const hsa_amd_event_t *event, void *data)
{
    hsa_status_t handled = HSA_STATUS_ERROR;

    (void)data;
    pthread_mutex_lock(&open_gpus.lock);
    for (int i = 0; i < open_gpus.count; i++) {
        if (open_gpus.gpus[i]->agent.handle != event->memory_fault.agent.handle)
            continue;
        note_event(open_gpus.gpus[i], event);
        handled = HSA_STATUS_SUCCESS;
    }
    pthread_mutex_unlock(&open_gpus.lock);
    return handled;
}

int rocr_faults_begin(struct rocr *rocr)
{
    return rocr->amd_register_system_event_handler(handle_event, NULL);
}

void rocr_faults_add(struct hsa *hsa)
{
    pthread_mutex_lock(&open_gpus.lock);
    open_gpus.gpus[open_gpus.count++] = hsa;
    pthread_mutex_unlock(&open_gpus.lock);
}

void rocr_faults_remove(const struct hsa *hsa)
{
    pthread_mutex_lock(&open_gpus.lock);
    for (int i = 0; i < open_gpus.count; i++)
        if (open_gpus.gpus[i] == hsa) {
            open_gpus.gpus[i] = open_gpus.gpus[--open_gpus.count];
            break;
        }
    pthread_mutex_unlock(&open_gpus.lock);
}

/* ---- queues and copies ---- */

/* Whatever it is about, the queue does nothing more. */
void rocr_fault_of_queue(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    struct hsa *hsa = data;
    char words[ROCR_WORDS_BYTES];

    (void)queue;
    rocr_words(hsa->rocr, (int)status, words);
    if (rocr_is_fatal((int)status))
        note(hsa, (int)status, 0, "%s", words);
    else
        note(hsa, HSA_STATUS_ERROR_EXCEPTION, 0, "its queue has stopped with %s", words);
}

int rocr_fault_of_copy(struct hsa *hsa)
{
    char words[ROCR_WORDS_BYTES];

    note(hsa, HSA_STATUS_ERROR_EXCEPTION, 0, "%s: a copy has failed",
         rocr_words(hsa->rocr, HSA_STATUS_ERROR_EXCEPTION, words));
    return rocr_fault_code(hsa);
}
