/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c: images, modules and the kernels in them, on the helper thread. The driver takes no
 * size, so what it is given is looked at first: a cubin, a fat binary, PTX, or several of them to
 * be linked (base/cuda_questions.h). An image is a module that all who bring the same bytes share;
 * a hash tells. Kernels become known to worker/gpu when they are looked up.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cuda_questions.h"
#include "base/kernel_name.h"
#include "worker/cuda/cuda.h"

enum { FATBIN_MAGIC = (int)0xba55ed50, MACHINE_CUDA = 190, LOG_BYTES = 1024 };

struct cuda_module {
    struct cuda_module *next;
    driver_module module;
    bool shared; /* it is an image */
    bool prints; /* its kernels may print */
    XXH128_hash_t hash;
    size_t bytes;
};

/* ---- what an image is: the driver does not know where it ends, so it has to be whole ---- */

static omprma_status_t damaged(const char *what)
{
    error_set(OMPRMA_ERR_IMAGE, "a CUDA image that is %s; rebuild the program", what);
    return error_note_code(OMPRMA_ERR_IMAGE, DRIVER_INVALID_IMAGE);
}

static bool section_fits(const Elf64_Shdr *section, size_t bytes)
{
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= bytes && section->sh_size <= bytes - section->sh_offset);
}

static omprma_status_t check_cubin(const char *image, size_t bytes)
{
    Elf64_Ehdr header;

    if (bytes < sizeof(header))
        return damaged("cut off");
    memcpy(&header, image, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE_CUDA)
        return damaged("an ELF file for another kind of machine");
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > bytes ||
        (bytes - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum)
        return damaged("cut off");
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;

        memcpy(&section, image + header.e_shoff + i * sizeof(section), sizeof(section));
        if (!section_fits(&section, bytes))
            return damaged("cut off");
    }
    return OMPRMA_OK;
}

static omprma_status_t check_fatbin(const char *image, size_t bytes)
{
    uint16_t header_bytes = 0;
    uint64_t rest = 0;

    if (bytes < 16)
        return damaged("cut off");
    memcpy(&header_bytes, image + 6, sizeof(header_bytes));
    memcpy(&rest, image + 8, sizeof(rest));
    return rest <= bytes && header_bytes <= bytes - rest ? OMPRMA_OK : damaged("cut off");
}

static bool is_text(const char *image, size_t bytes)
{
    for (size_t i = 0; i < bytes && image[i]; i++)
        if ((unsigned char)image[i] < 9)
            return false;
    return bytes > 0 && image[0];
}

/* *text: it is PTX, which has to end with a zero. */
static omprma_status_t check_image(const char *image, size_t bytes, bool *text)
{
    uint32_t magic = 0;

    memcpy(&magic, image, bytes < 4 ? bytes : 4);
    *text = false;
    if (bytes >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0)
        return check_cubin(image, bytes);
    if (magic == (uint32_t)FATBIN_MAGIC)
        return check_fatbin(image, bytes);
    *text = is_text(image, bytes);
    return *text ? OMPRMA_OK : damaged("no cubin, no fat binary and no PTX");
}

/* ---- loading ---- */

/* The first line of what the compiler says, behind the error. */
static omprma_status_t refuse(const struct cuda *cuda, int code, const char *what, const char *log)
{
    int length = (int)strcspn(log, "\n");
    omprma_status_t status = driver_error(cuda->driver, code, "%s on %s%s%.*s", what,
                                          cuda->gpu.name, length ? ": " : "", length, log);

    return driver_is_fatal(code) || status == OMPRMA_ERR_DEVICE_MEMORY ||
                   status == OMPRMA_ERR_UNSUPPORTED
               ? status
               : error_note_code(OMPRMA_ERR_IMAGE, code);
}

static omprma_status_t load_bytes(struct cuda *cuda, const void *image, driver_module *module)
{
    char log[LOG_BYTES] = "";
    int options[] = {DRIVER_ERROR_LOG, DRIVER_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};
    int code = cuda->driver->module_load(module, image, 2, options, values);

    return code == DRIVER_OK ? OMPRMA_OK : refuse(cuda, code, "an image cannot be loaded", log);
}

static omprma_status_t load_one(struct cuda *cuda, const char *image, size_t bytes,
                                driver_module *module)
{
    bool text;
    char *ended = NULL;
    omprma_status_t status = check_image(image, bytes, &text);

    if (status == OMPRMA_OK && text) {
        ended = strndup(image, bytes);
        if (!ended)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an image of %zu bytes", bytes);
    }
    if (status == OMPRMA_OK)
        status = load_bytes(cuda, ended ? ended : image, module);
    free(ended);
    return status;
}

