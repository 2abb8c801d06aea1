/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * begin.c: registration notes that omprma is wanted; start_main.c puts begin_main() before the
 * program's main().
 */
#include "openmp/entry/begin.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "openmp/image/start.h"
#include "openmp/site/policy.h"

static atomic_bool wanted;

void begin_wanted(void)
{
    atomic_store(&wanted, true);
}

void begin_main(void)
{
    if (atomic_load(&wanted) && !policy_wishes_off())
        devices_start();
}
