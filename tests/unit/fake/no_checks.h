/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* no_checks.h: the calls of omprma_private/check.h, for stand-ins of libomprma that make none. */
#ifndef OMPRMA_TESTS_NO_CHECKS_H
#define OMPRMA_TESTS_NO_CHECKS_H

#include <omprma_private/check.h>

bool omprma_check_wanted(void)
{
    return false;
}

void omprma_check_place(const char *where, const char *variable)
{
    (void)where;
    (void)variable;
}

void omprma_check_caller(const void *code)
{
    (void)code;
}

void omprma_check_begins(const omprma_addr_t *begins, const char *const *names, size_t count)
{
    (void)begins;
    (void)names;
    (void)count;
}

void omprma_check_found(uint64_t what, uint64_t which, const char *text)
{
    (void)what, (void)which, (void)text;
}

#endif