/* Adds the inputs that follow the head of a link; see base/cuda_questions.h. */
static int add_inputs(struct cuda *cuda, driver_link link, const char *at, size_t bytes,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct cuda_input input;
        char name[32];
        int code;

        if (bytes < sizeof(input))
            return DRIVER_INVALID_IMAGE;
        memcpy(&input, at, sizeof(input));
        at += sizeof(input);
        bytes -= sizeof(input);
        if (input.bytes > bytes || (input.type == 1 && (!input.bytes || at[input.bytes - 1])))
            return DRIVER_INVALID_IMAGE;
        snprintf(name, sizeof(name), "input %llu", (unsigned long long)i + 1);
        code = cuda->driver->link_add(link, input.type, (char *)(uintptr_t)at, input.bytes, name, 0,
                                      NULL, NULL);
        if (code != DRIVER_OK)
            return code;
        input.bytes = (input.bytes + 7) & ~UINT64_C(7);
        at += input.bytes < bytes ? input.bytes : bytes;
        bytes -= input.bytes < bytes ? input.bytes : bytes;
    }
    return DRIVER_OK;
}

static omprma_status_t load_linked(struct cuda *cuda, const char *image, size_t bytes,
                                   driver_module *module)
{
    const struct driver *driver = cuda->driver;
    char log[LOG_BYTES] = "";
    int options[] = {DRIVER_ERROR_LOG, DRIVER_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)}, *cubin = NULL;
    driver_link link = NULL;
    size_t cubin_bytes = 0;
    struct cuda_link head;
    omprma_status_t status;
    int code;

    memcpy(&head, image, sizeof(head));
    code = driver->link_create(2, options, values, &link);
    if (code == DRIVER_OK)
        code = add_inputs(cuda, link, image + sizeof(head), bytes - sizeof(head), head.count);
    if (code == DRIVER_OK)
        code = driver->link_complete(link, &cubin, &cubin_bytes);
    status = code == DRIVER_OK ? load_bytes(cuda, cubin, module)
                               : refuse(cuda, code, "inputs cannot be linked", log);
    if (link)
        driver->link_destroy(link);
    return status;
}

static bool is_link(const void *image, size_t bytes)
{
    uint64_t magic = 0;

    if (bytes >= sizeof(struct cuda_link))
        memcpy(&magic, image, sizeof(magic));
    return magic == CUDA_LINK_MAGIC;
}

/* Whoever prints calls vprintf(). What is compressed, or comes from libraries, does not tell. */
static bool may_print(const char *image, size_t bytes)
{
    static const char name[] = "vprintf";
    bool cubin = bytes >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0;

    if (is_link(image, bytes) || !(cubin || is_text(image, bytes)))
        return true;
    return memmem(image, bytes, name, sizeof(name) - 1) != NULL;
}

static omprma_status_t add_module(struct cuda *cuda, const struct backend_load *load,
                                  struct cuda_module **out)
{
    struct cuda_module *module = calloc(1, sizeof(*module));
    omprma_status_t status;

    if (!module)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a module");
    if (is_link(load->image, load->bytes))
        status = load_linked(cuda, load->image, load->bytes, &module->module);
    else
        status = load_one(cuda, load->image, load->bytes, &module->module);
    if (status != OMPRMA_OK) {
        free(module);
        return status;
    }
    module->prints = may_print(load->image, load->bytes);
    module->shared = !load->own;
    module->bytes = load->bytes;
    module->next = cuda->modules;
    cuda->modules = *out = module;
    return OMPRMA_OK;
}

static omprma_status_t share(struct cuda *cuda, const struct backend_load *load,
                             struct cuda_module **out)
{
    XXH128_hash_t hash = XXH3_128bits(load->image, load->bytes);
    omprma_status_t status;

    for (struct cuda_module *module = cuda->modules; module; module = module->next) {
        if (!module->shared || module->bytes != load->bytes || !XXH128_isEqual(module->hash, hash))
            continue;
        *out = module;
        return OMPRMA_OK;
    }
    status = add_module(cuda, load, out);
    if (status == OMPRMA_OK)
        (*out)->hash = hash;
    return status;
}

/* ---- names ---- */

static void note_parameters(const struct driver *driver, driver_function function,
                            struct gpu_kernel *kernel)
{
    struct cuda_parameter parameters[CUDA_PARAMETERS_MOST];

    kernel->parameters = driver_list_parameters(driver, function, parameters);
    kernel->words = true;
    for (int i = 0; i < kernel->parameters; i++)
        kernel->words &= parameters[i].bytes <= 8;
}

static omprma_status_t note_kernel(struct cuda *cuda, const struct cuda_module *module,
                                   driver_function function, const char *name)
{
    struct gpu_kernel kernel = {0};

    if (gpu_kernel_find(&cuda->gpu, (uint64_t)(uintptr_t)function, &kernel))
        return OMPRMA_OK;
    kernel.module = module;
    kernel.address = (uint64_t)(uintptr_t)function;
    kernel.prints = module->prints;
    snprintf(kernel.name, sizeof(kernel.name), "%s", name);
    note_parameters(cuda->driver, function, &kernel);
    return gpu_kernel_add(&cuda->gpu, &kernel);
}

