/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* packet.c: sockets of the kind SOCK_SEQPACKET, and descriptors by SCM_RIGHTS. */
#define _GNU_SOURCE
#include "control/direct/packet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

static socklen_t make_address(struct sockaddr_un *address, const char *name)
{
    /* A leading zero byte makes the name abstract: no file, gone with the last socket. */
    size_t length = strnlen(name, PACKET_NAME_BYTES - 1);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

bool packet_same_user(int fd, pid_t *pid)
{
    struct ucred peer = {0};
    socklen_t bytes = sizeof(peer);
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0;

    if (pid)
        *pid = known ? peer.pid : 0;
    return known && peer.uid == geteuid();
}

omprma_status_t packet_listen_at(const char *name, int *fd)
{
    struct sockaddr_un address;
    socklen_t bytes = make_address(&address, name);
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), code;

    if (made >= 0 && bind(made, (struct sockaddr *)&address, bytes) == 0 &&
        listen(made, SOMAXCONN) == 0) {
        *fd = made;
        return OMPRMA_OK;
    }
    code = errno;
    if (made >= 0)
        close(made);
    errno = code;
    return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a local socket: %s", strerror(code));
}

omprma_status_t packet_listen(const char *prefix, char name[PACKET_NAME_BYTES], int *fd)
{
    uint64_t random[2];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no random numbers for a socket name: %s",
                         strerror(errno));
    snprintf(name, PACKET_NAME_BYTES, "%.15s%016" PRIx64 "%016" PRIx64, prefix, random[0],
             random[1]);
    return packet_listen_at(name, fd);
}

int packet_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static int connect_as(const char *name, int flags)
{
    struct sockaddr_un address;
    socklen_t bytes = make_address(&address, name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0), code;

    if (fd < 0)
        return -1;
    code = connect(fd, (struct sockaddr *)&address, bytes) ? errno : 0;
    if (!code && !packet_same_user(fd, NULL))
        code = EPERM;
    if (!code)
        return fd;
    close(fd);
    errno = code;
    return -1;
}

int packet_connect(const char *name)
{
    return connect_as(name, 0);
}

int packet_connect_now(const char *name)
{
    return connect_as(name, SOCK_NONBLOCK);
}

ssize_t packet_send(int fd, const void *packet, size_t bytes)
{
    return packet_send_with(fd, packet, bytes, NULL, 0);
}

static ssize_t look(int fd, struct msghdr *message, int flags)
{
    ssize_t received;

    do {
        received = recvmsg(fd, message, flags);
    } while (received < 0 && errno == EINTR);
    return received;
}

/* The kernel looks for a packet, and where there is none for the end of the peer, which may have
 * sent its last packet and gone between the two: the end is believed when it is seen twice. */
static ssize_t receive(int fd, struct msghdr *message, int flags)
{
    struct msghdr second = *message;
    ssize_t received = look(fd, message, flags);

    if (received != 0 || message->msg_controllen > 0)
        return received;
    received = look(fd, &second, flags | MSG_DONTWAIT);
    if (received <= 0)
        return 0;
    *message = second;
    return received;
}

ssize_t packet_receive(int fd, void *packet, size_t room)
{
    struct iovec part = {.iov_base = packet, .iov_len = room};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    return receive(fd, &message, 0);
}

/* Room for the most descriptors, aligned as the kernel wants it. */
union rights {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(PACKET_DESCRIPTORS_MOST * sizeof(int))];
};

ssize_t packet_send_with(int fd, const void *packet, size_t bytes, const int *descriptors,
                         int count)
{
    union rights rights = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)packet, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    size_t size = (size_t)count * sizeof(*descriptors);
    ssize_t sent;

    if (count > 0) {
        message.msg_control = rights.bytes;
        message.msg_controllen = CMSG_SPACE(size);
        rights.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(size), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&rights.header), descriptors, size);
    }
    do {
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

/* Those that have come beyond `most` are closed, and counted. */
static int take_descriptors(struct msghdr *message, int *descriptors, int most)
{
    int count = 0;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        size_t came = part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS
                          ? (part->cmsg_len - CMSG_LEN(0)) / sizeof(int)
                          : 0;

        for (size_t i = 0; i < came; i++, count++) {
            int one;

            memcpy(&one, CMSG_DATA(part) + i * sizeof(one), sizeof(one));
            if (count < most)
                descriptors[count] = one;
            else
                close(one);
        }
    }
    return count;
}

ssize_t packet_receive_with(int fd, void *packet, size_t room, int *descriptors, int most,
                            int *count)
{
    union rights rights = {0};
    struct iovec part = {.iov_base = packet, .iov_len = room};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = rights.bytes,
                             .msg_controllen = sizeof(rights.bytes)};
    ssize_t received;
    int came, code;

    *count = 0;
    received = receive(fd, &message, MSG_CMSG_CLOEXEC);
    if (received < 0)
        return -1;
    came = take_descriptors(&message, descriptors, most);
    code = message.msg_flags & MSG_CTRUNC || came > most ? EMFILE
           : message.msg_flags & MSG_TRUNC               ? EMSGSIZE
                                                         : 0;
    *count = came < most ? came : most;
    if (!code && received > 0)
        return received;
    while (*count > 0)
        close(descriptors[--*count]);
    errno = code;
    return code ? -1 : 0;
}
