/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * question.h: what answering omprma_device_ask() takes for GPUs of every kind: a question is copied
 * out of the message, and an answer into one.
 *
 * Thread: any, one for each question.
 */
#ifndef OMPRMA_WORKER_GPU_QUESTION_H
#define OMPRMA_WORKER_GPU_QUESTION_H

#include "worker/backend.h"

/* Copies the first `bytes` of the question, which must have so many, and room for an answer of at
 * least `room`. Errors: ARGUMENT. */
omprma_status_t gpu_question_take(const struct backend_ask *ask, void *to, size_t bytes,
                                  size_t room);

/* Answers with these bytes. Errors: ARGUMENT (there is no room for them). */
omprma_status_t gpu_question_give(struct backend_ask *ask, const void *from, size_t bytes);

#endif
