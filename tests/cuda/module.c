/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* module.c: modules, functions, linking and launches of the stand-in. See standin.h. */
#define _GNU_SOURCE
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
    struct function *next;
    struct module *module;
    const struct image_symbol *symbol;
    void *code;
    int dynamic_shared; /* attribute 8 */
};

struct variable {
    struct variable *next;
    const struct image_symbol *symbol;
    uint64_t address;
    size_t bytes;
    bool in_code;
};

struct module {
    struct context *context;
    struct image image;
    struct code *code;
    struct function *functions;
    struct variable *variables;
};

/* ---- loading ---- */

static int place_variable(struct module *module, const struct image_symbol *symbol)
{
    struct variable *variable = calloc(1, sizeof(*variable));
    size_t bytes = 0;
    void *there = code_find(module->code, symbol->name, &bytes);

    if (!variable)
        return OUT_OF_MEMORY;
    variable->symbol = symbol;
    variable->bytes = symbol->bytes;
    variable->in_code = there != NULL;
    variable->address =
        there ? (uint64_t)(uintptr_t)there : memory_take(module->context->device, symbol->bytes);
    variable->next = module->variables;
    module->variables = variable;
    if (!variable->address)
        return OUT_OF_MEMORY;
    if (there)
        return memory_note(variable->address, bytes);
    if (symbol->contents)
        memcpy((void *)(uintptr_t)variable->address, symbol->contents, symbol->bytes);
    return SUCCESS;
}

static void module_free(struct module *module)
{
    while (module->functions) {
        struct function *function = module->functions;

        module->functions = function->next;
        free(function);
    }
    while (module->variables) {
        struct variable *variable = module->variables;

        module->variables = variable->next;
        if (variable->in_code)
            memory_forget(variable->address);
        else if (variable->address)
            memory_give(variable->address);
        free(variable);
    }
    code_close(module->code);
    image_free(&module->image);
    free(module);
}

/* Options 5 and 6 are a buffer for what the compiler says, and its size. */
static void say(unsigned count, const int *options, void **values, const char *text)
{
    char *buffer = NULL;
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5)
            buffer = values[i];
        else if (options[i] == 6)
            bytes = (size_t)(uintptr_t)values[i];
    }
    if (buffer && bytes)
        snprintf(buffer, bytes, "%s", text);
}

EXPORT int cuModuleLoadDataEx(struct module **out, const void *image, unsigned count, int *options,
                              void **values)
{
    struct context *context;
    struct module *module;
    int code;

    ENTER;
    code = context_current(&context);
    if (code != SUCCESS)
        return code;
    module = calloc(1, sizeof(*module));
    if (!module)
        return OUT_OF_MEMORY;
    module->context = context;
    code = image_read(&module->image, image, SIZE_MAX);
    if (code == INVALID_PTX)
        say(count, options, values, "ptxas fatal: no .version and .target\nptxas: stopped\n");
    if (code == SUCCESS)
        module->code = code_open(settings.code);
    for (size_t i = 0; i < module->image.count && code == SUCCESS; i++)
        if (!module->image.symbols[i].kernel)
            code = place_variable(module, &module->image.symbols[i]);
    if (code != SUCCESS) {
        module_free(module);
        return code;
    }
    counts_add(&counts.modules, 1);
    *out = module;
    return SUCCESS;
}

EXPORT int cuModuleUnload(struct module *module)
{
    ENTER;
    module_free(module);
    counts_add(&counts.modules, -1);
    return SUCCESS;
}

static const struct image_symbol *find(const struct module *module, const char *name, bool kernel)
{
    for (size_t i = 0; i < module->image.count; i++)
        if (module->image.symbols[i].kernel == kernel &&
            strcmp(module->image.symbols[i].name, name) == 0)
            return &module->image.symbols[i];
    return NULL;
}

