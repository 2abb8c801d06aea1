/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * say.h: how omprma's own faces (the OpenMP runtime, the plugin, libraries for GPUs) tell the
 * user something, so that all lines look alike. It belongs to libomprma.so of the same version and
 * is not installed.
 */
#ifndef OMPRMA_PRIVATE_SAY_H
#define OMPRMA_PRIVATE_SAY_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { OMPRMA_SAY_ERROR, OMPRMA_SAY_WARNING, OMPRMA_SAY_NOTE, OMPRMA_SAY_END };

/* Writes "omprma: error: TEXT" (or "warning", or "note") on stderr, as one line. An error that is
 * the same as the one before is not written again. OMPRMA_SAY_END writes nothing: the process ends
 * now, and the errors before have said why. Also before omprma_init() and after
 * omprma_finalize(). Thread: any. Blocks: no. */
OMPRMA_API void omprma_say(int severity, const char *text);

#ifdef __cplusplus
}
#endif
#endif
