/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * single_copy.c: One word is copied from this process to itself by the two system calls that a copy
 * between processes needs.
 */
#define _GNU_SOURCE
#include "control/mpi/single_copy.h"

#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

/* What forbids it between processes of a user with the process itself is a filter of system calls;
 * of all else that may forbid it, Yama and user namespaces, Open MPI knows. */
bool single_copy_is_allowed(void)
{
    uint64_t from = 1, to = 0;
    struct iovec local = {&to, sizeof(to)}, remote = {&from, sizeof(from)};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof(to) &&
           process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == sizeof(to);
}

void single_copy_rank(const struct quick_environment *environment)
{
    static const char name[] = "OMPI_MCA_btl_vader_single_copy_mechanism";
    const char *users = environment->get(environment->data, name);

    if ((!users || !*users) && !single_copy_is_allowed())
        environment->set(environment->data, name, "none");
}