EXPORT int cuModuleGetFunction(struct function **out, struct module *module, const char *name)
{
    const struct image_symbol *symbol;
    struct function *function;
    size_t bytes;

    ENTER;
    for (function = module->functions; function; function = function->next) {
        if (strcmp(function->symbol->name, name) != 0)
            continue;
        *out = function;
        return SUCCESS;
    }
    symbol = find(module, name, true);
    if (!symbol)
        return NOT_FOUND;
    function = calloc(1, sizeof(*function));
    if (!function)
        return OUT_OF_MEMORY;
    function->module = module;
    function->symbol = symbol;
    function->dynamic_shared = 49152;
    function->code = code_builtin(name);
    if (!function->code)
        function->code = code_find(module->code, name, &bytes);
    if (!function->code)
        fprintf(stderr, "stand-in: no host code for kernel %s: see STANDIN_CODE\n", name);
    function->next = module->functions;
    module->functions = function;
    *out = function;
    return SUCCESS;
}

EXPORT int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, struct module *module,
                                const char *name)
{
    ENTER;
    for (const struct variable *variable = module->variables; variable; variable = variable->next) {
        if (strcmp(variable->symbol->name, name) != 0)
            continue;
        if (address)
            *address = variable->address;
        if (bytes)
            *bytes = variable->bytes;
        return SUCCESS;
    }
    return NOT_FOUND;
}

/* ---- linking: only texts, one behind the other ---- */

struct link {
    char *text;
    size_t bytes;
};

EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, struct link **out)
{
    ENTER;
    (void)count, (void)options, (void)values;
    *out = calloc(1, sizeof(**out));
    return *out ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT int cuLinkAddData_v2(struct link *link, int type, const char *data, size_t bytes,
                            const char *name, unsigned count, int *options, void **values)
{
    char *text;

    ENTER;
    (void)name, (void)count, (void)options, (void)values;
    if (type != 1 || !strstr(data, ".version"))
        return INVALID_PTX;
    bytes = strlen(data);
    text = realloc(link->text, link->bytes + bytes + 2);
    if (!text)
        return OUT_OF_MEMORY;
    memcpy(text + link->bytes, data, bytes);
    memcpy(text + link->bytes + bytes, "\n", 2);
    link->text = text;
    link->bytes += bytes + 1;
    return SUCCESS;
}

EXPORT int cuLinkComplete(struct link *link, void **cubin, size_t *bytes)
{
    ENTER;
    if (!link->text)
        return INVALID_IMAGE;
    *cubin = link->text;
    *bytes = link->bytes + 1;
    return SUCCESS;
}

EXPORT int cuLinkDestroy(struct link *link)
{
    ENTER;
    free(link->text);
    free(link);
    return SUCCESS;
}

/* ---- functions ---- */

EXPORT int cuFuncGetAttribute(int *value, int attribute, const struct function *function)
{
    ENTER;
    if (attribute < 0 || attribute > 9)
        return INVALID_VALUE;
    *value = attribute == 0                     ? 1024
             : attribute == 4                   ? 32
             : attribute == 5 || attribute == 6 ? 90
             : attribute == 8                   ? function->dynamic_shared
                                                : 0;
    return SUCCESS;
}

EXPORT int cuFuncSetAttribute(struct function *function, int attribute, int value)
{
    ENTER;
    if (attribute == 8 && value > 232448)
        return INVALID_VALUE;
    if (attribute == 8)
        function->dynamic_shared = value;
    return attribute == 8 || attribute == 9 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuFuncGetParamInfo(const struct function *function, size_t index, size_t *offset,
                              size_t *bytes)
{
    ENTER;
    if (settings.version < 12040) /* the driver's library did not have it */
        return NOT_FOUND;
    if (index >= function->symbol->count)
        return INVALID_VALUE;
    *offset = function->symbol->parameters[index].offset;
    *bytes = function->symbol->parameters[index].bytes;
    return SUCCESS;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                const struct function *function,
                                                                int threads, size_t shared_bytes,
                                                                unsigned flags)
{
    ENTER;
    (void)function, (void)shared_bytes, (void)flags;
    if (threads <= 0)
        return INVALID_VALUE;
    *blocks = 2048 / threads;
    return SUCCESS;
}

EXPORT int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                     const struct function *function,
                                                     void *shared_of_block, size_t shared_bytes,
                                                     int limit, unsigned flags)
{
    ENTER;
    (void)function, (void)shared_of_block, (void)shared_bytes, (void)flags;
    *block = limit && limit < 1024 ? limit : 1024;
    *grid = 8;
    return SUCCESS;
}

/* ---- launches ---- */

struct launch {
    const struct function *function;
    struct code_geometry geometry;
    unsigned char block[]; /* its parameters */
};

/* Small parameters by value, larger ones by their address. */
static int do_launch(void *data)
{
    struct launch *launch = data;
    const struct image_symbol *symbol = launch->function->symbol;
    pthread_mutex_t *lock = &launch->function->module->context->kernels;
    uint64_t words[symbol->count + 1];
    int code;

    for (uint32_t i = 0; i < symbol->count; i++) {
        const struct image_parameter *parameter = &symbol->parameters[i];

        words[i] = (uint64_t)(uintptr_t)(launch->block + parameter->offset);
        if (parameter->bytes <= 8) {
            words[i] = 0;
            memcpy(&words[i], launch->block + parameter->offset, parameter->bytes);
        }
    }
    pthread_mutex_lock(lock);
    code = code_call(launch->function->code, words, symbol->count, &launch->geometry,
                     settings_measure());
    if (code < 0)
        code = code == CODE_ABORT ? ASSERT : ILLEGAL_ADDRESS;
    fflush(stdout);
    pthread_mutex_unlock(lock);
    return code;
}

static size_t block_bytes(const struct image_symbol *symbol)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < symbol->count; i++)
        if (symbol->parameters[i].offset + symbol->parameters[i].bytes > bytes)
            bytes = symbol->parameters[i].offset + symbol->parameters[i].bytes;
    return bytes;
}

