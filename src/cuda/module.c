/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c: the worker's driver loads a module, and omprma numbers it. A function is looked up
 * once; its handle and all that is known of it stay with the module. The round trip is made without
 * the context's lock, so two threads may ask for the same function, and the first answer is kept.
 */
#include "cuda/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/described.h"
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/image_size.h"
#include "cuda/link.h"
#include "cuda/result.h"
#include "cuda/stream.h"

enum { VERSION_THAT_TELLS = 12040 }; /* the parameters of kernels */

/* ---- life ----------------------------------------------------------------------------------- */

CUresult module_load(struct context *context, const void *image, size_t bytes, CUmodule *module)
{
    struct gpu *gpu = context->gpu;
    struct module *made = calloc(1, sizeof(*made));

    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = result_of(gpu, omprma_module_load(gpu->device, image, bytes, &made->number));
    if (result != CUDA_SUCCESS) {
        free(made);
        return result;
    }
    made->tag = MODULE_TAG;
    made->context = context;
    if (gpu->properties.driver_version < VERSION_THAT_TELLS)
        made->described = described_read(image, bytes);
    LIST_INIT(&made->functions);
    pthread_mutex_lock(&context->lock);
    LIST_INSERT_HEAD(&context->modules, made, link);
    pthread_mutex_unlock(&context->lock);
    *module = made;
    return CUDA_SUCCESS;
}

/* It is in no list any more. */
static CUresult module_free(struct module *module)
{
    struct gpu *gpu = module->context->gpu;
    CUresult result = atomic_load(&gpu->lost);
    struct function *function;
    struct block global;

    if (result == CUDA_SUCCESS)
        result = result_of(gpu, remote_module_unload(gpu->device, module->number));
    while (blocks_take_any(&gpu->blocks, module->context, module, &global))
        ;
    while ((function = LIST_FIRST(&module->functions))) {
        LIST_REMOVE(function, link);
        function->tag = 0;
        free(function->remote);
        free(function->name);
        free(function);
    }
    module->tag = 0;
    described_free(module->described);
    free(module);
    return result;
}

void modules_clear(struct context *context)
{
    struct module *module;

    while ((module = LIST_FIRST(&context->modules))) {
        LIST_REMOVE(module, link);
        module_free(module);
    }
}

/* Taken out of its context; false: it is no module. */
static bool module_remove(struct module *module)
{
    bool there = module && module->tag == MODULE_TAG;

    if (there) {
        pthread_mutex_lock(&module->context->lock);
        there = module->tag == MODULE_TAG;
        module->tag = 0;
        if (there)
            LIST_REMOVE(module, link);
        pthread_mutex_unlock(&module->context->lock);
    }
    return there;
}

/* ---- functions ------------------------------------------------------------------------------ */

CUresult function_check(CUfunction function)
{
    if (!function || function->tag != FUNCTION_TAG)
        return CUDA_ERROR_INVALID_HANDLE;
    return atomic_load(&function_gpu(function)->lost);
}

struct gpu *function_gpu(const struct function *function)
{
    return function->module->context->gpu;
}

/* Under the context's lock. NULL: it was not looked up before. */
static struct function *function_known(struct module *module, const char *name)
{
    struct function *each = NULL;

    LIST_FOREACH(each, &module->functions, link)
    {
        if (strcmp(each->name, name) == 0)
            break;
    }
    return each;
}

static void function_free(struct function *function)
{
    if (function) {
        free(function->remote);
        free(function->name);
        free(function);
    }
}

/* A name that is not there is no news: LLVM's runtime looks for some that may be missing. */
static CUresult look_up(struct gpu *gpu, omprma_status_t status)
{
    if (status == OMPRMA_ERR_SYMBOL ||
        (status != OMPRMA_OK && omprma_error_code() == CUDA_ERROR_NOT_FOUND))
        return CUDA_ERROR_NOT_FOUND;
    return result_of(gpu, status);
}

