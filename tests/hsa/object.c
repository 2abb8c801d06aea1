/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * object.c: reads code objects, ELF files for AMD GPUs: their dynamic symbols, the descriptors of
 * kernels, and what the note in MessagePack says of arguments. See standin.h.
 */
#include "standin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE = 224, KERNEL_SYMBOL = 10, NOTE = 32, DESCRIPTOR_BYTES = 64 };

/* ---- ISAs ---- */

static const struct {
    const char *name;
    unsigned machine; /* in the flags of the ELF header */
} isas[] = {
    {"gfx803", 0x2a},  {"gfx900", 0x2c},  {"gfx906", 0x2f},  {"gfx908", 0x30},
    {"gfx90a", 0x3f},  {"gfx940", 0x40},  {"gfx942", 0x4c},  {"gfx1010", 0x33},
    {"gfx1030", 0x36}, {"gfx1100", 0x41}, {"gfx1101", 0x46},
};

bool object_is_for(const struct object *object, const char *isa)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;

    for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++)
        if ((header->e_flags & 0xff) == isas[i].machine)
            return strcmp(isas[i].name, isa) == 0;
    return false;
}

/* ---- MessagePack ---- */

struct pack {
    const uint8_t *at, *end;
};

enum item_kind { ITEM_OTHER, ITEM_NUMBER, ITEM_TEXT, ITEM_ARRAY, ITEM_MAP };

struct item {
    enum item_kind kind;
    uint64_t number; /* or bytes of a text, or elements */
    const char *text;
};

static uint64_t take_number(struct pack *pack, unsigned bytes)
{
    uint64_t number = 0;

    while (bytes-- > 0 && pack->at < pack->end)
        number = number << 8 | *pack->at++;
    return number;
}

static struct item take_text(struct pack *pack, enum item_kind kind, uint64_t bytes)
{
    struct item item = {kind, bytes, (const char *)pack->at};

    if (bytes > (uint64_t)(pack->end - pack->at))
        bytes = item.number = (uint64_t)(pack->end - pack->at);
    pack->at += bytes;
    return item;
}

/* The next item; of an array or a map only its head. */
static struct item take_item(struct pack *pack)
{
    unsigned tag = pack->at < pack->end ? *pack->at++ : 0xc0;

    if (tag < 0x80 || tag >= 0xe0)
        return (struct item){ITEM_NUMBER, tag & 0xff, NULL};
    if (tag < 0x90)
        return (struct item){ITEM_MAP, tag & 15, NULL};
    if (tag < 0xa0)
        return (struct item){ITEM_ARRAY, tag & 15, NULL};
    if (tag < 0xc0)
        return take_text(pack, ITEM_TEXT, tag & 31);
    if (tag >= 0xc4 && tag <= 0xc6)
        return take_text(pack, ITEM_OTHER, take_number(pack, 1u << (tag - 0xc4)));
    if (tag == 0xca || tag == 0xcb)
        return take_text(pack, ITEM_OTHER, tag == 0xca ? 4 : 8);
    if (tag >= 0xcc && tag <= 0xcf)
        return (struct item){ITEM_NUMBER, take_number(pack, 1u << (tag - 0xcc)), NULL};
    if (tag >= 0xd0 && tag <= 0xd3)
        return (struct item){ITEM_NUMBER, take_number(pack, 1u << (tag - 0xd0)), NULL};
    if (tag >= 0xd9 && tag <= 0xdb)
        return take_text(pack, ITEM_TEXT, take_number(pack, 1u << (tag - 0xd9)));
    if (tag == 0xdc || tag == 0xdd)
        return (struct item){ITEM_ARRAY, take_number(pack, tag == 0xdc ? 2 : 4), NULL};
    if (tag == 0xde || tag == 0xdf)
        return (struct item){ITEM_MAP, take_number(pack, tag == 0xde ? 2 : 4), NULL};
    return (struct item){ITEM_OTHER, 0, NULL};
}

static void skip(struct pack *pack)
{
    struct item item = take_item(pack);
    uint64_t inside = item.kind == ITEM_MAP     ? 2 * item.number
                      : item.kind == ITEM_ARRAY ? item.number
                                                : 0;

    for (uint64_t i = 0; i < inside && pack->at < pack->end; i++)
        skip(pack);
}

