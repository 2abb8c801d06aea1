/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c: images and modules, on the helper thread. Each is an executable of the runtime with one
 * code object in it, of which all is noted when it is loaded: kernels for worker/gpu, variables as
 * memory of the GPU, and all of it for whoever asks. The runtime looks at the image for as long as
 * the executable is there, so it is copied; it does not tell why it refuses one, so that is looked
 * for here. An image is a module that all who bring the same bytes share; a hash tells.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/kernel_name.h"
#include "worker/hsa/hsa.h"

enum { MACHINE_AMD = 224 };

struct hsa_module {
    struct hsa_module *next;
    bool shared; /* it is an image */
    XXH128_hash_t hash;
    void *image;
    size_t bytes;
    hsa_code_object_reader_t reader; /* 0: there is none, as of the next */
    hsa_executable_t executable;
    struct hsa_content *contents;
    uint32_t count, room;
};

/* ---- what an image is ---- */

static omprma_status_t damaged(const char *what)
{
    error_set(OMPRMA_ERR_IMAGE, "an image for AMD GPUs that is %s; rebuild the program", what);
    return error_note_code(OMPRMA_ERR_IMAGE, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

static bool lies_inside(uint64_t at, uint64_t count, uint64_t each, uint64_t bytes)
{
    return at <= bytes && (count == 0 || count <= (bytes - at) / each);
}

static bool segments_fit(const char *image, size_t bytes, const Elf64_Ehdr *header)
{
    bool fit = true;

    for (size_t i = 0; i < header->e_phnum && fit; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, image + header->e_phoff + i * sizeof(segment), sizeof(segment));
        fit = lies_inside(segment.p_offset, segment.p_filesz, 1, bytes) &&
              segment.p_filesz <= segment.p_memsz;
    }
    return fit;
}

static bool sections_fit(const char *image, size_t bytes, const Elf64_Ehdr *header)
{
    bool fit = true;

    for (size_t i = 0; i < header->e_shnum && fit; i++) {
        Elf64_Shdr section;

        memcpy(&section, image + header->e_shoff + i * sizeof(section), sizeof(section));
        fit = section.sh_type == SHT_NOBITS ||
              lies_inside(section.sh_offset, section.sh_size, 1, bytes);
    }
    return fit;
}

static omprma_status_t check_image(const char *image, size_t bytes, Elf64_Ehdr *header)
{
    if (bytes < sizeof(*header))
        return damaged("cut off");
    memcpy(header, image, sizeof(*header));
    if (memcmp(image, ELFMAG, SELFMAG) != 0)
        return damaged("no ELF file");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE_AMD)
        return damaged("an ELF file for another kind of machine");
    if ((header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr)) ||
        (header->e_shnum && header->e_shentsize != sizeof(Elf64_Shdr)) ||
        !lies_inside(header->e_phoff, header->e_phnum, sizeof(Elf64_Phdr), bytes) ||
        !lies_inside(header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr), bytes) ||
        !segments_fit(image, bytes, header) || !sections_fit(image, bytes, header))
        return damaged("cut off");
    return OMPRMA_OK;
}

/* ---- what a module holds ---- */

static void clear_contents(struct hsa_module *module)
{
    for (uint32_t i = 0; i < module->count; i++)
        free(module->contents[i].name);
    free(module->contents);
    module->contents = NULL;
    module->count = module->room = 0;
}

/* For the next one. NULL: there is no memory. */
static struct hsa_content *add_content(struct hsa_module *module)
{
    if (module->count == module->room) {
        uint32_t room = module->room ? 2 * module->room : 32;
        struct hsa_content *contents = realloc(module->contents, room * sizeof(*contents));

        if (!contents)
            return NULL;
        module->contents = contents;
        module->room = room;
    }
    module->contents[module->count] = (struct hsa_content){0};
    return &module->contents[module->count];
}

/* Runtimes may lack the attributes that are optional. */
struct attribute {
    hsa_executable_symbol_info_t number;
    void *value;
    bool optional;
};

static hsa_status_t read_attributes(const struct rocr *rocr, hsa_executable_symbol_t symbol,
                                    const struct attribute *attributes, size_t count)
{
    hsa_status_t code = HSA_STATUS_SUCCESS;

    for (size_t i = 0; i < count && code == HSA_STATUS_SUCCESS; i++) {
        code = rocr->executable_symbol_get_info(symbol, attributes[i].number, attributes[i].value);
        if (attributes[i].optional)
            code = HSA_STATUS_SUCCESS;
    }
    return code;
}

