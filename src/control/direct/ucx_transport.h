/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx_transport.h: what carries data between the hosts of a program without MPI: sockets, or UCX
 * where devices do RDMA. All processes have the same answer.
 */
#ifndef OMPRMA_CONTROL_DIRECT_UCX_TRANSPORT_H
#define OMPRMA_CONTROL_DIRECT_UCX_TRANSPORT_H

#include "control/world.h"

/* A step of start-up, of all processes together, behind direct_connect(). Does nothing where there
 * is one host, or sockets are wanted. Then world->direct->ucx is a path that has delivered right
 * data to every host, or NULL, and world->between_hosts says which way it is, and why. Errors:
 * UNSUPPORTED (UCX is wanted and cannot be used; in workers CLOSED), DEVICE_LOST, HOST_MEMORY. */
omprma_status_t ucx_transport_agree(struct world *world);

#endif
