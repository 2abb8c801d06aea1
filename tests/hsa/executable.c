/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * executable.c: executables, into which code objects are loaded, and their symbols. A variable that
 * the host's code has, too, lies there. See standin.h.
 */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

/* What a code object handle, or a reader, is. */
struct code_object {
    struct code_object *next;
    char *bytes; /* a code object's handle is their address: LLVM writes there */
    size_t size;
};

struct symbol {
    struct kernel kernel; /* its first member */
    uint64_t address;
    size_t bytes;
    bool in_code;
};

/* A code object on a GPU. */
struct loaded {
    struct loaded *next;
    struct object object;
    struct code *code;
    struct agent *agent;
    void *memory; /* at its GPU's address */
    struct symbol *symbols;
};

struct executable {
    struct executable *next;
    struct loaded *loaded;
    bool frozen;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct code_object *code_objects;
static struct executable *executables;

/* ---- code objects ---- */

static struct code_object *add_code_object(const void *data, size_t size)
{
    struct code_object *added = calloc(1, sizeof(*added));

    if (!added)
        return NULL;
    added->bytes = malloc(size + 1);
    if (!added->bytes) {
        free(added);
        return NULL;
    }
    memcpy(added->bytes, data, size);
    added->size = size;
    pthread_mutex_lock(&lock);
    added->next = code_objects;
    code_objects = added;
    pthread_mutex_unlock(&lock);
    counts_add(&counts.readers, 1);
    return added;
}

/* By the address of its bytes, or its own; takes it out of the list if `out`. */
static struct code_object *find_code_object(uint64_t handle, bool out)
{
    struct code_object **link = &code_objects, *found;