/* From pointers to each, or from the buffer in `extra`. */
static int take_parameters(struct launch *launch, size_t bytes, void **parameters, void **extra)
{
    const struct image_symbol *symbol = launch->function->symbol;
    const void *buffer = NULL;
    size_t given = 0;

    for (uint32_t i = 0; parameters && i < symbol->count; i++)
        memcpy(launch->block + symbol->parameters[i].offset, parameters[i],
               symbol->parameters[i].bytes);
    if (parameters || bytes == 0)
        return SUCCESS;
    for (int i = 0; extra && extra[i]; i += 2) {
        if (extra[i] == (void *)1)
            buffer = extra[i + 1];
        else if (extra[i] == (void *)2)
            given = *(const size_t *)extra[i + 1];
    }
    if (!buffer || given < bytes)
        return INVALID_VALUE;
    memcpy(launch->block, buffer, bytes);
    return SUCCESS;
}

EXPORT int cuLaunchKernel(const struct function *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, struct stream *stream, void **parameters,
                          void **extra)
{
    size_t bytes = block_bytes(function->symbol);
    struct context *context;
    struct launch *launch;
    int code;

    ENTER;
    code = context_current(&context);
    if (code != SUCCESS)
        return code;
    if (!function->code)
        return NOT_SUPPORTED;
    if (!grid_x || !grid_y || !grid_z || (uint64_t)block_x * block_y * block_z - 1 >= 1024 ||
        shared_bytes > (unsigned)function->dynamic_shared)
        return INVALID_VALUE;
    launch = malloc(sizeof(*launch) + bytes);
    if (!launch)
        return OUT_OF_MEMORY;
    *launch = (struct launch){
        function, {7, {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes}}};
    code = take_parameters(launch, bytes, parameters, extra);
    if (code == SUCCESS)
        return stream_add(stream, do_launch, launch);
    free(launch);
    return code;
}
