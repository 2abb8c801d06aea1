/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * remote.c: each question is one device_ask() with a structure of base/cuda_questions.h,
 * whose answer is another one. Texts and counts in answers are bounded here.
 */
#include "cuda/remote.h"

#include <stdlib.h>
#include <string.h>

#include "face/driver/devices.h"

omprma_status_t remote_device(int device, struct cuda_device *answer)
{
    omprma_status_t status = device_ask(device, CUDA_ASK_DEVICE, NULL, 0, answer, sizeof(*answer));
    answer->name[sizeof(answer->name) - 1] = 0;
    answer->bus_id[sizeof(answer->bus_id) - 1] = 0;
    return status;
}

omprma_status_t remote_limit_get(int device, int limit, uint64_t *value)
{
    struct cuda_setting question = {.which = limit};
    return device_ask(device, CUDA_ASK_LIMIT, &question, sizeof(question), value, sizeof(*value));
}

omprma_status_t remote_limit_set(int device, int limit, uint64_t value)
{
    struct cuda_setting question = {.which = limit, .value = (int64_t)value};
    return device_ask(device, CUDA_SET_LIMIT, &question, sizeof(question), NULL, 0);
}

omprma_status_t remote_module_unload(int device, uint64_t module)
{
    return device_ask(device, CUDA_ASK_UNLOAD, &module, sizeof(module), NULL, 0);
}

static omprma_status_t ask_name(int device, enum cuda_question what, uint64_t module,
                                const char *name, void *answer, size_t room)
{
    size_t length = strlen(name);
    struct cuda_name *question = malloc(sizeof(*question) + length);

    if (!question)
        return OMPRMA_ERR_HOST_MEMORY;
    question->module = module;
    memcpy(question->name, name, length);
    omprma_status_t status =
        device_ask(device, what, question, sizeof(*question) + length, answer, room);
    free(question);
    return status;
}

omprma_status_t remote_function(int device, uint64_t module, const char *name,
                                struct cuda_function **function)
{
    size_t room = sizeof(**function) + CUDA_PARAMETERS_MOST * sizeof((*function)->parameters[0]);
    struct cuda_function *answer = malloc(room);

    if (!answer)
        return OMPRMA_ERR_HOST_MEMORY;
    omprma_status_t status = ask_name(device, CUDA_ASK_FUNCTION, module, name, answer, room);
    if (status != OMPRMA_OK) {
        free(answer);
        return status;
    }
    if (answer->parameter_count > CUDA_PARAMETERS_MOST)
        answer->parameter_count = CUDA_PARAMETERS_MOST;
    *function = answer;
    return OMPRMA_OK;
}

omprma_status_t remote_global(int device, uint64_t module, const char *name,
                              struct cuda_global *global)
{
    return ask_name(device, CUDA_ASK_GLOBAL, module, name, global, sizeof(*global));
}

omprma_status_t remote_attribute_get(int device, uint64_t function, int attribute, int *value)
{
    struct cuda_setting question = {.object = function, .which = attribute};
    int64_t answer;
    omprma_status_t status = device_ask(device, CUDA_ASK_FUNCTION_ATTRIBUTE, &question,
                                        sizeof(question), &answer, sizeof(answer));
    if (status == OMPRMA_OK)
        *value = (int)answer;
    return status;
}

omprma_status_t remote_attribute_set(int device, uint64_t function, int attribute, int value)
{
    struct cuda_setting question = {.object = function, .which = attribute, .value = value};
    return device_ask(device, CUDA_SET_FUNCTION_ATTRIBUTE, &question, sizeof(question), NULL, 0);
}

omprma_status_t remote_occupancy(int device, const struct cuda_occupancy_question *question,
                                 struct cuda_occupancy *answer)
{
    return device_ask(device, CUDA_ASK_OCCUPANCY, question, sizeof(*question), answer,
                      sizeof(*answer));
}
