/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * link.c: The socket itself waits; each call says whether it is to. What cannot be written because
 * the other process is gone stays where it is: that process may have sent something before, and
 * only when all of that is read the link has ended.
 */
#include "control/direct/link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

static void move_on(struct iovec *range, size_t *bytes)
{
    size_t part = *bytes < range->iov_len ? *bytes : range->iov_len;

    range->iov_base = (char *)range->iov_base + part;
    range->iov_len -= part;
    *bytes -= part;
}

bool link_write(struct link *link, struct iovec ranges[2])
{
    struct msghdr message = {.msg_iov = ranges, .msg_iovlen = 2};
    ssize_t moved;
    size_t bytes;

    do {
        moved = sendmsg(link->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (moved < 0 && errno == EINTR);
    link->fault |= moved < 0 && errno == EFAULT;
    bytes = moved < 0 ? 0 : (size_t)moved;
    move_on(&ranges[0], &bytes);
    move_on(&ranges[1], &bytes);
    return ranges[0].iov_len + ranges[1].iov_len == 0;
}

size_t link_read(struct link *link, void *data, size_t bytes)
{
    struct iovec ranges[2] = {{data, bytes}};

    return bytes ? link_read_two(link, ranges) : 0;
}

size_t link_read_two(struct link *link, struct iovec ranges[2])
{
    struct msghdr message = {.msg_iov = ranges, .msg_iovlen = ranges[1].iov_len ? 2 : 1};
    ssize_t moved;

    if (link->ended)
        return 0;
    do {
        moved = recvmsg(link->fd, &message, MSG_DONTWAIT);
    } while (moved < 0 && errno == EINTR);
    link->fault |= moved < 0 && errno == EFAULT;
    if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
        link->ended = true;
    return moved > 0 ? (size_t)moved : 0;
}

/* All of it, one way or the other. */
static omprma_status_t move_all(struct link *link, char *at, size_t bytes, bool out)
{
    while (bytes > 0) {
        ssize_t moved =
            out ? send(link->fd, at, bytes, MSG_NOSIGNAL) : recv(link->fd, at, bytes, MSG_WAITALL);

        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            link->ended = true;
            return error_set(OMPRMA_ERR_DEVICE_LOST, "the other process has ended");
        }
        at += moved;
        bytes -= (size_t)moved;
    }
    return OMPRMA_OK;
}

omprma_status_t link_send(struct link *link, const void *data, size_t bytes)
{
    return move_all(link, (char *)(uintptr_t)data, bytes, true);
}

omprma_status_t link_receive(struct link *link, void *data, size_t bytes)
{
    return move_all(link, data, bytes, false);
}

void link_close(struct link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    *link = (struct link){.fd = -1, .ended = true};
}
