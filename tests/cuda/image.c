/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.c: reads what PTX texts, cubins and fat binaries declare: kernels with their parameters,
 * and variables with what they hold. See standin.h.
 */
#define _GNU_SOURCE
#include "standin.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct image_symbol *add(struct image *image, const char *name, size_t length, bool kernel)
{
    struct image_symbol *symbols =
                            realloc(image->symbols, (image->count + 1) * sizeof(*image->symbols)),
                        *symbol;

    if (!symbols)
        abort();
    image->symbols = symbols;
    symbol = &symbols[image->count++];
    *symbol = (struct image_symbol){.name = strndup(name, length), .kernel = kernel};
    return symbol;
}

static void set_parameter(struct image_symbol *kernel, uint32_t index, uint32_t offset,
                          uint32_t bytes)
{
    while (kernel->count <= index) {
        kernel->parameters =
            realloc(kernel->parameters, (kernel->count + 1) * sizeof(*kernel->parameters));
        if (!kernel->parameters)
            abort();
        kernel->parameters[kernel->count++] = (struct image_parameter){0, 0};
    }
    kernel->parameters[index] = (struct image_parameter){offset, bytes};
}

/* ---- PTX ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || strchr("_$.%@", c);
}

/* The next word of a declaration, or a single sign; *at moves behind it. Length 0: the end. */
static size_t next_word(const char **at, const char *end, const char **word)
{
    const char *p = *at;

    while (p < end && isspace((unsigned char)*p))
        p++;
    *word = p;
    if (p < end && is_word(*p))
        while (p < end && is_word(*p))
            p++;
    else if (p < end)
        p++;
    *at = p;
    return (size_t)(p - *word);
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Bytes of ".u32", ".f64", ".b8" and so on; 0: it is no type. */
static size_t type_bytes(const char *word, size_t length)
{
    char *end;
    long bits;

    if (length < 3 || word[0] != '.' || !strchr("busf", word[1]) ||
        !isdigit((unsigned char)word[2]))
        return 0;
    bits = strtol(word + 2, &end, 10);
    return end == word + length ? (size_t)bits / 8 : 0;
}

/* A variable or parameter: its name, size and alignment. */
struct declared {
    const char *name;
    size_t length, bytes, align, element;
    const char *value; /* behind "=" */
};

static struct declared read_declaration(const char *at, const char *end)
{
    struct declared it = {.align = 1};
    const char *word;
    size_t length;

    while ((length = next_word(&at, end, &word)) > 0) {
        if (word_is(word, length, ".align")) {
            next_word(&at, end, &word);
            it.align = strtoul(word, NULL, 10);
        } else if (type_bytes(word, length)) {
            it.bytes = it.element = type_bytes(word, length);
        } else if (*word == '[') {
            const char *number;
            size_t digits = next_word(&at, end, &number);

            it.bytes *= digits && isdigit((unsigned char)*number) ? strtoul(number, NULL, 10) : 0;
            if (*number != ']')
                next_word(&at, end, &word);
        } else if (*word == '=') {
            it.value = at;
            break;
        } else if (*word != '.') {
            it.name = word;
            it.length = length;
        }
    }
    if (it.align < it.element)
        it.align = it.element;
    return it;
}

/* Numbers only: addresses in variables stay 0. */
static void read_value(struct image_symbol *symbol, const struct declared *it, const char *end)
{
    const char *at = it->value, *word;
    size_t length, place = 0;

    symbol->contents = calloc(1, it->bytes);
    if (!symbol->contents)
        abort();
    while ((length = next_word(&at, end, &word)) > 0 && place + it->element <= it->bytes) {
        bool negative = *word == '-';
        uint64_t value;

        if (negative)
            length = next_word(&at, end, &word);
        if (!isdigit((unsigned char)*word) && !isalpha((unsigned char)*word))
            continue;
        value = strtoull(word, NULL, 0);
        if (length > 2 && word[0] == '0' && strchr("dDfF", word[1]))
            value = strtoull(word + 2, NULL, 16);
        value = negative ? -value : value;
        memcpy((char *)symbol->contents + place, &value, it->element);
        place += it->element;
    }
}

static void read_kernel(struct image *image, const char *at, const char *end)
{
    struct image_symbol *kernel;
    const char *name = at, *open = memchr(at, '(', (size_t)(end - at));
    size_t length = next_word(&at, end, &name);
    uint32_t offset = 0;

    kernel = add(image, name, length, true);
    if (!open)
        return;
    for (at = open + 1; at < end && *at != ')';) {
        const char *stop = at;
        struct declared it;

        while (stop < end && *stop != ',' && *stop != ')')
            stop++;
        it = read_declaration(at, stop);
        if (it.bytes) {
            offset = (offset + (uint32_t)it.align - 1) & ~((uint32_t)it.align - 1);
            set_parameter(kernel, kernel->count, offset, (uint32_t)it.bytes);
            offset += (uint32_t)it.bytes;
        }
        at = *stop == ',' ? stop + 1 : stop;
    }
}

static bool has_word(const char *at, const char *end, const char *text, const char **behind)
{
    const char *word;
    size_t length;

    while ((length = next_word(&at, end, &word)) > 0 && *word != '(' && *word != '=') {
        if (!word_is(word, length, text))
            continue;
        *behind = at;
        return true;
    }
    return false;
}

/* One statement outside of all bodies. */
static void read_statement(struct image *image, const char *at, const char *end)
{
    const char *behind;

    if (has_word(at, end, ".extern", &behind))
        return;
    if (has_word(at, end, ".entry", &behind)) {
        read_kernel(image, behind, end);
    } else if (has_word(at, end, ".global", &behind) || has_word(at, end, ".const", &behind)) {
        struct declared it = read_declaration(behind, end);
        struct image_symbol *symbol;

        if (!it.name || !it.bytes)
            return;
        symbol = add(image, it.name, it.length, false);
        symbol->bytes = it.bytes;
        if (it.value)
            read_value(symbol, &it, end);
    }
}

/* Blanks comments out, and the lines of debug information. */
static char *plain_text(const char *text)
{
    char *plain = strdup(text);

    for (char *p = plain; p && *p; p++) {
        if (p[0] == '/' && p[1] == '/')
            for (; *p && *p != '\n'; p++)
                *p = ' ';
        else if (p[0] == '/' && p[1] == '*')
            for (; *p && !(p[0] == '*' && p[1] == '/'); p++)
                *p = ' ';
        if (!*p)
            break;
    }
    return plain;
}

/* Header lines (.version, .target, .address_size) end without a semicolon. */
static const char *skip_header(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, ".version", 8) != 0 && strncmp(at, ".target", 7) != 0 &&
            strncmp(at, ".address_size", 13) != 0 && strncmp(at, ".file", 5) != 0)
            return at;
        at += strcspn(at, "\n");
    }
}

