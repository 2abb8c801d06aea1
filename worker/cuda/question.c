/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * question.c: what omprma_device_ask() asks a GPU (base/cuda_questions.h), on the helper thread. A
 * question is taken apart, the driver is called, and its answer is copied out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cuda_questions.h"
#include "worker/cuda/cuda.h"
#include "worker/device.h"
#include "worker/gpu/question.h"
#include "worker/worker.h"

static omprma_status_t refused(const struct cuda *cuda, int code, const char *what)
{
    return code == DRIVER_OK ? OMPRMA_OK : driver_error(cuda->driver, code, "%s", what);
}

/* ---- the device ---- */

static omprma_status_t describe(const struct cuda *cuda, struct cuda_device *about)
{
    const struct driver *driver = cuda->driver;
    size_t total = 0;
    int code;

    *about = (struct cuda_device){.driver_version = driver->version_number};
    code = driver->device_name(about->name, sizeof(about->name), cuda->handle);
    if (code == DRIVER_OK)
        code = driver->device_bus(about->bus_id, sizeof(about->bus_id), cuda->handle);
    if (code == DRIVER_OK)
        code = driver->device_uuid(about->uuid, cuda->handle);
    if (code == DRIVER_OK)
        code = driver->device_memory(&total, cuda->handle);
    about->total_bytes = total;
    for (int i = 0; i < CUDA_DEVICE_ATTRIBUTES; i++)
        if (i == 0 || driver->device_attribute(&about->attributes[i], i, cuda->handle) != DRIVER_OK)
            about->attributes[i] = CUDA_UNKNOWN;
    return refused(cuda, code, "properties of the GPU");
}

static omprma_status_t ask_device(const struct cuda *cuda, struct backend_ask *ask)
{
    struct cuda_device about;
    omprma_status_t status = describe(cuda, &about);

    return status == OMPRMA_OK ? gpu_question_give(ask, &about, sizeof(about)) : status;
}

static omprma_status_t ask_summary(const struct cuda *cuda, struct backend_ask *ask)
{
    char text[GPU_SUMMARY_BYTES];
    struct cuda_device about;
    omprma_status_t status = describe(cuda, &about);
    int bytes;

    if (status != OMPRMA_OK)
        return status;
    bytes =
        snprintf(text, sizeof(text), "compute capability %d.%d, driver %d.%d, bus %.31s, %.1f GiB",
                 about.attributes[CUDA_CAPABILITY_MAJOR], about.attributes[CUDA_CAPABILITY_MINOR],
                 about.driver_version / 1000, about.driver_version % 1000 / 10, about.bus_id,
                 (double)about.total_bytes / (1 << 30));
    return gpu_question_give(ask, text, (size_t)bytes);
}

static omprma_status_t ask_memory(const struct cuda *cuda, struct backend_ask *ask)
{
    struct cuda_memory memory = {0};
    size_t free_bytes = 0, total_bytes = 0;
    int code = cuda->driver->memory_info(&free_bytes, &total_bytes);

    memory.free_bytes = free_bytes;
    memory.total_bytes = total_bytes;
    return code == DRIVER_OK ? gpu_question_give(ask, &memory, sizeof(memory))
                             : refused(cuda, code, "free memory of the GPU");
}

/* Devices do not come or go while the worker runs. */
static omprma_status_t ask_peer(const struct cuda *cuda, struct backend_ask *ask)
{
    const struct server *server = cuda->gpu.device->server;
    const struct gpu *other = NULL;
    uint32_t index = 0, answer;
    int can = 0, code;
    omprma_status_t status = gpu_question_take(ask, &index, sizeof(index), 0);

    if (status != OMPRMA_OK)
        return status;
    if (index < (uint32_t)server->device_count)
        other = gpu_sibling(&cuda->gpu, &server->devices[index]);
    if (!other)
        return error_set(OMPRMA_ERR_ARGUMENT, "device %u of the worker is no GPU", index);
    code = cuda->driver->can_access_peer(&can, cuda->handle, cuda_of(other)->handle);
    answer = (uint32_t)can;
    return code == DRIVER_OK ? gpu_question_give(ask, &answer, sizeof(answer))
                             : refused(cuda, code, "access to another GPU");
}

/* ---- names ---- */

/* Module and name, which the caller frees. */
static omprma_status_t take_name(const struct backend_ask *ask, uint64_t *module, char **name)
{
    omprma_status_t status = gpu_question_take(ask, module, sizeof(*module), 0);

    if (status != OMPRMA_OK)
        return status;
    *name = strndup((const char *)ask->question + sizeof(*module), ask->bytes - sizeof(*module));
    return *name ? OMPRMA_OK : error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a name");
}

static omprma_status_t ask_function(struct cuda *cuda, struct backend_ask *ask)
{
    struct cuda_function *about = ask->answer;
    driver_function function = NULL;
    uint64_t module = 0;
    char *name = NULL;
    int32_t listed;
    omprma_status_t status = take_name(ask, &module, &name);

    _Static_assert(sizeof(*about) + CUDA_PARAMETERS_MOST * sizeof(about->parameters[0]) <=
                       OMPRMA_QUESTION,
                   "room for an answer");
    if (status == OMPRMA_OK)
        status = module_find_function(cuda, module, name, &function);
    free(name);
    if (status != OMPRMA_OK)
        return status;
    memset(about, 0, sizeof(*about));
    about->function = (uint64_t)(uintptr_t)function;
    for (int i = 0; i < CUDA_FUNCTION_ATTRIBUTES; i++)
        if (cuda->driver->function_attribute(&about->attributes[i], i, function) != DRIVER_OK)
            about->attributes[i] = CUDA_UNKNOWN;
    about->parameter_count = driver_list_parameters(cuda->driver, function, about->parameters);
    listed = about->parameter_count > 0 ? about->parameter_count : 0;
    ask->answered = sizeof(*about) + (size_t)listed * sizeof(about->parameters[0]);
    return OMPRMA_OK;
}

