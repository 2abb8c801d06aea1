/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * begin.c: registration notes that omprma is wanted; start_main.c puts begin_main() before the
 * program's main().
 */
#include "openmp/begin.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "openmp/device.h"

static atomic_bool wanted;

void begin_wanted(void)
{
    atomic_store(&wanted, true);
}

/* libomp would know for sure, but main() may still set variables that libomp reads when it
 * starts. */
static bool is_disabled(void)
{
    const char *wish = getenv("OMP_TARGET_OFFLOAD");
    return wish && strcasecmp(wish, "disabled") == 0;
}

void begin_main(void)
{
    if (atomic_load(&wanted) && !is_disabled())
        devices_start();
}
