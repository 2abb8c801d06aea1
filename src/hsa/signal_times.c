/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* signal_times.c: one word, which each launch reads. */
#include "hsa/signal_times.h"

#include <stdatomic.h>

static atomic_bool kept;

void times_keep(void)
{
    atomic_store_explicit(&kept, true, memory_order_relaxed);
}

bool times_are_kept(void)
{
    return atomic_load_explicit(&kept, memory_order_relaxed);
}
