/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rdma_port.c: What the kernel says of its devices, in files. */
#define _GNU_SOURCE
#include "base/rdma_port.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* As the kernel says it: "4: ACTIVE". */
static bool is_up(const char *file)
{
    FILE *state = fopen(file, "re");
    char line[32] = "";
    bool up = state && fgets(line, sizeof(line), state) && strstr(line, "ACTIVE");

    if (state)
        fclose(state);
    return up;
}

bool rdma_find_port(char *port, size_t bytes)
{
    glob_t files;
    bool found = false;

    if (glob("/sys/class/infiniband/*/ports/*/state", 0, NULL, &files) != 0)
        return false;
    for (size_t i = 0; i < files.gl_pathc && !found; i++) {
        char device[64];
        int number;

        found = is_up(files.gl_pathv[i]) &&
                sscanf(files.gl_pathv[i], "/sys/class/infiniband/%63[^/]/ports/%d/", device,
                       &number) == 2;
        if (found)
            snprintf(port, bytes, "%s:%d", device, number);
    }
    globfree(&files);
    return found;
}
