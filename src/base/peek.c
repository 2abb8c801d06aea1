/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * peek.c: The kernel copies, and says how far it came. Filters of containers may forbid that system
 * call; then /proc/self/mem is read.
 */
#define _GNU_SOURCE
#include "base/peek.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

size_t peek(const void *from, void *to, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    int memory;

    if (got >= 0)
        return (size_t)got;
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (memory < 0)
        return 0;
    got = pread(memory, to, bytes, (off_t)(uintptr_t)from);
    close(memory);
    return got > 0 ? (size_t)got : 0;
}