static omprma_status_t ask_global(struct cuda *cuda, struct backend_ask *ask)
{
    struct cuda_global about = {0};
    size_t bytes = 0;
    uint64_t module = 0;
    char *name = NULL;
    omprma_status_t status = take_name(ask, &module, &name);

    if (status == OMPRMA_OK)
        status = module_find_global(cuda, module, name, &about.address, &bytes);
    free(name);
    about.bytes = bytes;
    return status == OMPRMA_OK ? gpu_question_give(ask, &about, sizeof(about)) : status;
}

static omprma_status_t ask_unload(struct cuda *cuda, const struct backend_ask *ask)
{
    uint64_t module = 0;
    omprma_status_t status = gpu_question_take(ask, &module, sizeof(module), 0);

    return status == OMPRMA_OK ? module_unload(cuda, module) : status;
}

/* ---- kernels and limits ---- */

static omprma_status_t check_kernel(struct cuda *cuda, uint64_t function, driver_function *handle)
{
    struct gpu_kernel kernel;

    if (!gpu_kernel_find(&cuda->gpu, function, &kernel)) {
        error_set(OMPRMA_ERR_ADDRESS, "0x%llx is not a kernel of a loaded image",
                  (unsigned long long)function);
        return error_note_code(OMPRMA_ERR_ADDRESS, DRIVER_INVALID_HANDLE);
    }
    *handle = (driver_function)(uintptr_t)function;
    return OMPRMA_OK;
}

static omprma_status_t ask_setting(struct cuda *cuda, struct backend_ask *ask)
{
    const struct driver *driver = cuda->driver;
    bool of_function =
        ask->what == CUDA_ASK_FUNCTION_ATTRIBUTE || ask->what == CUDA_SET_FUNCTION_ATTRIBUTE;
    struct cuda_setting setting;
    driver_function function = NULL;
    size_t limit = 0;
    int value = 0, code;
    int64_t answer;
    omprma_status_t status = gpu_question_take(ask, &setting, sizeof(setting), 0);

    if (status == OMPRMA_OK && of_function)
        status = check_kernel(cuda, setting.object, &function);
    if (status != OMPRMA_OK)
        return status;
    switch (ask->what) {
    case CUDA_ASK_FUNCTION_ATTRIBUTE:
        code = driver->function_attribute(&value, setting.which, function);
        break;
    case CUDA_SET_FUNCTION_ATTRIBUTE:
        code = driver->function_set(function, setting.which, (int)setting.value);
        break;
    case CUDA_ASK_LIMIT:
        code = driver->limit_get(&limit, setting.which);
        break;
    default:
        code = driver->limit_set(setting.which, (size_t)setting.value);
        break;
    }
    if (code != DRIVER_OK)
        return driver_error(driver, code, "%s %d", of_function ? "attribute" : "limit",
                            setting.which);
    if (ask->what == CUDA_SET_FUNCTION_ATTRIBUTE || ask->what == CUDA_SET_LIMIT)
        return OMPRMA_OK;
    answer = of_function ? value : (int64_t)limit;
    return gpu_question_give(ask, &answer, sizeof(answer));
}

static omprma_status_t ask_occupancy(struct cuda *cuda, struct backend_ask *ask)
{
    const struct driver *driver = cuda->driver;
    struct cuda_occupancy_question question;
    struct cuda_occupancy answer = {0};
    driver_function function = NULL;
    omprma_status_t status = gpu_question_take(ask, &question, sizeof(question), 0);
    int code;

    if (status == OMPRMA_OK)
        status = check_kernel(cuda, question.function, &function);
    if (status != OMPRMA_OK)
        return status;
    answer.block_threads = question.block_threads;
    if (question.block_threads)
        code = driver->occupancy(&answer.blocks, function, question.block_threads,
                                 question.shared_bytes, question.flags);
    else
        code = driver->best_block(&answer.blocks, &answer.block_threads, function, NULL,
                                  question.shared_bytes, question.block_limit, question.flags);
    return code == DRIVER_OK ? gpu_question_give(ask, &answer, sizeof(answer))
                             : refused(cuda, code, "occupancy of a kernel");
}

omprma_status_t cuda_answer(struct gpu *gpu, struct backend_ask *ask)
{
    struct cuda *cuda = cuda_of(gpu);

    switch (ask->what) {
    case GPU_ASK_SUMMARY:
        return ask_summary(cuda, ask);
    case CUDA_ASK_DEVICE:
        return ask_device(cuda, ask);
    case CUDA_ASK_MEMORY:
        return ask_memory(cuda, ask);
    case CUDA_ASK_FUNCTION:
        return ask_function(cuda, ask);
    case CUDA_ASK_GLOBAL:
        return ask_global(cuda, ask);
    case CUDA_ASK_UNLOAD:
        return ask_unload(cuda, ask);
    case CUDA_ASK_FUNCTION_ATTRIBUTE:
    case CUDA_SET_FUNCTION_ATTRIBUTE:
    case CUDA_ASK_LIMIT:
    case CUDA_SET_LIMIT:
        return ask_setting(cuda, ask);
    case CUDA_ASK_OCCUPANCY:
        return ask_occupancy(cuda, ask);
    case CUDA_ASK_PEER:
        return ask_peer(cuda, ask);
    default:
        return error_set(OMPRMA_ERR_UNSUPPORTED, "CUDA devices do not know question %u", ask->what);
    }
}
