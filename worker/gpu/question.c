/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* question.c: sizes are checked, because the program may be another version's. See question.h. */
#include "worker/gpu/question.h"

#include <string.h>

#include "base/error.h"

omprma_status_t gpu_question_take(const struct backend_ask *ask, void *to, size_t bytes,
                                  size_t room)
{
    if (ask->bytes < bytes || ask->room < room)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "question %u to a GPU has %zu bytes and room for %zu, not %zu and %zu",
                         ask->what, ask->bytes, ask->room, bytes, room);
    memcpy(to, ask->question, bytes);
    return OMPRMA_OK;
}

omprma_status_t gpu_question_give(struct backend_ask *ask, const void *from, size_t bytes)
{
    if (ask->room < bytes)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "question %u to a GPU has room for %zu bytes, not for %zu", ask->what,
                         ask->room, bytes);
    memcpy(ask->answer, from, bytes);
    ask->answered = bytes;
    return OMPRMA_OK;
}
