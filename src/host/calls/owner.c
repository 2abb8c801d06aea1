/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* owner.c: Devices are made once and stay to the end, so only their allocators' locks are needed.
 */
#include <omprma_private/owner.h>

#include "base/access.h"
#include "host/core/device.h"
#include "host/memory/addresses.h"

int omprma_owner(omprma_addr_t address, omprma_addr_t *block, uint64_t *bytes)
{
    const struct runtime *runtime = runtime_get();

    for (int i = 0; runtime && runtime->has_devices && i < runtime->device_count; i++) {
        enum allocator_range range;

        *block = 0;
        *bytes = 0;
        range = device_classify(runtime->devices[i], address, 1, block, bytes);
        if (range == RANGE_FREE)
            *block = *bytes = 0;
        if (range != RANGE_OUTSIDE)
            return i;
    }
    return -1;
}

bool omprma_may_read(omprma_addr_t address)
{
    uint64_t bad;

    return access_look_small((const void *)address, 1, ACCESS_READ, &bad) == ACCESS_GRANTED;
}

omprma_addr_t omprma_addresses_taken(omprma_addr_t address, uint64_t bytes, uint64_t *length)
{
    return addresses_taken(address, bytes, ADDRESSES_HOLE, length);
}
