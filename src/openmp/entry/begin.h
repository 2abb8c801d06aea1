/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * begin.h: what happens before main(). Compilers register images in constructors that come before
 * those of the program: its own streams, allocators, tools for OpenMP (ompt_start_tool()) and for
 * MPI, and functions of libc that it replaces may need what those make. So registration may take
 * host memory and write down what it was given, and nothing else: no call of libomp and of MPI, no
 * thread, no file, no line but where what is registered is damaged.
 *
 * omprma starts behind the constructors and before main(): omprma-run then knows that the program
 * did come to its workers, although it may find nothing to offload, and the start measures while
 * libomp has no threads yet and has bound none. Where this library is not preloaded, and for
 * libraries that are opened later, it starts with the first use of a device.
 */
#ifndef OMPRMA_OPENMP_ENTRY_BEGIN_H
#define OMPRMA_OPENMP_ENTRY_BEGIN_H

/* A library with images for us has registered itself. Thread: any. Blocks: no. */
void begin_wanted(void);

/* Starts omprma if it is wanted and not disabled. Thread: the main one, behind the program's
 * constructors and before main(). Blocks: until it has started. Errors end the process. */
void begin_main(void);

#endif
