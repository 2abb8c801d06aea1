/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * runtime.h: the HSA runtime (ROCr), opened when the worker starts: omprma is built without ROCm,
 * and runs where there is none. With it what all GPUs of the process share: the agents, the host's
 * pool of memory, and the words for codes.
 *
 * Thread: any, once it is open.
 */
#ifndef OMPRMA_WORKER_HSA_RUNTIME_H
#define OMPRMA_WORKER_HSA_RUNTIME_H

#include <omprma/omprma.h>

#include "base/hsa_abi.h"

enum { ROCR_GPUS_MOST = 64, ROCR_WORDS_BYTES = 384 };

struct rocr {
    void *library;
    int count; /* of GPUs */
    hsa_agent_t gpus[ROCR_GPUS_MOST];
    hsa_agent_t host;           /* the first processor */
    hsa_amd_memory_pool_t pool; /* of its memory: GPUs may read kernel arguments there */
    uint64_t ticks;             /* of the runtime's clock, in a second */
#define ROCR(result, name, parameters) result(*name) parameters;
#include "worker/hsa/runtime.def"
#undef ROCR
};

/* Opens the library, starts the runtime and finds the GPUs. Errors: UNSUPPORTED (there is no
 * runtime, it is too old, or it has no GPU), in a line; then nothing is open. */
omprma_status_t rocr_open(struct rocr *rocr);

/* Ends the runtime, if it is open. */
void rocr_close(struct rocr *rocr);

/* The kernel has seen that a GPU does wrong, or the runtime a queue: the GPU runs nothing more. */
bool rocr_is_fatal(int code);

/* Sets the error "WHAT: NAME OF THE CODE: its words (0xCODE)", with the code. Returns the status
 * that fits. */
omprma_status_t rocr_error(const struct rocr *rocr, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "HSA_STATUS_ERROR_EXCEPTION: its words (0x1016)". */
const char *rocr_words(const struct rocr *rocr, int code, char words[ROCR_WORDS_BYTES]);

#endif
