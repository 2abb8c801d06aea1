/* no_checks.h: the calls of omprma.h about checks, for stand-ins of libomprma that make none. */
#ifndef OMPRMA_TESTS_NO_CHECKS_H
#define OMPRMA_TESTS_NO_CHECKS_H

#include <omprma/omprma.h>

bool omprma_check_wanted(void)
{
    return false;
}

void omprma_check_place(const char *where, const char *variable, size_t padding)
{
    (void)where;
    (void)variable;
    (void)padding;
}

void omprma_check_begins(const omprma_addr_t *begins, const char *const *names, size_t count)
{
    (void)begins;
    (void)names;
    (void)count;
}

void omprma_check_reaches(int device, omprma_addr_t address)
{
    (void)device;
    (void)address;
}

#endif
