/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* recorded.c: how many devices workers have is not known yet, so there is room for the most. */
#include "tools/launch/recorded.h"

#include "base/clock.h"
#include "base/exit_status.h"
#include "report/report.h"

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

/* What a reader takes for granted holds. */
static void make_sound(struct recording *recording, int workers)
{
    int most = workers * DEVICES_MOST;

    if (recording->device_count > most)
        recording->device_count = most;
    if (recording->device_count < 0)
        recording->device_count = 0;
    recording->text[sizeof(recording->text) - 1] = 0;
    recording->details[sizeof(recording->details) - 1] = 0;
}

int recorded_end(void *memory, const struct config *config, int workers, int status)
{
    struct recording *recording = memory;

    if (!recording || !recording->begun)
        return status;
    make_sound(recording, workers);
    recording_close(recording, clock_ns());
    return report_all(recording, config) == OMPRMA_OK || status ? status : EXIT_OWN;
}