static bool text_is(const struct item *item, const char *text)
{
    return item->kind == ITEM_TEXT && item->number == strlen(text) &&
           memcmp(item->text, text, item->number) == 0;
}

/* ---- arguments ---- */

static struct object_symbol *find_kernel(struct object *object, const struct item *name)
{
    for (size_t i = 0; i < object->count; i++)
        if (object->symbols[i].kernel && text_is(name, object->symbols[i].name))
            return &object->symbols[i];
    return NULL;
}

static void read_argument(struct object_symbol *kernel, struct pack *pack)
{
    struct object_argument argument = {0, 0};
    bool hidden = false;

    for (uint64_t left = take_item(pack).number; left > 0 && pack->at < pack->end; left--) {
        struct item key = take_item(pack), value;
        struct pack before = *pack;

        value = take_item(pack);
        if (text_is(&key, ".offset"))
            argument.offset = (uint32_t)value.number;
        else if (text_is(&key, ".size"))
            argument.bytes = (uint32_t)value.number;
        else if (text_is(&key, ".value_kind"))
            hidden = value.number > 7 && memcmp(value.text, "hidden_", 7) == 0;
        *pack = before;
        skip(pack);
    }
    if (hidden)
        return;
    kernel->arguments =
        realloc(kernel->arguments, (kernel->count + 1) * sizeof(*kernel->arguments));
    if (!kernel->arguments)
        abort();
    kernel->arguments[kernel->count++] = argument;
}

static void read_kernel(struct object *object, struct pack *pack)
{
    struct pack arguments = {NULL, NULL};
    struct object_symbol *kernel = NULL;

    for (uint64_t left = take_item(pack).number; left > 0 && pack->at < pack->end; left--) {
        struct item key = take_item(pack);

        if (text_is(&key, ".args"))
            arguments = *pack;
        if (text_is(&key, ".symbol")) {
            struct item name = take_item(pack);

            kernel = find_kernel(object, &name);
        } else {
            skip(pack);
        }
    }
    if (!kernel || !arguments.at)
        return;
    kernel->described = true;
    for (uint64_t left = take_item(&arguments).number; left > 0; left--)
        read_argument(kernel, &arguments);
}

static void read_metadata(struct object *object, struct pack pack)
{
    for (uint64_t left = take_item(&pack).number; left > 0 && pack.at < pack.end; left--) {
        struct item key = take_item(&pack);

        if (!text_is(&key, "amdhsa.kernels")) {
            skip(&pack);
            continue;
        }
        for (uint64_t kernels = take_item(&pack).number; kernels > 0; kernels--)
            read_kernel(object, &pack);
    }
}

/* ---- ELF ---- */

static bool lies_inside(const struct object *object, uint64_t offset, uint64_t bytes)
{
    return offset <= object->size && bytes <= object->size - offset;
}

static const Elf64_Phdr *segments_of(const struct object *object)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;

    return (const void *)(object->bytes + header->e_phoff);
}

static bool check_header(struct object *object)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    const Elf64_Phdr *segments;

    if (object->size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_machine != MACHINE || header->e_type != ET_DYN ||
        !lies_inside(object, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)) ||
        !lies_inside(object, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    segments = segments_of(object);
    for (int i = 0; i < header->e_phnum; i++) {
        if (!lies_inside(object, segments[i].p_offset, segments[i].p_filesz))
            return false;
        if (segments[i].p_type == PT_LOAD &&
            segments[i].p_vaddr + segments[i].p_memsz > object->loaded_bytes)
            object->loaded_bytes = segments[i].p_vaddr + segments[i].p_memsz;
    }
    return object->loaded_bytes > 0;
}

void object_place(const struct object *object, void *memory)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    const Elf64_Phdr *segments = segments_of(object);

    memset(memory, 0, object->loaded_bytes);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            memcpy((char *)memory + segments[i].p_vaddr, object->bytes + segments[i].p_offset,
                   segments[i].p_filesz);
}