    pthread_mutex_lock(&lock);
    while (*link && handle != (uint64_t)(uintptr_t)*link &&
           handle != (uint64_t)(uintptr_t)(*link)->bytes)
        link = &(*link)->next;
    found = *link;
    if (found && out)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static hsa_status_t give_code_object_back(uint64_t handle, hsa_status_t otherwise)
{
    struct code_object *found = find_code_object(handle, true);

    if (!found)
        return otherwise;
    free(found->bytes);
    free(found);
    counts_add(&counts.readers, -1);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_deserialize(void *data, size_t size, const char *options,
                                         hsa_code_object_t *object)
{
    struct code_object *added;

    ENTER;
    (void)options;
    if (!data || size == 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    added = add_code_object(data, size);
    if (!added)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    object->handle = (uint64_t)(uintptr_t)added->bytes;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t object)
{
    ENTER;
    return give_code_object_back(object.handle, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void *data, size_t size,
                                                       hsa_code_object_reader_t *reader)
{
    struct code_object *added;

    ENTER;
    if (!data || size == 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    added = add_code_object(data, size);
    if (!added)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    reader->handle = (uint64_t)(uintptr_t)added;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader)
{
    ENTER;
    return give_code_object_back(reader.handle, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
}

/* ---- loading ---- */

static void place_symbol(struct loaded *loaded, size_t index)
{
    const struct object_symbol *from = &loaded->object.symbols[index];
    struct symbol *symbol = &loaded->symbols[index];
    size_t length = strlen(from->name), bytes = 0;
    void *there;

    symbol->kernel.symbol = from;
    symbol->kernel.agent = loaded->agent;
    symbol->address = (uint64_t)(uintptr_t)loaded->memory + from->value;
    symbol->bytes = from->bytes;
    if (from->kernel) {
        snprintf(symbol->kernel.name, sizeof(symbol->kernel.name), "%.*s", (int)length - 3,
                 from->name);
        symbol->kernel.function = code_builtin(symbol->kernel.name);
        if (!symbol->kernel.function)
            symbol->kernel.function = code_find(loaded->code, symbol->kernel.name, &bytes);
        return;
    }
    there = code_find(loaded->code, from->name, &bytes);
    if (!there)
        return;
    symbol->address = (uint64_t)(uintptr_t)there;
    symbol->in_code = true;
    memory_note(there, bytes, loaded->agent);
}

static void unload(struct loaded *loaded)
{
    for (size_t i = 0; i < loaded->object.count; i++)
        if (loaded->symbols && loaded->symbols[i].in_code)
            memory_forget((void *)(uintptr_t)loaded->symbols[i].address);
    if (loaded->memory)
        memory_free_code(loaded->memory);
    code_close(loaded->code);
    free(loaded->symbols);
    object_free(&loaded->object);
    free(loaded);
}

static hsa_status_t place(struct loaded *loaded)
{
    hsa_status_t status;

    if (!object_is_for(&loaded->object, loaded->agent->name))
        return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    status = memory_allocate(loaded->agent, loaded->object.loaded_bytes, false, &loaded->memory);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    object_place(&loaded->object,
                 memory_reach(loaded->memory, loaded->object.loaded_bytes, NULL, false));
    loaded->code = code_open(settings.code);
    loaded->symbols = calloc(loaded->object.count + 1, sizeof(*loaded->symbols));
    if (!loaded->symbols)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (size_t i = 0; i < loaded->object.count; i++)
        place_symbol(loaded, i);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t load(hsa_executable_t handle, hsa_agent_t agent, uint64_t object)
{
    const struct code_object *from = find_code_object(object, false);
    struct executable *executable = (struct executable *)(uintptr_t)handle.handle;
    struct loaded *loaded;
    hsa_status_t status;

    if (!executable)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (executable->frozen)
        return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    if (!agent_of(agent) || agent_of(agent)->device < 0)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!from)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    loaded = calloc(1, sizeof(*loaded));
    if (!loaded)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    loaded->agent = agent_of(agent);
    status = object_read(&loaded->object, from->bytes, from->size);
    if (status == HSA_STATUS_SUCCESS)
        status = place(loaded);
    if (status != HSA_STATUS_SUCCESS) {
        unload(loaded);
        return status;
    }
    pthread_mutex_lock(&lock);
    loaded->next = executable->loaded;
    executable->loaded = loaded;
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                             hsa_code_object_t object, const char *options)
{
    ENTER;
    (void)options;
    return load(executable, agent, object.handle);
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader,
                                                   const char *options,
                                                   hsa_loaded_code_object_t *loaded)
{
    hsa_status_t status;

    ENTER;
    (void)options;
    status = load(executable, agent, reader.handle);
    if (status == HSA_STATUS_SUCCESS && loaded)
        loaded->handle =
            (uint64_t)(uintptr_t)((struct executable *)(uintptr_t)executable.handle)->loaded;
    return status;
}

/* ---- executables ---- */

static hsa_status_t create(hsa_executable_t *handle)
{
    struct executable *executable = calloc(1, sizeof(*executable));

    if (!executable)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_lock(&lock);
    executable->next = executables;
    executables = executable;
    pthread_mutex_unlock(&lock);
    counts_add(&counts.executables, 1);
    handle->handle = (uint64_t)(uintptr_t)executable;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state,
                                   const char *options, hsa_executable_t *executable)
{
    ENTER;
    (void)profile, (void)state, (void)options;
    return create(executable);
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t mode, const char *options,
                                       hsa_executable_t *executable)
{
    ENTER;
    (void)profile, (void)mode, (void)options;
    return create(executable);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle)
{
    struct executable *executable = (struct executable *)(uintptr_t)handle.handle;
    struct executable **link = &executables;

    ENTER;
    if (!executable)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    pthread_mutex_lock(&lock);
    while (*link != executable)
        link = &(*link)->next;
    *link = executable->next;
    pthread_mutex_unlock(&lock);
    while (executable->loaded) {
        struct loaded *loaded = executable->loaded;

        executable->loaded = loaded->next;
        unload(loaded);
    }
    free(executable);
    counts_add(&counts.executables, -1);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options)
{
    ENTER;
    (void)options;
    if (!executable.handle)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    ((struct executable *)(uintptr_t)executable.handle)->frozen = true;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t *result)
{
    ENTER;
    *result = 0;
    return executable.handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char *options,
                                         uint32_t *result)
{
    (void)options;
    return hsa_executable_validate(executable, result);
}

hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute,
                                     void *value)
{
    ENTER;
    if (!executable.handle)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (attribute != HSA_EXECUTABLE_INFO_STATE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint32_t *)value = ((struct executable *)(uintptr_t)executable.handle)->frozen;
    return HSA_STATUS_SUCCESS;
}

/* What the program would put in the place of a name; no code object here leaves any open. */
hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char *name,
                                                   void *address)
{
    ENTER;
    (void)name, (void)address;
    return executable.handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
                                                         hsa_agent_t agent, const char *name,
                                                         void *address)
{
    ENTER;
    (void)name, (void)address;
    if (!agent_of(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    return executable.handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

/* ---- symbols ---- */

const struct kernel *kernel_find(uint64_t kernel_object)
{
    const struct kernel *found = NULL;

    pthread_mutex_lock(&lock);
    for (const struct executable *one = executables; one && !found; one = one->next)
        for (const struct loaded *loaded = one->loaded; loaded && !found; loaded = loaded->next)
            for (size_t i = 0; i < loaded->object.count && !found; i++)
                if (loaded->object.symbols[i].kernel && loaded->symbols[i].address == kernel_object)
                    found = &loaded->symbols[i].kernel;
    pthread_mutex_unlock(&lock);
    return found;
}

static hsa_status_t find_symbol(hsa_executable_t executable, const char *name,
                                const hsa_agent_t *agent, hsa_executable_symbol_t *out)
{
    const struct loaded *loaded;

    if (!executable.handle)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    loaded = ((const struct executable *)(uintptr_t)executable.handle)->loaded;
    for (; loaded; loaded = loaded->next) {
        if (agent && agent->handle != agent_handle(loaded->agent).handle)
            continue;
        for (size_t i = 0; i < loaded->object.count; i++) {
            if (strcmp(loaded->object.symbols[i].name, name) != 0)
                continue;
            out->handle = (uint64_t)(uintptr_t)&loaded->symbols[i];
            return HSA_STATUS_SUCCESS;
        }
    }
    return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char *name,
                                               const hsa_agent_t *agent,
                                               hsa_executable_symbol_t *symbol)
{
    ENTER;
    return find_symbol(executable, name, agent, symbol);
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module,
                                       const char *name, hsa_agent_t agent, int32_t convention,
                                       hsa_executable_symbol_t *symbol)
{
    ENTER;
    (void)module, (void)convention;
    return find_symbol(executable, name, &agent, symbol);
}

hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t executable, hsa_agent_t agent,
    hsa_status_t (*callback)(hsa_executable_t executable, hsa_agent_t agent,
                             hsa_executable_symbol_t symbol, void *data),
    void *data)
{
    const struct loaded *loaded;
    hsa_status_t status = HSA_STATUS_SUCCESS;

    ENTER;
    if (!executable.handle)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    loaded = ((const struct executable *)(uintptr_t)executable.handle)->loaded;
    for (; loaded; loaded = loaded->next)
        for (size_t i = 0; i < loaded->object.count && status == HSA_STATUS_SUCCESS; i++)
            if (agent_handle(loaded->agent).handle == agent.handle)
                status = callback(
                    executable, agent,
                    (hsa_executable_symbol_t){(uint64_t)(uintptr_t)&loaded->symbols[i]}, data);
    return status;
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*callback)(hsa_executable_t executable,
                                                                     hsa_executable_symbol_t symbol,
                                                                     void *data),
                                            void *data)
{
    const struct loaded *loaded;
    hsa_status_t status = HSA_STATUS_SUCCESS;

    ENTER;
    if (!executable.handle)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    loaded = ((const struct executable *)(uintptr_t)executable.handle)->loaded;
    for (; loaded; loaded = loaded->next)
        for (size_t i = 0; i < loaded->object.count && status == HSA_STATUS_SUCCESS; i++)
            status =
                callback(executable,
                         (hsa_executable_symbol_t){(uint64_t)(uintptr_t)&loaded->symbols[i]}, data);
    return status;
}

static hsa_status_t give_32(void *value, uint32_t number)
{
    memcpy(value, &number, sizeof(number));
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t give_64(void *value, uint64_t number)
{
    memcpy(value, &number, sizeof(number));
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t kernel_attribute(const struct symbol *symbol, unsigned attribute, void *value)
{
    const struct object_symbol *kernel = symbol->kernel.symbol;

    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        return give_64(value, symbol->address);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        return give_32(value, kernel->argument_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
        return give_32(value, 16);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
        return give_32(value, kernel->group_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
        return give_32(value, kernel->private_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
        *(bool *)value = kernel->dynamic_stack;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t variable_attribute(const struct symbol *symbol, unsigned attribute, void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
        return give_64(value, symbol->address);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
        return give_32(value, (uint32_t)symbol->bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
        return give_32(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
        return give_32(value, symbol->kernel.symbol->constant ? HSA_VARIABLE_SEGMENT_READONLY
                                                              : HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
        return give_32(value, 16);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
        *(bool *)value = symbol->kernel.symbol->constant;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
                                            hsa_executable_symbol_info_t attribute, void *value)
{
    const struct symbol *symbol = (const struct symbol *)(uintptr_t)handle.handle;
    const char *name;

    ENTER;
    if (!symbol)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    if (is_refused("symbol", attribute) || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    name = symbol->kernel.symbol->name;
    switch ((unsigned)attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        return give_32(value, symbol->kernel.symbol->kernel ? HSA_SYMBOL_KIND_KERNEL
                                                            : HSA_SYMBOL_KIND_VARIABLE);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        return give_32(value, (uint32_t)strlen(name));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
        memcpy(value, name, strlen(name));
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
        return give_32(value, 0);
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
        return give_64(value, agent_handle(symbol->kernel.agent).handle);
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
        return give_32(value, HSA_SYMBOL_LINKAGE_PROGRAM);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
        *(bool *)value = true;
        return HSA_STATUS_SUCCESS;
    }
    return symbol->kernel.symbol->kernel ? kernel_attribute(symbol, attribute, value)
                                         : variable_attribute(symbol, attribute, value);
}
