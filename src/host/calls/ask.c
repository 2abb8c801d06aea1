/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ask.c: questions that only the device's backend understands. Public function of omprma.h. */
#include <string.h>

#include "base/error.h"
#include "host/device/devices.h"

omprma_status_t omprma_device_ask(int number, uint32_t what, const void *question, size_t bytes,
                                  void *answer, size_t room, size_t *answered)
{
    char text[OMPRMA_QUESTION];
    struct wire_record record = {
        .code = WIRE_ASK,
        .word = {what},
        .tail = question,
        .tail_bytes = (uint32_t)bytes,
    };
    struct device *device;
    uint64_t came = 0;
    omprma_status_t status = device_require(number, &device);

    if (status != OMPRMA_OK)
        return status;
    if (bytes > OMPRMA_QUESTION || (bytes && !question) || (room && !answer))
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "%s: a question of %zu bytes at %p, to be answered at %p; at most %d are "
                         "possible",
                         device_name(device), bytes, question, answer, OMPRMA_QUESTION);
    runtime_lock(device->runtime);
    status = device_command(device, &record, &came, text, sizeof(text));
    runtime_unlock(device->runtime);
    if (status != OMPRMA_OK)
        return status;
    if (room)
        memcpy(answer, text, came < room ? came : room);
    if (answered)
        *answered = came;
    return OMPRMA_OK;
}
