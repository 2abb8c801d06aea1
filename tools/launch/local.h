/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.h: how omprma-run's processes on this host talk to each other: packets over a Unix socket
 * with a random name in the abstract namespace, so no file is left behind. Both ends check that the
 * peer belongs to the same user. Knows nothing of the packets' meaning.
 */
#ifndef OMPRMA_LAUNCH_LOCAL_H
#define OMPRMA_LAUNCH_LOCAL_H

#include <stddef.h>
#include <sys/types.h>

#include <omprma/omprma.h>

enum { LOCAL_NAME_BYTES = 48, LOCAL_PACKET_BYTES = 65536 };

/* Listens under a fresh random name, which is written to `name`. Errors: HOST_MEMORY. */
omprma_status_t local_listen(char name[LOCAL_NAME_BYTES], int *fd);

/* Accepts one peer; -1 when there is none or it belongs to another user. */
int local_accept(int listener);

/* Connects to a name; -1 when nobody of this user listens there. */
int local_connect(const char *name);

/* One packet, whole. Return bytes, 0 when the peer is gone, -1 on other failures. */
ssize_t local_send(int fd, const void *packet, size_t bytes);
ssize_t local_receive(int fd, void *packet, size_t room);

#endif
