/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* starting.c: a mark of the thread, which omprma_init() sets and omprma's own faces ask for. */
#include "host/start/starting.h"

#include <omprma_private/starting.h>

static _Thread_local bool inside;

void starting_set(bool starting)
{
    inside = starting;
}

bool omprma_starting(void)
{
    return inside;
}
