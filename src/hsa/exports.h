/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exports.h: all functions that programs call by name; they are the only symbols that the library
 * exports. hsa.def lists them. What they do is said in the manuals of the HSA runtime and of AMD's
 * extensions to it; what is otherwise, in docs/reference/hsa.md.
 */
#ifndef OMPRMA_HSA_EXPORTS_H
#define OMPRMA_HSA_EXPORTS_H

#include "base/hsa_abi.h"

#define HSA_EXPORT __attribute__((visibility("default")))

#define HSA_FUNCTION(result, name, parameters, words) HSA_EXPORT result name parameters;
#include "hsa/hsa.def"

#endif