static int read_ptx(struct image *image, const char *text)
{
    char *plain = plain_text(text);
    const char *start;
    int depth = 0;
    bool value = false;

    if (!plain)
        return OUT_OF_MEMORY;
    if (!strstr(plain, ".version") || !strstr(plain, ".target")) {
        free(plain);
        return INVALID_PTX;
    }
    start = skip_header(plain);
    for (const char *p = start; *p; p++) {
        value |= *p == '=' && depth == 0;
        if (*p == '{' && depth++ == 0 && !value)
            read_statement(image, start, p);
        if (*p == '}' && depth-- == 1 && !value)
            start = skip_header(p + 1);
        if (*p == ';' && depth == 0) {
            read_statement(image, start, p);
            start = skip_header(p + 1);
            value = false;
        }
        if (start > p + 1)
            p = start - 1;
    }
    free(plain);
    return SUCCESS;
}

/* ---- cubins ---- */

struct cubin {
    const char *bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
};

static const char *section_name(const struct cubin *cubin, const Elf64_Shdr *section)
{
    return cubin->bytes + cubin->sections[cubin->header->e_shstrndx].sh_offset + section->sh_name;
}

/* .nv.info.KERNEL: records of format, attribute, 16 bits of size, data; 4 and 23 is a parameter. */
static void read_parameters(struct image_symbol *kernel, const struct cubin *cubin)
{
    char name[512];

    snprintf(name, sizeof(name), ".nv.info.%s", kernel->name);
    for (int i = 0; i < cubin->header->e_shnum; i++) {
        const Elf64_Shdr *section = &cubin->sections[i];
        const char *at = cubin->bytes + section->sh_offset, *end = at + section->sh_size;

        if (strcmp(section_name(cubin, section), name) != 0)
            continue;
        while (end - at >= 4) {
            bool sized = at[0] == 4;
            uint16_t size = 0, ordinal = 0, offset = 0;
            uint32_t flags = 0;

            memcpy(&size, at + 2, 2);
            if (sized && at[1] == 23 && size == 12) {
                memcpy(&ordinal, at + 8, 2);
                memcpy(&offset, at + 10, 2);
                memcpy(&flags, at + 12, 4);
                set_parameter(kernel, ordinal, offset, flags >> 18);
            }
            at += sized ? 4 + size : 4;
        }
    }
}

