/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.h: MPI as a transport, for who is linked with it: the module, which hands it out
 * (module/entry.c), and tests. Everybody else asks control/module.h.
 */
#ifndef OMPRMA_CONTROL_MPI_TRANSPORT_H
#define OMPRMA_CONTROL_MPI_TRANSPORT_H

#include "control/transport.h"

extern const struct transport transport_mpi;

#endif
