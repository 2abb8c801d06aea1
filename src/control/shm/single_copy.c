/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * single_copy.c: One word is copied from this process to itself by the two system calls that a copy
 * between processes needs.
 */
#define _GNU_SOURCE
#include "control/shm/single_copy.h"

#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

/* What forbids it between processes of a user with the process itself is a filter of system calls;
 * of all else that may forbid it, Yama and user namespaces, who copies finds out by itself. */
bool single_copy_is_allowed(void)
{
    uint64_t from = 1, to = 0;
    struct iovec local = {&to, sizeof(to)}, remote = {&from, sizeof(from)};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof(to) &&
           process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == sizeof(to);
}