static void read_symbol(struct image *image, const struct cubin *cubin, const Elf64_Sym *symbol,
                        const char *name)
{
    const Elf64_Shdr *section = &cubin->sections[symbol->st_shndx];
    int type = ELF64_ST_TYPE(symbol->st_info);
    struct image_symbol *added;

    if (type == STT_FUNC && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL) {
        added = add(image, name, strlen(name), true);
        read_parameters(added, cubin);
    } else if (type == STT_OBJECT && symbol->st_size) {
        added = add(image, name, strlen(name), false);
        added->bytes = symbol->st_size;
        if (section->sh_type == SHT_NOBITS || symbol->st_value + symbol->st_size > section->sh_size)
            return;
        added->contents = malloc(symbol->st_size);
        if (!added->contents)
            abort();
        memcpy(added->contents, cubin->bytes + section->sh_offset + symbol->st_value,
               symbol->st_size);
    }
}

static int read_cubin(struct image *image, const char *bytes)
{
    struct cubin cubin = {.bytes = bytes, .header = (const void *)bytes};

    if (cubin.header->e_machine != 190)
        return INVALID_IMAGE;
    if ((cubin.header->e_flags & 0xff) > 90) /* the compute capability that it is made for */
        return NO_BINARY;
    cubin.sections = (const void *)(bytes + cubin.header->e_shoff);
    for (int i = 0; i < cubin.header->e_shnum; i++) {
        const Elf64_Shdr *section = &cubin.sections[i];
        const Elf64_Sym *symbols = (const void *)(bytes + section->sh_offset);
        const char *names = bytes + cubin.sections[section->sh_link].sh_offset;

        if (section->sh_type != SHT_SYMTAB)
            continue;
        for (size_t k = 0; k < section->sh_size / sizeof(*symbols); k++)
            if (symbols[k].st_shndx != SHN_UNDEF && symbols[k].st_shndx < cubin.header->e_shnum)
                read_symbol(image, &cubin, &symbols[k], names + symbols[k].st_name);
    }
    return SUCCESS;
}

/* ---- fat binaries: a header, then entries of kind, header bytes, bytes ---- */

static int read_fatbin(struct image *image, const char *bytes)
{
    uint16_t header_bytes, kind;
    uint32_t entry_header;
    uint64_t rest, entry_bytes;

    memcpy(&header_bytes, bytes + 6, sizeof(header_bytes));
    memcpy(&rest, bytes + 8, sizeof(rest));
    for (const char *at = bytes + header_bytes, *end = at + rest; end - at >= 16;
         at += entry_header + entry_bytes) {
        memcpy(&kind, at, sizeof(kind));
        memcpy(&entry_header, at + 4, sizeof(entry_header));
        memcpy(&entry_bytes, at + 8, sizeof(entry_bytes));
        if (entry_header == 0)
            break;
        if (kind == 2 && read_cubin(image, at + entry_header) == SUCCESS)
            return SUCCESS;
        if (kind == 1 && read_ptx(image, at + entry_header) == SUCCESS)
            return SUCCESS;
    }
    return NO_BINARY;
}

/* ---- all ---- */

int image_read(struct image *image, const void *data, size_t bytes)
{
    uint32_t magic;

    (void)bytes;
    memcpy(&magic, data, sizeof(magic));
    if (memcmp(data, ELFMAG, SELFMAG) == 0)
        return read_cubin(image, data);
    if (magic == 0xba55ed50)
        return read_fatbin(image, data);
    return read_ptx(image, data);
}

void image_free(struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        free(image->symbols[i].name);
        free(image->symbols[i].contents);
        free(image->symbols[i].parameters);
    }
    free(image->symbols);
}