static void read_descriptor(struct object_symbol *kernel, const char *loaded)
{
    uint16_t properties;

    memcpy(&kernel->group_bytes, loaded + kernel->value, 4);
    memcpy(&kernel->private_bytes, loaded + kernel->value + 4, 4);
    memcpy(&kernel->argument_bytes, loaded + kernel->value + 8, 4);
    memcpy(&properties, loaded + kernel->value + 56, sizeof(properties));
    kernel->dynamic_stack = properties >> 11 & 1;
}

static bool is_kernel(const Elf64_Sym *symbol, const char *name)
{
    size_t length = strlen(name);

    return ELF64_ST_TYPE(symbol->st_info) == KERNEL_SYMBOL ||
           (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && length > 3 &&
            strcmp(name + length - 3, ".kd") == 0);
}

static void read_symbol(struct object *object, const Elf64_Sym *symbol, const char *name,
                        bool constant, const char *loaded)
{
    bool kernel = is_kernel(symbol, name);
    size_t needed = kernel ? DESCRIPTOR_BYTES : symbol->st_size;
    struct object_symbol *added;

    if (symbol->st_shndx == SHN_UNDEF ||
        (!kernel && ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) ||
        symbol->st_value > object->loaded_bytes || needed > object->loaded_bytes - symbol->st_value)
        return;
    object->symbols = realloc(object->symbols, (object->count + 1) * sizeof(*object->symbols));
    if (!object->symbols)
        abort();
    added = &object->symbols[object->count++];
    *added = (struct object_symbol){.name = strdup(name),
                                    .kernel = kernel,
                                    .constant = constant,
                                    .value = symbol->st_value,
                                    .bytes = symbol->st_size};
    if (kernel)
        read_descriptor(added, loaded);
}

static bool is_constant(const struct object *object, const Elf64_Sym *symbol)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    const Elf64_Shdr *sections = (const void *)(object->bytes + header->e_shoff);

    return symbol->st_shndx < header->e_shnum && !(sections[symbol->st_shndx].sh_flags & SHF_WRITE);
}

static hsa_status_t read_symbols(struct object *object)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    const Elf64_Shdr *sections = (const void *)(object->bytes + header->e_shoff);
    char *loaded = malloc(object->loaded_bytes);

    if (!loaded)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    object_place(object, loaded);
    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Sym *symbols = (const void *)(object->bytes + sections[i].sh_offset);
        const char *names;

        if (sections[i].sh_type != SHT_DYNSYM || sections[i].sh_link >= header->e_shnum ||
            !lies_inside(object, sections[i].sh_offset, sections[i].sh_size))
            continue;
        names = object->bytes + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof(*symbols); k++)
            read_symbol(object, &symbols[k], names + symbols[k].st_name,
                        is_constant(object, &symbols[k]), loaded);
    }
    free(loaded);
    return HSA_STATUS_SUCCESS;
}

static size_t round_up(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static void read_notes(struct object *object)
{
    const Elf64_Ehdr *header = (const void *)object->bytes;
    const Elf64_Phdr *segments = segments_of(object);

    for (int i = 0; i < header->e_phnum; i++) {
        const char *at = object->bytes + segments[i].p_offset, *end = at + segments[i].p_filesz;

        while (segments[i].p_type == PT_NOTE && end - at >= (ptrdiff_t)sizeof(Elf64_Nhdr)) {
            const Elf64_Nhdr *note = (const void *)at;
            const char *data = at + sizeof(*note) + round_up(note->n_namesz);

            at = data + round_up(note->n_descsz);
            if (note->n_type == NOTE && data + note->n_descsz <= end)
                read_metadata(object, (struct pack){(const uint8_t *)data,
                                                    (const uint8_t *)data + note->n_descsz});
        }
    }
}

hsa_status_t object_read(struct object *object, const void *data, size_t size)
{
    hsa_status_t status;

    *object = (struct object){.bytes = malloc(size + 1), .size = size};
    if (!object->bytes)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memcpy(object->bytes, data, size);
    status = check_header(object) ? read_symbols(object) : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (status == HSA_STATUS_SUCCESS)
        read_notes(object);
    else
        object_free(object);
    return status;
}

void object_free(struct object *object)
{
    for (size_t i = 0; i < object->count; i++) {
        free(object->symbols[i].name);
        free(object->symbols[i].arguments);
    }
    free(object->symbols);
    free(object->bytes);
    *object = (struct object){.bytes = NULL};
}