static hsa_status_t read_kernel(const struct rocr *rocr, hsa_executable_symbol_t symbol,
                                struct hsa_content *content)
{
    const struct attribute all[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &content->address, false},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &content->argument_bytes, false},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &content->group_bytes, false},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &content->private_bytes, false},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT, &content->argument_alignment,
         true},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK, &content->dynamic_stack, true},
    };

    return read_attributes(rocr, symbol, all, sizeof(all) / sizeof(all[0]));
}

static hsa_status_t read_variable(const struct rocr *rocr, hsa_executable_symbol_t symbol,
                                  struct hsa_content *content)
{
    uint32_t bytes = 0;
    const struct attribute all[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &content->address, false},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &bytes, false},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST, &content->constant, true},
    };
    hsa_status_t code = read_attributes(rocr, symbol, all, sizeof(all) / sizeof(all[0]));

    content->bytes = bytes;
    return code;
}

/* The name, which has no zero at its end. */
static hsa_status_t read_name(const struct rocr *rocr, hsa_executable_symbol_t symbol, char **name)
{
    uint32_t length = 0;
    hsa_status_t code =
        rocr->executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);

    if (code != HSA_STATUS_SUCCESS)
        return code;
    *name = calloc(1, (size_t)length + 1);
    if (!*name)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    code = rocr->executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, *name);
    if (code != HSA_STATUS_SUCCESS)
        free(*name);
    return code;
}

struct reading {
    const struct rocr *rocr;
    struct hsa_module *module;
};

/* Functions that are called by their address are neither kernels nor variables. */
static hsa_status_t read_symbol(hsa_executable_t executable, hsa_executable_symbol_t symbol,
                                void *data)
{
    const struct reading *reading = data;
    const struct rocr *rocr = reading->rocr;
    struct hsa_content *content = add_content(reading->module);
    hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_INDIRECT_FUNCTION;
    hsa_status_t code;

    (void)executable;
    if (!content)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    code = rocr->executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
    if (code != HSA_STATUS_SUCCESS || kind == HSA_SYMBOL_KIND_INDIRECT_FUNCTION)
        return code;
    content->kernel = kind == HSA_SYMBOL_KIND_KERNEL;
    code =
        content->kernel ? read_kernel(rocr, symbol, content) : read_variable(rocr, symbol, content);
    if (code == HSA_STATUS_SUCCESS)
        code = read_name(rocr, symbol, &content->name);
    if (code == HSA_STATUS_SUCCESS)
        reading->module->count++;
    return code;
}

/* ---- variables without a size ---- */

/* A section of the image, which was checked. False: there is none of that number. */
static bool read_section(const struct hsa_module *module, size_t number, Elf64_Shdr *section)
{
    const char *image = module->image;
    Elf64_Ehdr header;

    memcpy(&header, image, sizeof(header));
    if (number >= header.e_shnum)
        return false;
    memcpy(section, image + header.e_shoff + number * sizeof(*section), sizeof(*section));
    return true;
}

static bool is_named(const struct hsa_module *module, const Elf64_Shdr *table,
                     const Elf64_Sym *symbol, const char *name)
{
    Elf64_Shdr names;
    size_t length = strlen(name) + 1;

    return read_section(module, table->sh_link, &names) && names.sh_type == SHT_STRTAB &&
           symbol->st_name <= names.sh_size && length <= names.sh_size - symbol->st_name &&
           memcmp((const char *)module->image + names.sh_offset + symbol->st_name, name, length) ==
               0;
}

/* Bytes from the symbol to the end of its section; 0: it is not in this table. */
static uint64_t room_by_table(const struct hsa_module *module, const Elf64_Shdr *table,
                              const char *name)
{
    for (size_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        Elf64_Shdr section;

        memcpy(&symbol, (const char *)module->image + table->sh_offset + i * sizeof(symbol),
               sizeof(symbol));
        if (is_named(module, table, &symbol, name) &&
            read_section(module, symbol.st_shndx, &section) && symbol.st_value >= section.sh_addr &&
            symbol.st_value - section.sh_addr < section.sh_size)
            return section.sh_size - (symbol.st_value - section.sh_addr);
    }
    return 0;
}

/* gcc's table of variables has no size, and programs of gcc read it: it reaches to the end of its
 * section. */
static uint64_t room_of(const struct hsa_module *module, const char *name)
{
    uint64_t bytes = 0;
    Elf64_Shdr table;

    for (size_t i = 0; bytes == 0 && read_section(module, i, &table); i++)
        if (table.sh_type == SHT_DYNSYM || table.sh_type == SHT_SYMTAB)
            bytes = room_by_table(module, &table, name);
    return bytes;
}

