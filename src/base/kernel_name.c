/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel_name.c: Clang names a kernel __omp_offloading_DEVICE_INODE_FUNCTION_lLINE. The two numbers
 * in front have no underscore, so the function begins behind the second one; it may hold "_l"
 * itself, so the line is behind the last "_l" that a digit follows.
 */
#include "base/kernel_name.h"

#include <stdlib.h>
#include <string.h>

bool kernel_name_split(const char *symbol, struct kernel_name *name)
{
    static const char prefix[] = "__omp_offloading_";
    const char *rest, *line = NULL;

    if (strncmp(symbol, prefix, strlen(prefix)) != 0)
        return false;
    rest = strchr(symbol + strlen(prefix), '_'); /* behind the device and the inode of the file */
    rest = rest ? strchr(rest + 1, '_') : NULL;
    for (const char *at = rest; at && (at = strstr(at, "_l")); at++)
        if (at[2] >= '0' && at[2] <= '9')
            line = at;
    if (!line || line == rest)
        return false;
    *name = (struct kernel_name){rest + 1, (size_t)(line - rest - 1), atoi(line + 2)};
    return true;
}
