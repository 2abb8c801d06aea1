/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx_library.h: UCX (openucx.org), which is opened where it is used and nowhere linked, and what
 * of it a process has once. The program may have the same library for its MPI. Context, worker and
 * settings are apart from those of the MPI.
 *
 * Thread: all calls of one process are serialised by the caller. Blocks: no.
 */
#ifndef OMPRMA_RMA_UCX_LIBRARY_H
#define OMPRMA_RMA_UCX_LIBRARY_H

#include <stdbool.h>
#include <ucp/api/ucp.h>

#include <omprma/omprma.h>

struct ucx_library {
#define UCX(name) __typeof__(name) *name;
#include "rma/ucx_library.def"
#undef UCX
    ucp_context_h context;
    ucp_worker_h worker;
};

/* Opens the library, and makes a context and a worker. Settings are UCX's, of which OMPRMA_UCX_NAME
 * goes before UCX_NAME. Without OMPRMA_UCX_TLS and unless `any_network`, only devices that do RDMA
 * are used, whatever UCX_TLS says. The library stays loaded. Errors: UNSUPPORTED, with the reason.
 */
omprma_status_t ucx_library_open(struct ucx_library *ucx, bool any_network);

/* Also after an open that has failed. Nothing that was made of the worker is used any more. */
void ucx_library_close(struct ucx_library *ucx);

#endif
