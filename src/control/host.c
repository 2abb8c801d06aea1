/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host.c: The kernel draws a random text each time it boots. With the host's name it is hashed, so
 * that any name fits; the name stands behind it for whoever reads it in a debugger.
 */
#define _GNU_SOURCE
#include "control/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

void host_name(char text[HOST_TEXT_BYTES])
{
    memset(text, 0, HOST_TEXT_BYTES);
    gethostname(text, HOST_TEXT_BYTES - 1);
}

/* Nothing where /proc does not show it: then the name alone must do. */
static void read_boot(char *text, size_t bytes)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    *text = 0;
    if (file && !fgets(text, (int)bytes, file))
        *text = 0;
    if (file)
        fclose(file);
}

void host_identity(char text[HOST_TEXT_BYTES])
{
    char name[HOST_TEXT_BYTES], boot[HOST_TEXT_BYTES], both[2 * HOST_TEXT_BYTES];
    int length;

    host_name(name);
    read_boot(boot, sizeof(boot));
    length = snprintf(both, sizeof(both), "%s%s", boot, name);
    memset(text, 0, HOST_TEXT_BYTES);
    snprintf(text, HOST_TEXT_BYTES, "%016" PRIx64 " %.40s",
             (uint64_t)XXH3_64bits(both, (size_t)length), name);
}
