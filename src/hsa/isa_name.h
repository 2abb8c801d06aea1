/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * isa_name.h: names of instruction sets as programs see them: "amdgcn-amd-amdhsa--gfx90a:sramecc+:
 * xnack-". Programs choose their images by them.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HSA_ISA_NAME_H
#define OMPRMA_HSA_ISA_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hsa_questions.h"

/* The name in a fact, with xnack- in place of xnack+, ended with a zero. False: it is empty, or
 * longer than the room. */
bool isa_name(const struct hsa_fact *fact, char *name, size_t room);

/* "gfx90a" of it, which names the agent; "" where there is none. */
void isa_processor(const char *name, char *processor, size_t room);

#endif
