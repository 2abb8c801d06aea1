/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.h: from a crash to a report that names functions, files and lines: asks omprma-fault, which
 * lies in libexec beside the worker's folder, without anybody waiting for it. A backtrace goes to
 * the standard error of the target regions, and registers to the worker's log at -vv. Knows nothing
 * of MPI.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_WORKER_FAULT_H
#define OMPRMA_WORKER_FAULT_H

#include "worker/native/crash.h"

struct fault {
    atomic_int state;
    char text[CRASH_TEXT_BYTES];
    const struct crash *crash;
};

/* What has crashed, in a line like crash_happened()'s, with names that people know and the place in
 * the source. NULL: nothing has, or it is being looked up, which takes 10 s at most; crash_wake()
 * is called when it has been. */
const char *fault_look(struct fault *fault, const struct crash *crash);

#endif
