/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ending.h: the exit hook of a face that programs are linked with: when omprma ends. That has to be
 * before MPI's modules (UCX) end, which the start of omprma opens, or MPI_Finalize() crashes in
 * them.
 *
 * The loader ends first what was opened first, but each library after those that need it:
 * - Mostly: the program, the face, MPI's modules. The face's own destructor is early enough.
 * - When a library that needs the face is opened after the start: the program, MPI's modules, that
 *   library, the face. The destructor is too late.
 * So the face is also called by a library that nobody needs (face/end). It is opened right before
 * MPI's modules, and so ends right before them.
 *
 * Thread: one at a time. Blocks: no.
 */
#ifndef OMPRMA_FACE_ENDING_H
#define OMPRMA_FACE_ENDING_H

#include "face/end/end.h"

/* Before omprma_init(). `ending->call` is called when the process ends, maybe after the face's
 * destructor. Without the library it is not, which is said at OMPRMA_VERBOSE=1. */
void ending_add(struct ending *ending);

#endif
