/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* local.c: packets between processes of one user on one host. Knows nothing of their meaning. */
#include "tools/launch/local.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

static socklen_t local_address(struct sockaddr_un *address, const char *name)
{
    /* A leading zero byte makes the name abstract: no file, gone with the last socket. */
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t length = strnlen(name, LOCAL_NAME_BYTES - 1);
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static bool local_same_user(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

omprma_status_t local_listen(char name[LOCAL_NAME_BYTES], int *fd)
{
    uint64_t random[2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no random numbers for a socket name: %s",
                         strerror(errno));
    snprintf(name, LOCAL_NAME_BYTES, "omprma-%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    struct sockaddr_un address;
    socklen_t bytes = local_address(&address, name);
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0 || bind(made, (struct sockaddr *)&address, bytes) || listen(made, 64)) {
        omprma_status_t status =
            error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a local socket: %s", strerror(errno));
        if (made >= 0)
            close(made);
        return status;
    }
    *fd = made;
    return OMPRMA_OK;
}

int local_accept(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && !local_same_user(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

int local_connect(const char *name)
{
    struct sockaddr_un address;
    socklen_t bytes = local_address(&address, name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&address, bytes) || !local_same_user(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

ssize_t local_send(int fd, const void *packet, size_t bytes)
{
    ssize_t sent;
    do {
        sent = send(fd, packet, bytes, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t local_receive(int fd, void *packet, size_t room)
{
    ssize_t received;
    do {
        received = recv(fd, packet, room, 0);
    } while (received < 0 && errno == EINTR);
    return received;
}