/* ---- for others ---- */

/* People do not know the ending. */
static int shown_length(const char *name)
{
    size_t length = strlen(name);

    return (int)(length > 3 && strcmp(name + length - 3, ".kd") == 0 ? length - 3 : length);
}

static omprma_status_t note_content(struct hsa *hsa, const struct hsa_module *module,
                                    const struct hsa_content *content)
{
    struct gpu_kernel kernel = {.module = module,
                                .address = content->address,
                                .parameters = -1,
                                .words = true,
                                .argument_bytes = content->argument_bytes,
                                .group_bytes = content->group_bytes,
                                .private_bytes = content->private_bytes};

    if (!content->kernel)
        return rocr_range_add(hsa, content->address, content->bytes, module);
    snprintf(kernel.name, sizeof(kernel.name), "%.*s", shown_length(content->name), content->name);
    return gpu_kernel_add(&hsa->gpu, &kernel);
}

static omprma_status_t note_contents(struct hsa *hsa, struct hsa_module *module)
{
    struct reading reading = {hsa->rocr, module};
    int code = hsa->rocr->executable_iterate_symbols(module->executable, read_symbol, &reading);
    omprma_status_t status = OMPRMA_OK;

    if (code)
        return rocr_error(hsa->rocr, code, "%s does not say what is in an image", hsa->gpu.name);
    for (uint32_t i = 0; i < module->count && status == OMPRMA_OK; i++) {
        struct hsa_content *content = &module->contents[i];

        if (!content->kernel && content->bytes == 0)
            content->bytes = room_of(module, content->name);
        status = note_content(hsa, module, content);
    }
    return status;
}

/* ---- load and unload ---- */

static int unload(struct hsa *hsa, struct hsa_module *module)
{
    const struct rocr *rocr = hsa->rocr;
    int code = HSA_STATUS_SUCCESS, then = HSA_STATUS_SUCCESS;

    gpu_kernel_forget(&hsa->gpu, module);
    rocr_ranges_forget(hsa, module);
    if (module->executable.handle)
        code = rocr->executable_destroy(module->executable);
    if (module->reader.handle)
        then = rocr->code_object_reader_destroy(module->reader);
    clear_contents(module);
    free(module->image);
    free(module);
    return code ? code : then;
}

/* Where the code is for another GPU, that is why. */
static omprma_status_t refuse(const struct hsa *hsa, int code, const Elf64_Ehdr *header)
{
    const char *made_for = rocr_isa_name(header->e_flags);
    size_t length = made_for ? strlen(made_for) : 0;
    bool other =
        made_for && *hsa->isa && !strstr(made_for, "generic") &&
        (strncmp(hsa->isa, made_for, length) != 0 || (hsa->isa[length] && hsa->isa[length] != ':'));
    omprma_status_t status = rocr_error(
        hsa->rocr, code, "an image cannot be loaded on %s%s%s%s%s%s", hsa->gpu.name,
        other ? ", because it is made for " : "", other ? made_for : "",
        other ? ", and this GPU is " : "", other ? hsa->isa : "", other ? " (--offload-arch)" : "");

    return rocr_is_fatal(code) || status == OMPRMA_ERR_DEVICE_MEMORY
               ? status
               : error_note_code(OMPRMA_ERR_IMAGE, code);
}

static omprma_status_t load_image(struct hsa *hsa, struct hsa_module *module,
                                  const Elf64_Ehdr *header)
{
    const struct rocr *rocr = hsa->rocr;
    int code = rocr_fault_code(hsa);

    if (!code)
        code = rocr->code_object_reader_create_from_memory(module->image, module->bytes,
                                                           &module->reader);
    if (!code)
        code = rocr->executable_create_alt(
            HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, "", &module->executable);
    if (!code)
        code = rocr->executable_load_agent_code_object(module->executable, hsa->agent,
                                                       module->reader, "", NULL);
    if (!code)
        code = rocr->executable_freeze(module->executable, "");
    return code ? refuse(hsa, code, header) : OMPRMA_OK;
}

static omprma_status_t add_module(struct hsa *hsa, const struct backend_load *load,
                                  struct hsa_module **out)
{
    Elf64_Ehdr header;
    omprma_status_t status = check_image(load->image, load->bytes, &header);
    struct hsa_module *module;

