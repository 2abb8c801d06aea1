/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* member.h: what a part of a variable is called in the source, by debug information. */
#ifndef OMPRMA_FAULT_MEMBER_H
#define OMPRMA_FAULT_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct member_question {
    pid_t process;
    const char *variable; /* "": one of so many bytes, if there is only one */
    uint64_t bytes;
    uint64_t offset;  /* from where the first structure begins that it is or points to */
    const char *file; /* of a region that uses it */
    int line;
};

/* "x.v", or "p->v" for a pointer p: what lies there, of the variable that the region sees. False:
 * nothing is known of it. */
bool member_name(const struct member_question *question, char *name, size_t room);

#endif