static CUresult function_make(struct module *module, const char *name, struct function **function)
{
    struct gpu *gpu = module->context->gpu;
    struct function *made = calloc(1, sizeof(*made));

    if (made)
        made->name = strdup(name);
    if (!made || !made->name) {
        function_free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->tag = FUNCTION_TAG;
    made->module = module;
    CUresult result =
        look_up(gpu, remote_function(gpu->device, module->number, name, &made->remote));
    if (result == CUDA_SUCCESS && made->remote->parameter_count == CUDA_PARAMETERS_UNKNOWN)
        described_fill(module->described, name, &made->remote);
    if (result == CUDA_SUCCESS)
        *function = made;
    else
        function_free(made);
    return result;
}

static CUresult function_find(struct module *module, const char *name, CUfunction *function)
{
    pthread_mutex_t *lock = &module->context->lock;
    struct function *made = NULL;

    pthread_mutex_lock(lock);
    struct function *known = function_known(module, name);
    pthread_mutex_unlock(lock);
    if (!known) {
        CUresult result = function_make(module, name, &made);
        if (result != CUDA_SUCCESS)
            return result;
        pthread_mutex_lock(lock);
        known = function_known(module, name); /* another thread may have been faster */
        if (!known) {
            LIST_INSERT_HEAD(&module->functions, made, link);
            known = made;
            made = NULL;
        }
        pthread_mutex_unlock(lock);
        function_free(made);
    }
    *function = known;
    return CUDA_SUCCESS;
}

/* ---- exported: loading ---------------------------------------------------------------------- */

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && (!module || !image))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !link_taken(call.context, image, module)) {
        size_t bytes = image_size(&image);
        if (bytes == 0) {
            report_error("cuModuleLoadData: the image is neither a cubin, nor a fat binary, nor "
                         "PTX");
            result = CUDA_ERROR_INVALID_IMAGE;
        } else {
            result = module_load(call.context, image, bytes, module);
        }
    }
    return api_end(&call, result);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return cuModuleLoadData(module, image);
}

/* Options are about how PTX is compiled, which is left to the driver there, and where it writes
 * what it has to say: that is put where the program wants it. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values)
{
    CUresult result = cuModuleLoadData(module, image);
    jit_log(count, options, values, result);
    return result;
}

static CUresult file_read(const char *path, void **content, size_t *bytes)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CUresult result = CUDA_ERROR_FILE_NOT_FOUND;

    if (fd < 0)
        return result;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        size_t length = (size_t)status.st_size, at = 0;
        char *made = calloc(1, length + 1); /* PTX in files has no zero at its end */
        ssize_t got = 1;
        while (made && at < length && got > 0) {
            got = read(fd, made + at, length - at);
            at += got > 0 ? (size_t)got : 0;
        }
        result = !made ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
        *content = made;
        *bytes = length;
    }
    close(fd);
    return result;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    struct call call;
    void *content = NULL;
    size_t bytes = 0;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && (!module || !path))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = file_read(path, &content, &bytes);
    if (result == CUDA_SUCCESS) {
        bool binary = bytes >= 4 && memchr(content, 0, bytes);
        result = module_load(call.context, content, binary ? bytes : bytes + 1, module);
    }
    free(content);
    return api_end(&call, result);
}

/* Kernels of it that are under way come to their end first. */
CUresult cuModuleUnload(CUmodule module)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS) {
        if (module_remove(module)) {
            if (atomic_load(&module->context->gpu->lost) == CUDA_SUCCESS)
                context_settle(module->context);
            result = module_free(module);
        } else {
            result = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return api_end(&call, result);
}

/* ---- exported: names ------------------------------------------------------------------------ */

static CUresult name_begin(struct call *call, CUmodule module, const char *name)
{
    CUresult result = api_begin(call);
    if (result == CUDA_SUCCESS && !name)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && (!module || module->tag != MODULE_TAG))
        result = CUDA_ERROR_INVALID_HANDLE;
    return result;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct call call;
    CUresult result = name_begin(&call, module, name);

    if (result == CUDA_SUCCESS && !function)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = function_find(module, name, function);
    return api_end(&call, result);
}

/* Programs may ask whose its address is. One that was looked up before is there. False: no memory.
 */
static bool global_note(const struct module *module, const struct cuda_global *global)
{
    return blocks_add(&module->context->gpu->blocks, &(struct block){.address = global->address,
                                                                     .bytes = global->bytes,
                                                                     .owner = module->context,
                                                                     .part_of = module}) !=
           BLOCK_NO_MEMORY;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                              const char *name)
{
    struct call call;
    struct cuda_global global;
    CUresult result = name_begin(&call, module, name);

    if (result == CUDA_SUCCESS && !address && !bytes)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = look_up(module->context->gpu, remote_global(module->context->gpu->device,
                                                             module->number, name, &global));
    if (result == CUDA_SUCCESS && !global_note(module, &global))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && address)
        *address = global.address;
    if (result == CUDA_SUCCESS && bytes)
        *bytes = global.bytes;
    return api_end(&call, result);
}

/* Functions come at once. */
CUresult cuModuleGetLoadingMode(int *mode)
{
    enum { EAGER = 1 };
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && !mode)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *mode = EAGER;
    return api_end(&call, result);
}
