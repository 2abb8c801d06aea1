/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uid.c: Numbers of processes change from run to run, and those of a program's workers begin at 0
 * in each program: so a name has the worker's number on its host. Hosts that have one name are told
 * apart by their order.
 */
#include <stdio.h>
#include <string.h>

#include <omprma_private/uid.h>

#include "host/core/device.h"
#include "host/core/peer.h"

static bool is_alike(const struct device *a, const struct device *b)
{
    return a->index == b->index && a->peer->hello.local_index == b->peer->hello.local_index &&
           strcmp(a->peer->hello.host, b->peer->hello.host) == 0;
}

void omprma_uid(int number, char uid[OMPRMA_UID_BYTES])
{
    struct device *device;
    int alike = 0;
    uid[0] = '\0';
    if (device_require(number, &device) != OMPRMA_OK)
        return;
    for (int i = 0; i < number; i++)
        alike += is_alike(device->runtime->devices[i], device);
    int length = snprintf(uid, OMPRMA_UID_BYTES, "omprma-%s-%d.%d", device->peer->hello.host,
                          (int)device->peer->hello.local_index, device->index);
    if (alike > 0)
        snprintf(uid + length, OMPRMA_UID_BYTES - (size_t)length, "+%d", alike);
}