    if (status != OMPRMA_OK)
        return status;
    module = calloc(1, sizeof(*module));
    if (module)
        module->image = malloc(load->bytes);
    if (!module || !module->image) {
        free(module);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an image of %zu bytes",
                         load->bytes);
    }
    memcpy(module->image, load->image, load->bytes);
    module->bytes = load->bytes;
    module->shared = !load->own;
    status = load_image(hsa, module, &header);
    if (status == OMPRMA_OK)
        status = note_contents(hsa, module);
    if (status != OMPRMA_OK) {
        unload(hsa, module);
        return status;
    }
    module->next = hsa->modules;
    hsa->modules = *out = module;
    return OMPRMA_OK;
}

static omprma_status_t share(struct hsa *hsa, const struct backend_load *load,
                             struct hsa_module **out)
{
    XXH128_hash_t hash = XXH3_128bits(load->image, load->bytes);
    struct hsa_module *module = hsa->modules;
    omprma_status_t status;

    while (module &&
           (!module->shared || module->bytes != load->bytes || !XXH128_isEqual(module->hash, hash)))
        module = module->next;
    if (module) {
        *out = module;
        return OMPRMA_OK;
    }
    status = add_module(hsa, load, out);
    if (status == OMPRMA_OK)
        (*out)->hash = hash;
    return status;
}

/* ---- names ---- */

/* Kernels also without the ending. */
static bool is_called(const struct hsa_content *content, const char *name)
{
    size_t length = strlen(name);

    return strcmp(content->name, name) == 0 ||
           (content->kernel && strncmp(content->name, name, length) == 0 &&
            strcmp(content->name + length, ".kd") == 0);
}

static omprma_status_t find_symbol(const struct hsa_module *module,
                                   const struct backend_symbol *symbol, uint64_t *address)
{
    bool kernel = symbol->bytes == 0;
    char words[KERNEL_NAME_WORDS];
    uint32_t i = 0;

    while (i < module->count &&
           (module->contents[i].kernel != kernel || !is_called(&module->contents[i], symbol->name)))
        i++;
    if (i == module->count) {
        error_set(OMPRMA_ERR_SYMBOL, "the image has no %s %s", kernel ? "kernel" : "variable",
                  kernel_name_words(symbol->name, words));
        return error_note_code(OMPRMA_ERR_SYMBOL, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    }
    *address = module->contents[i].address;
    if (kernel || module->contents[i].bytes == symbol->bytes)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_SYMBOL,
                     "symbol %s has %llu bytes there, %llu in the program; program and image come "
                     "from different builds",
                     kernel_name_words(symbol->name, words),
                     (unsigned long long)module->contents[i].bytes,
                     (unsigned long long)symbol->bytes);
}

omprma_status_t rocr_load(struct gpu *gpu, const struct backend_load *load, uint64_t *value)
{
    struct hsa *hsa = hsa_of(gpu);
    struct hsa_module *module = NULL;
    omprma_status_t status = load->own ? add_module(hsa, load, &module) : share(hsa, load, &module);

    if (status == OMPRMA_OK)
        *value = (uint64_t)(uintptr_t)module;
    for (uint32_t i = 0; i < load->count && status == OMPRMA_OK; i++)
        status = find_symbol(module, &load->symbols[i], &load->addresses[i]);
    return status;
}

/* ---- modules by their number ---- */

/* The link to a module that is no image. */
static struct hsa_module **find_module(struct hsa_module **link, uint64_t id)
{
    while (*link && ((*link)->shared || (uint64_t)(uintptr_t)*link != id))
        link = &(*link)->next;
    return link;
}

static omprma_status_t no_module(uint64_t id)
{
    error_set(OMPRMA_ERR_ARGUMENT, "0x%llx is no module of the device", (unsigned long long)id);
    return error_note_code(OMPRMA_ERR_ARGUMENT, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

omprma_status_t rocr_module_contents(struct hsa *hsa, uint64_t id,
                                     const struct hsa_content **contents, uint32_t *count)
{
    const struct hsa_module *module = *find_module(&hsa->modules, id);

    if (!module)
        return no_module(id);
    *contents = module->contents;
    *count = module->count;
    return OMPRMA_OK;
}

omprma_status_t rocr_module_unload(struct hsa *hsa, uint64_t id)
{
    struct hsa_module **link = find_module(&hsa->modules, id), *module = *link;
    int code;

    if (!module)
        return no_module(id);
    *link = module->next;
    code = unload(hsa, module);
    return code ? rocr_error(hsa->rocr, code, "a module of %s cannot be unloaded", hsa->gpu.name)
                : OMPRMA_OK;
}

void rocr_modules_unload(struct hsa *hsa)
{
    while (hsa->modules) {
        struct hsa_module *module = hsa->modules;

        hsa->modules = module->next;
        unload(hsa, module);
    }
}
