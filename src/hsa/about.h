/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* about.h: what a question for an attribute is about (answers.h). */
#ifndef OMPRMA_HSA_ABOUT_H
#define OMPRMA_HSA_ABOUT_H

#include "hsa/pool.h"

struct gpu;

struct about {
    struct gpu *gpu;  /* of HOST, SYSTEM and an agent that is the host's: NULL */
    unsigned index;   /* of ISA: which of the GPU's */
    struct pool pool; /* of POOL, REGION, LINK */
};

#endif