static omprma_status_t name_missing(const struct cuda *cuda, int code, const char *name)
{
    return driver_error(cuda->driver, code, "the image has no %s", name);
}

static omprma_status_t function_in(struct cuda *cuda, const struct cuda_module *module,
                                   const char *name, driver_function *function)
{
    int code = cuda->driver->module_function(function, module->module, name);

    return code == DRIVER_OK ? note_kernel(cuda, module, *function, name)
                             : name_missing(cuda, code, name);
}

static omprma_status_t global_in(const struct cuda *cuda, const struct cuda_module *module,
                                 const char *name, uint64_t *address, size_t *bytes)
{
    int code = cuda->driver->module_global(address, bytes, module->module, name);

    return code == DRIVER_OK ? OMPRMA_OK : name_missing(cuda, code, name);
}

/* The first module that `id` stands for, from `module` on. */
static struct cuda_module *next_module(struct cuda_module *module, uint64_t id)
{
    while (module && (id ? (uint64_t)(uintptr_t)module->module != id : !module->shared))
        module = module->next;
    return module;
}

static omprma_status_t no_module(uint64_t id)
{
    error_set(OMPRMA_ERR_ARGUMENT, "0x%llx is no module of the device", (unsigned long long)id);
    return error_note_code(OMPRMA_ERR_ARGUMENT, id ? DRIVER_INVALID_HANDLE : DRIVER_NOT_FOUND);
}

omprma_status_t module_find_function(struct cuda *cuda, uint64_t id, const char *name,
                                     driver_function *function)
{
    struct cuda_module *module = next_module(cuda->modules, id);
    omprma_status_t status = module ? OMPRMA_ERR_SYMBOL : no_module(id);

    for (; module && status == OMPRMA_ERR_SYMBOL; module = next_module(module->next, id))
        status = function_in(cuda, module, name, function);
    return status;
}

omprma_status_t module_find_global(struct cuda *cuda, uint64_t id, const char *name,
                                   uint64_t *address, size_t *bytes)
{
    struct cuda_module *module = next_module(cuda->modules, id);
    omprma_status_t status = module ? OMPRMA_ERR_SYMBOL : no_module(id);

    for (; module && status == OMPRMA_ERR_SYMBOL; module = next_module(module->next, id))
        status = global_in(cuda, module, name, address, bytes);
    return status;
}

static omprma_status_t find_symbol(struct cuda *cuda, const struct cuda_module *module,
                                   const struct backend_symbol *symbol, uint64_t *address)
{
    driver_function function = NULL;
    char words[KERNEL_NAME_WORDS];
    size_t bytes = 0;
    omprma_status_t status;

    if (symbol->bytes == 0) {
        status = function_in(cuda, module, symbol->name, &function);
        *address = (uint64_t)(uintptr_t)function;
        return status;
    }
    status = global_in(cuda, module, symbol->name, address, &bytes);
    if (status == OMPRMA_OK && bytes != symbol->bytes)
        return error_set(OMPRMA_ERR_SYMBOL,
                         "symbol %s has %zu bytes there, %llu in the program; program and image "
                         "come from different builds",
                         kernel_name_words(symbol->name, words), bytes,
                         (unsigned long long)symbol->bytes);
    return status;
}

/* ---- load and unload ---- */

omprma_status_t cuda_load(struct gpu *gpu, const struct backend_load *load, uint64_t *value)
{
    struct cuda *cuda = cuda_of(gpu);
    struct cuda_module *module = NULL;
    omprma_status_t status =
        load->own ? add_module(cuda, load, &module) : share(cuda, load, &module);

    if (status == OMPRMA_OK)
        *value = (uint64_t)(uintptr_t)module->module;
    for (uint32_t i = 0; i < load->count && status == OMPRMA_OK; i++)
        status = find_symbol(cuda, module, &load->symbols[i], &load->addresses[i]);
    return status;
}

static int unload(struct cuda *cuda, struct cuda_module **link)
{
    struct cuda_module *module = *link;
    int code = cuda->driver->module_unload(module->module);

    gpu_kernel_forget(&cuda->gpu, module);
    *link = module->next;
    free(module);
    return code;
}

omprma_status_t module_unload(struct cuda *cuda, uint64_t id)
{
    struct cuda_module **link = &cuda->modules;
    int code;

    while (*link && ((*link)->shared || (uint64_t)(uintptr_t)(*link)->module != id))
        link = &(*link)->next;
    if (!*link)
        return no_module(id);
    code = unload(cuda, link);
    return code == DRIVER_OK ? OMPRMA_OK
                             : driver_error(cuda->driver, code, "a module of %s cannot be unloaded",
                                            cuda->gpu.name);
}

void module_unload_all(struct cuda *cuda)
{
    while (cuda->modules)
        unload(cuda, &cuda->modules);
}
