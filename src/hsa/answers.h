/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * answers.h: answers to questions for attributes, of which answers.def is the list.
 *
 * Thread: any. Blocks: for one round trip where the free memory of a GPU is asked for.
 */
#ifndef OMPRMA_HSA_ANSWERS_H
#define OMPRMA_HSA_ANSWERS_H

#include "base/hsa_abi.h"

struct about;

enum answer_of {
    ANSWER_OF_SYSTEM,
    ANSWER_OF_HOST,
    ANSWER_OF_GPU,
    ANSWER_OF_ISA,
    ANSWER_OF_POOL,
    ANSWER_OF_REGION,
    ANSWER_OF_LINK
};

/* Writes the attribute's bytes and no more. Errors: INVALID_ARGUMENT (there is no such attribute,
 * or the worker's runtime does not know it, or `value` is NULL), those of the GPU. */
hsa_status_t answer(enum answer_of of, const struct about *about, uint32_t attribute, void *value);

#endif
