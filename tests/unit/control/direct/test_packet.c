/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_packet.c: tests packet.c: names, packets, descriptors that come, do not fit, or do not come
 * to stay; a last packet that comes while the kernel looks.
 * Covers: packet.c */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "control/direct/packet.h"

static int ends[2];

static int make_pair(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static int close_pair(void **state)
{
    (void)state;
    close(ends[0]);
    return close(ends[1]);
}
TEST_EACH(make_pair, close_pair)

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static ino_t file_of(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return status.st_ino;
}

TEST(a_name_leads_to_its_listener)
{
    char name[PACKET_NAME_BYTES], other[PACKET_NAME_BYTES], text[8];
    int listener, second;
    pid_t pid;
    assert_int_equal(packet_listen("omprma-test-", name, &listener), OMPRMA_OK);
    assert_int_equal(packet_listen("omprma-test-", other, &second), OMPRMA_OK);
    assert_int_equal(strlen(name), 12 + 32);
    assert_string_not_equal(name, other);
    assert_int_equal(packet_accept(listener), -1);
    int here = packet_connect(name), there = packet_accept(listener);
    assert_true(here >= 0 && there >= 0);
    assert_true(packet_same_user(there, &pid));
    assert_int_equal(pid, getpid());
    assert_int_equal(packet_send(here, "hello", 6), 6);
    assert_int_equal(packet_receive(there, text, sizeof(text)), 6);
    assert_string_equal(text, "hello");
    close(here);
    assert_int_equal(packet_receive(there, text, sizeof(text)), 0);
    close(there);
    close(listener);
    close(second);
    assert_int_equal(packet_connect(name), -1);
    assert_int_equal(errno, ECONNREFUSED);
}

/* Any number of descriptors, to any room for them: all come, or none, and none stays. */
TEST(descriptors_come_whole_or_not_at_all)
{
    int files[PACKET_DESCRIPTORS_MOST], before = open_files();
    for (int i = 0; i < PACKET_DESCRIPTORS_MOST; i++)
        files[i] = memfd_create("test", MFD_CLOEXEC);
    for (int count = 0; count <= PACKET_DESCRIPTORS_MOST; count++)
        for (int most = 0; most <= PACKET_DESCRIPTORS_MOST; most++) {
            int came[PACKET_DESCRIPTORS_MOST], number;
            char text[8];
            int now = open_files();
            assert_int_equal(packet_send_with(ends[0], "abc", 4, files, count), 4);
            ssize_t bytes = packet_receive_with(ends[1], text, sizeof(text), came, most, &number);
            if (count > most) {
                assert_int_equal(bytes, -1);
                assert_int_equal(errno, EMFILE);
                assert_int_equal(number, 0);
            } else {
                assert_int_equal(bytes, 4);
                assert_int_equal(number, count);
            }
            for (int i = 0; i < number; i++) {
                assert_int_equal(file_of(came[i]), file_of(files[i]));
                assert_int_equal(fcntl(came[i], F_GETFD), FD_CLOEXEC);
                close(came[i]);
            }
            assert_int_equal(open_files(), now);
        }
    for (int i = 0; i < PACKET_DESCRIPTORS_MOST; i++)
        close(files[i]);
    assert_int_equal(open_files(), before);
}

/* A stranger may send far more than any packet of ours has. */
TEST(more_descriptors_than_any_packet_has)
{
    enum { MANY = 100 };
    int many[MANY], came[2], number, before = open_files();
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(many))];
    } rights = {.header = {.cmsg_len = CMSG_LEN(sizeof(many)),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS}};
    char byte = 1;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = rights.bytes,
                             .msg_controllen = sizeof(rights.bytes)};
    for (int i = 0; i < MANY; i++)
        many[i] = STDERR_FILENO;
    memcpy(CMSG_DATA(&rights.header), many, sizeof(many));
    assert_int_equal(sendmsg(ends[0], &message, 0), 1);
    assert_int_equal(packet_receive_with(ends[1], &byte, 1, came, 2, &number), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(number, 0);
    assert_int_equal(open_files(), before);
}

TEST(a_packet_that_is_too_long_is_lost)
{
    int came[1], number, before = open_files();
    char text[4];
    assert_int_equal(packet_send_with(ends[0], "123456", 6, &ends[0], 1), 6);
    assert_int_equal(packet_receive_with(ends[1], text, sizeof(text), came, 1, &number), -1);
    assert_int_equal(errno, EMSGSIZE);
    assert_int_equal(packet_receive_with(ends[1], text, sizeof(text), came, 1, &number), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(open_files(), before);
}

TEST(an_empty_packet_is_like_the_end)
{
    int came[1], number, before = open_files();
    char text[4];
    assert_int_equal(packet_send_with(ends[0], "", 0, &ends[0], 1), 0);
    assert_int_equal(packet_receive_with(ends[1], text, sizeof(text), came, 1, &number), 0);
    assert_int_equal(number, 0);
    assert_int_equal(open_files(), before);
    shutdown(ends[0], SHUT_WR);
    assert_int_equal(packet_receive_with(ends[1], text, sizeof(text), came, 1, &number), 0);
}

ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

static bool comes_late;

/* The kernel finds no packet, then the packet comes and its sender goes, and then the kernel finds
 * that the sender has gone. */
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    if (!comes_late)
        return __real_recvmsg(fd, message, flags);
    comes_late = false;
    assert_int_equal(packet_send_with(ends[0], "last", 5, &ends[1], 1), 5);
    shutdown(ends[0], SHUT_WR);
    message->msg_controllen = 0;
    message->msg_flags = 0;
    return 0;
}

TEST(the_last_packet_is_not_lost)
{
    int came, number;
    char text[8];
    comes_late = true;
    assert_int_equal(packet_receive_with(ends[1], text, sizeof(text), &came, 1, &number), 5);
    assert_string_equal(text, "last");
    assert_int_equal(number, 1);
    close(came);
    assert_int_equal(packet_receive_with(ends[1], text, sizeof(text), &came, 1, &number), 0);
}

TEST(nor_is_one_without_descriptors)
{
    char text[8];
    comes_late = true;
    assert_int_equal(packet_receive(ends[1], text, sizeof(text)), 5);
    assert_string_equal(text, "last");
    assert_int_equal(packet_receive(ends[1], text, sizeof(text)), 0);
}
