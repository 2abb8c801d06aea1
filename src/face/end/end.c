/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* end.c: a list, and a destructor that goes through it. */
#include "face/end/end.h"

#include <stddef.h>

static struct ending *endings;

void omprma_end_add(struct ending *ending)
{
    ending->next = endings;
    endings = ending;
}

__attribute__((destructor)) static void end(void)
{
    for (struct ending *each = endings; each; each = each->next)
        each->call();
}
