/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * packet.h: packets between processes of one user on one host, over a Unix socket with a random
 * name in the abstract namespace, so no file is left behind. A packet may bring descriptors. Knows
 * nothing of the packets' meaning.
 *
 * Thread: any. Blocks: as the socket does, unless it says otherwise.
 */
#ifndef OMPRMA_CONTROL_DIRECT_PACKET_H
#define OMPRMA_CONTROL_DIRECT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <omprma/omprma.h>

enum { PACKET_NAME_BYTES = 48, PACKET_BYTES_MOST = 65536, PACKET_DESCRIPTORS_MOST = 8 };

/* Listens under a name that begins with `prefix`, of 15 bytes at most, and goes on with 32 random
 * hexadecimal digits. The socket does not block. `name` gets it. Errors: HOST_MEMORY. */
omprma_status_t packet_listen(const char *prefix, char name[PACKET_NAME_BYTES], int *fd);

/* Under this very name. Errors: HOST_MEMORY, with errno EADDRINUSE where another process has it. */
omprma_status_t packet_listen_at(const char *name, int *fd);

/* Accepts one peer, without blocking, and so will be its socket; -1 when there is none. Whose it is
 * has not been asked yet. */
int packet_accept(int listener);

/* Connects to a name; -1 when nobody of this user listens there (errno ECONNREFUSED), or the peer
 * is another user's (EPERM), or for another reason. */
int packet_connect(const char *name);

/* The same without waiting where too many wait for whoever listens (EAGAIN), and its socket does
 * not block. */
int packet_connect_now(const char *name);

/* Does the peer belong to this user? `*pid` is its process when it connected, or that of whoever
 * listens; NULL is allowed. */
bool packet_same_user(int fd, pid_t *pid);

/* One packet, whole. Return bytes, 0 when the peer is gone, -1 on other failures. */
ssize_t packet_send(int fd, const void *packet, size_t bytes);
ssize_t packet_receive(int fd, void *packet, size_t room);

/* One packet with `count` descriptors, PACKET_DESCRIPTORS_MOST at most; they stay the caller's.
 * Returns bytes, or -1 (EPIPE: the peer is gone; EAGAIN: it does not read; ETOOMANYREFS: too many
 * descriptors are on their way). */
ssize_t packet_send_with(int fd, const void *packet, size_t bytes, const int *descriptors,
                         int count);

/* One packet, with up to `most` descriptors, which exec closes and which are the caller's. `*count`
 * is how many have come. Returns bytes; 0 when the peer is gone; -1 with errno: EAGAIN (no packet),
 * EMSGSIZE (it is longer than `room`, and lost), EMFILE (it had more descriptors than `most`, or
 * than this process may open; it is lost), or another. After a failure no descriptor is left. */
ssize_t packet_receive_with(int fd, void *packet, size_t room, int *descriptors, int most,
                            int *count);

#endif
