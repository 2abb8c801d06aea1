/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * preload.h: the name under which libomprma-preload.so is preloaded, in lib/omprma/preload.
 * AddressSanitizer's library ends a program in which another one comes before it, except one that
 * it takes for itself by its name. This one has nothing that it wants to replace but dlopen(),
 * which goes on to it.
 */
#ifndef OMPRMA_OPENMP_PRELOAD_PRELOAD_H
#define OMPRMA_OPENMP_PRELOAD_PRELOAD_H

#define PRELOAD_NAME "omprma-before-libasan.so"

#endif
