/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* world_launched.c: launchers tell their processes how many they are, or which one each is. */
#include <stdlib.h>

#include "control/direct/world.h"
#include "control/world.h"

bool world_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                        "PMI_ID"};

    if (direct_is_wanted())
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return true;
    return false;
}
