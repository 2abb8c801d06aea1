/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* devices.c: Devices do not change while omprma runs, so they are looked up once, by kind. */
#include "face/driver/devices.h"

#include <stdlib.h>
#include <string.h>

int *devices_find(const char *kind, int *count)
{
    int all = omprma_device_count(), *found = calloc((size_t)(all > 0 ? all : 1), sizeof(*found));

    *count = 0;
    for (int device = 0; found && device < all; device++) {
        omprma_device_info_t info;

        if (omprma_device_info(device, &info) == OMPRMA_OK && strcmp(info.backend, kind) == 0)
            found[(*count)++] = device;
    }
    return found;
}

omprma_status_t device_ask(int device, uint32_t what, const void *question, size_t bytes,
                           void *answer, size_t room)
{
    size_t answered = 0;

    if (room)
        memset(answer, 0, room);
    return omprma_device_ask(device, what, question, bytes, answer, room, &answered);
}
