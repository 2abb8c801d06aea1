/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * link.c: the inputs are written one behind the other into a struct cuda_link, which the worker's
 * driver links when it is loaded as a module. cuLinkComplete() does that and gives the same bytes
 * to the program as its cubin. When the program loads them from that address, link_taken() hands
 * out the module that is there; loaded once more, they are linked anew.
 */
#include "cuda/link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cuda_questions.h"
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/module.h"
#include "cuda/result.h"

struct link {
    uint32_t tag; /* LINK_TAG */
    LIST_ENTRY(link) link;
    struct context *context;
    char *content; /* a struct cuda_link and its inputs */
    size_t bytes;
    struct module *module; /* made, and not taken yet */
    /* the program's options */
    unsigned option_count;
    int *options;
    void **values;
};
enum { LINK_TAG = 0x4c494e4b };

static struct links {
    pthread_mutex_t lock;
    LIST_HEAD(link_list, link) all;
} links = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = LIST_HEAD_INITIALIZER(links.all)};

void jit_log(unsigned count, const int *options, void *const *values, CUresult result)
{
    char *buffer = NULL;
    size_t room = 0;
    unsigned size_at = 0;

    for (unsigned i = 0; options && values && i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            buffer = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_BYTES) {
            room = (uintptr_t)values[i] & UINT32_MAX;
            size_at = i;
        }
    }
    if (buffer && room && size_at < count)
        snprintf(buffer, room, "%s", result == CUDA_SUCCESS ? "" : omprma_error());
}

bool link_taken(struct context *context, const void *image, CUmodule *module)
{
    struct link *each = NULL;
    bool taken = false;

    pthread_mutex_lock(&links.lock);
    LIST_FOREACH(each, &links.all, link)
    {
        if (each->content == image && each->module && each->context == context) {
            *module = each->module;
            each->module = NULL;
            taken = true;
            break;
        }
    }
    pthread_mutex_unlock(&links.lock);
    return taken;
}

/* ---- exported ------------------------------------------------------------------------------- */

static CUresult link_begin(struct call *call, CUlinkState link)
{
    CUresult result = api_begin(call);
    if (result == CUDA_SUCCESS && (!link || link->tag != LINK_TAG))
        result = CUDA_ERROR_INVALID_HANDLE;
    return result;
}

static struct link *link_make(struct context *context, unsigned count, const int *options,
                              void *const *values)
{
    struct link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->tag = LINK_TAG;
    link->context = context;
    link->bytes = sizeof(struct cuda_link);
    link->content = calloc(1, link->bytes);
    link->options = calloc(count + 1, sizeof(*options));
    link->values = calloc(count + 1, sizeof(*values));
    if (!link->content || !link->options || !link->values) {
        free(link->content);
        free(link->options);
        free(link->values);
        free(link);
        return NULL;
    }
    link->option_count = count;
    for (unsigned i = 0; i < count; i++) {
        link->options[i] = options[i];
        link->values[i] = values[i];
    }
    ((struct cuda_link *)(void *)link->content)->magic = CUDA_LINK_MAGIC;
    return link;
}

CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *link)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && (!link || (count && (!options || !values))))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        struct link *made = link_make(call.context, count, options, values);
        if (made) {
            pthread_mutex_lock(&links.lock);
            LIST_INSERT_HEAD(&links.all, made, link);
            pthread_mutex_unlock(&links.lock);
            *link = made;
        } else {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return api_end(&call, result);
}

CUresult cuLinkCreate(unsigned count, int *options, void **values, CUlinkState *link)
{
    return cuLinkCreate_v2(count, options, values, link);
}

static CUresult link_add(struct link *link, int type, const void *data, size_t bytes)
{
    struct cuda_input input = {.bytes = bytes, .type = type};
    size_t padded = (bytes + 7) / 8 * 8, all = link->bytes + sizeof(input) + padded;
    char *longer = realloc(link->content, all);

    if (!longer)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(longer + link->bytes, 0, all - link->bytes);
    memcpy(longer + link->bytes, &input, sizeof(input));
    memcpy(longer + link->bytes + sizeof(input), data, bytes);
    ((struct cuda_link *)(void *)longer)->count++;
    link->content = longer;
    link->bytes = all;
    return CUDA_SUCCESS;
}

/* Options of one input are left to the driver there. */
CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t bytes, const char *name,
                          unsigned count, int *options, void **values)
{
    struct call call;
    CUresult result = link_begin(&call, link);

    (void)name;
    (void)count;
    (void)options;
    (void)values;
    if (result == CUDA_SUCCESS && (!data || bytes == 0 || link->module))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = link_add(link, type, data, bytes);
    return api_end(&call, result);
}

CUresult cuLinkAddData(CUlinkState link, int type, void *data, size_t bytes, const char *name,
                       unsigned count, int *options, void **values)
{
    return cuLinkAddData_v2(link, type, data, bytes, name, count, options, values);
}

CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes)
{
    struct call call;
    CUresult result = link_begin(&call, link);

    if (result == CUDA_SUCCESS && !cubin)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !link->module)
        result = module_load(link->context, link->content, link->bytes, &link->module);
    if (result == CUDA_SUCCESS) {
        *cubin = link->content;
        if (bytes)
            *bytes = link->bytes;
    }
    if (call.inside && link && link->tag == LINK_TAG)
        jit_log(link->option_count, link->options, link->values, result);
    return api_end(&call, result);
}

CUresult cuLinkDestroy(CUlinkState link)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && (!link || link->tag != LINK_TAG))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&links.lock);
        LIST_REMOVE(link, link);
        pthread_mutex_unlock(&links.lock);
        if (link->module && atomic_load(&link->context->alive)) /* else it went with that */
            cuModuleUnload(link->module);
        link->tag = 0;
        free(link->content);
        free(link->options);
        free(link->values);
        free(link);
    }
    return api_end(&call, result);
}
