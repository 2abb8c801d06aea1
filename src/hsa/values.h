/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * values.h: attributes that are neither numbers of their own nor what the worker's runtime says;
 * see answers.def, which names the functions. Each writes its attribute's bytes.
 *
 * Thread: any. Blocks: memory_free() for one round trip.
 */
#ifndef OMPRMA_HSA_VALUES_H
#define OMPRMA_HSA_VALUES_H

#include "hsa/about.h"

#define HSA_TOLD(of, attribute, asked, bytes, otherwise, words)
#define HSA_TOLD_ONLY(of, attribute, asked, bytes, words)
#define HSA_FIXED(of, attribute, asked, bytes, number, words)
#define HSA_BY(of, attribute, asked, bytes, function, words)                                       \
    hsa_status_t value_##function(const struct about *about, void *value);
#define HSA_SYMBOL(attribute, asked, words)
#include "hsa/answers.def"

#endif
