/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* recorded.c: how many devices workers have is not known yet, so there is room for the most. */
#include "tools/launch/recorded.h"

#include "base/clock.h"
#include "host/report/report.h"

enum { DEVICES_MOST = 64 /* of a worker, as for OMPRMA_DEVICES */ };

size_t recorded_bytes(const struct config *config, int workers)
{
    return report_is_wanted(config) ? recording_bytes(workers * DEVICES_MOST) : 0;
}

void recorded_begin(void *memory, const struct config *config, int workers)
{
    if (memory && report_is_wanted(config))
        recording_make(memory, workers * DEVICES_MOST);
}

int recorded_end(void *memory, const struct config *config, int status)
{
    struct recording *recording = memory;

    if (!recording || !recording->begun)
        return status;
    if (recording->device_count > recording->devices_most)
        recording->device_count = recording->devices_most;
    recording_close(recording, clock_ns());
    return report_all(recording, config) == OMPRMA_OK || status ? status : 1;
}
