/*
 * ending.h: when a face that programs are linked with ends omprma. Its own destructor comes after
 * those of all libraries that need it, and mostly before those of MPI's modules (UCX), which the
 * start opens and which need nobody who needs the face. But the loader ends last what was opened
 * last, with all that it needs: when a library that needs the face is opened after the start, the
 * face ends after MPI's modules, and MPI_Finalize() crashes in them. So the face has itself called
 * from a library that nobody needs (face/end) and that is opened right before MPI's modules.
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
