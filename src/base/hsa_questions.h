/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hsa_questions.h: what AMD GPUs can be asked by omprma_device_ask(), and how questions and answers
 * read: what the program's side of the HSA interface and the worker's backend agree on. Plain C
 * types only; numbers of attributes, flags and error codes are those of the HSA runtime. All
 * structures are little endian, without padding.
 *
 * Where the runtime refuses, the call fails with its line, and omprma_error_code() is its code.
 */
#ifndef OMPRMA_BASE_HSA_QUESTIONS_H
#define OMPRMA_BASE_HSA_QUESTIONS_H

#include <stdint.h>

#include "base/gpu_questions.h"

enum hsa_question {
    /* uint32_t: the first fact that is wanted -> struct hsa_facts: all that the runtime says of the
     * GPU, from that one on, as far as there is room */
    HSA_ASK_FACTS = GPU_ASK_SUMMARY + 1,
    /* nothing -> uint64_t: bytes of device memory that are free now */
    HSA_ASK_FREE,
    /* struct hsa_symbols_question -> struct hsa_symbols: what a module holds */
    HSA_ASK_SYMBOLS,
    /* uint64_t module -> nothing: unloads it; what it held must not be used any more */
    HSA_ASK_UNLOAD,
    /* struct hsa_addresses -> nothing: code that is loaded later has no variables there, as far as
     * nothing is there now and the runtime takes addresses from the system */
    HSA_ASK_AVOID
};

/* What a fact is of. `index` counts ISAs and pools. */
enum hsa_subject {
    HSA_OF_AGENT,  /* hsa_agent_get_info() */
    HSA_OF_ISA,    /* hsa_isa_get_info_alt(); the name without a zero */
    HSA_OF_POOL,   /* hsa_amd_memory_pool_get_info(), of the GPU's own pools */
    HSA_OF_SYSTEM, /* hsa_system_get_info(), of the worker's runtime */
    HSA_SUBJECTS
};

/* One attribute, as the runtime gives it. Those that it refuses are left out. */
struct hsa_fact {
    uint16_t subject, index;
    uint32_t attribute;
    uint32_t bytes, reserved;
    uint64_t value[]; /* `bytes`, filled up with zeros to a multiple of 8 */
};

struct hsa_facts {
    uint32_t count, first, total; /* of facts here; the number of the first; of all */
    uint32_t reserved;
    uint64_t facts[]; /* struct hsa_fact, one behind the other */
};

struct hsa_symbols_question {
    uint64_t module;
    uint32_t first, reserved; /* the first that is wanted */
};

struct hsa_addresses {
    uint64_t begin, bytes; /* whole pages */
};

struct hsa_symbols {
    uint32_t count, first, total, reserved;
    uint64_t symbols[]; /* struct hsa_symbol, one behind the other */
};

struct hsa_symbol {
    uint64_t address; /* of a variable; of a kernel what omprma_launch() takes */
    uint64_t bytes;   /* of a variable */
    uint32_t kind;    /* 0: variable, 1: kernel */
    uint32_t argument_bytes, argument_alignment, group_bytes, private_bytes; /* of a kernel */
    uint32_t flags;                                                          /* HSA_SYMBOL_* */
    uint32_t name_bytes, reserved; /* of its name, which stands behind it, without a zero, filled up
                                    * with zeros to a multiple of 8 */
};
enum { HSA_SYMBOL_DYNAMIC_STACK = 1, HSA_SYMBOL_CONSTANT = 2 };

#endif
