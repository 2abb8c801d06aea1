/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * code.c: host functions behind the names of kernels: those of the stand-in itself, then those of
 * the files in STANDIN_CODE: shared objects, or programs in which x86-64 offload images lie beside
 * the ones for GPUs: then each region's code for both is there under the same name. See code.h.
 */
#define _GNU_SOURCE
#include "code.h"

#include <dlfcn.h>
#include <elf.h>
#include <ffi.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A shared object; a copy of its own. */
struct code {
    struct code *next;
    void *handle;
    uintptr_t base;
    char *bytes; /* of the file, for names that are not exported */
    size_t size;
    int fd;
};

/* ---- files ---- */

static char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "re");
    struct stat about;
    char *bytes = NULL;

    if (!file)
        return NULL;
    if (fstat(fileno(file), &about) == 0 && (bytes = malloc((size_t)about.st_size + 1)))
        *size = fread(bytes, 1, (size_t)about.st_size, file);
    fclose(file);
    return bytes;
}

static bool is_shared_object(const char *at, size_t left)
{
    Elf64_Ehdr header;

    if (left < sizeof(header))
        return false;
    memcpy(&header, at, sizeof(header));
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_X86_64 &&
           header.e_type == ET_DYN && header.e_shoff < left &&
           (left - header.e_shoff) / sizeof(Elf64_Shdr) >= header.e_shnum;
}

static bool is_program(const char *bytes)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Phdr *segments = (const void *)(bytes + header->e_phoff);

    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            return true;
    return header->e_type == ET_EXEC;
}

/* The end of an ELF file is that of its section table, as linkers write it. */
static size_t elf_bytes(const char *at)
{
    Elf64_Ehdr header;

    memcpy(&header, at, sizeof(header));
    return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

static void open_object(struct code **list, const char *bytes, size_t size)
{
    struct code *code = calloc(1, sizeof(*code));
    struct link_map *map = NULL;
    char path[64];

    if (!code)
        abort();
    code->bytes = malloc(size);
    code->size = size;
    code->fd = memfd_create("standin-code", MFD_CLOEXEC);
    if (!code->bytes || code->fd < 0 || write(code->fd, bytes, size) != (ssize_t)size)
        abort();
    memcpy(code->bytes, bytes, size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", code->fd);
    code->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!code->handle) {
        fprintf(stderr, "stand-in: %s\n", dlerror());
        close(code->fd);
        free(code->bytes);
        free(code);
        return;
    }
    if (dlinfo(code->handle, RTLD_DI_LINKMAP, &map) == 0)
        code->base = map->l_addr;
    code->next = *list;
    *list = code;
}

static void open_file(struct code **list, const char *name)
{
    size_t size = 0;
    char *bytes = read_file(name, &size);

    if (!bytes || size < sizeof(Elf64_Ehdr)) {
        fprintf(stderr, "stand-in: STANDIN_CODE: %s cannot be read\n", name);
    } else if (is_shared_object(bytes, size) && !is_program(bytes)) {
        open_object(list, bytes, size);
    } else {
        for (size_t at = 1; at + sizeof(Elf64_Ehdr) < size; at++)
            if (bytes[at] == ELFMAG0 && is_shared_object(bytes + at, size - at))
                open_object(list, bytes + at, elf_bytes(bytes + at));
    }
    free(bytes);
}

struct code *code_open(const char *files)
{
    char *names = strdup(files), *rest = NULL;
    struct code *list = NULL;

    for (char *name = strtok_r(names, ":", &rest); name; name = strtok_r(NULL, ":", &rest))
        open_file(&list, name);
    free(names);
    return list;
}

/* What has run OpenMP stays: its threads live in the libraries that it brought. */
void code_close(struct code *code)
{
    while (code) {
        struct code *next = code->next;

        free(code->bytes);
        free(code);
        code = next;
    }
}

/* ---- names ---- */

/* gcc writes main$_omp_fn$0 in PTX for main._omp_fn.0. */
static bool same_name(const char *a, const char *b)
{
    while (*a && (*a == *b || (*a == '.' && *b == '$') || (*a == '$' && *b == '.'))) {
        a++;
        b++;
    }
    return *a == *b;
}

static void *find_in(const struct code *code, const char *name, size_t *bytes)
{
    const Elf64_Ehdr *header = (const void *)code->bytes;
    const Elf64_Shdr *sections = (const void *)(code->bytes + header->e_shoff);

    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Sym *symbols = (const void *)(code->bytes + sections[i].sh_offset);
        const char *names;

        if (sections[i].sh_type != SHT_SYMTAB && sections[i].sh_type != SHT_DYNSYM)
            continue;
        names = code->bytes + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof(*symbols); k++) {
            int type = ELF64_ST_TYPE(symbols[k].st_info);

            if (symbols[k].st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT) ||
                !same_name(names + symbols[k].st_name, name))
                continue;
            *bytes = symbols[k].st_size;
            return (void *)(code->base + symbols[k].st_value);
        }
    }
    return NULL;
}

void *code_find(const struct code *code, const char *name, size_t *bytes)
{
    void *found = NULL;

    for (; code && !found; code = code->next)
        found = find_in(code, name, bytes);
    return found;
}

/* ---- kernels of the stand-in ---- */

static _Thread_local const struct code_geometry *launched_with;
static _Thread_local sigjmp_buf way_out;
static _Thread_local volatile bool in_kernel;

/* Adds to bytes. */
static void standin_add(uint64_t at, uint64_t bytes, uint64_t value)
{
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)(uintptr_t)at)[i] += (unsigned char)value;
}

/* Grid, block and so on, numbers of 32 bits. */
static void standin_geometry(uint64_t at)
{
    memcpy((void *)(uintptr_t)at, launched_with->numbers,
           launched_with->count * sizeof(launched_with->numbers[0]));
}

static void standin_nap(uint64_t us)
{
    struct timespec pause = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    nanosleep(&pause, NULL);
}

/* Lasts until a test of the same process lets it end: a struct gate of core_fixture.h. */
static void standin_gate(uint64_t at)
{
    _Atomic bool *entered = (_Atomic bool *)(uintptr_t)at, *open = entered + 1;

    atomic_store(entered, true);
    while (!atomic_load(open))
        standin_nap(100);
}

/* Parameters of several sizes, as they are declared: (char, short, 24 bytes, int, pointer): writes
 * them to the pointer as 64-bit words. */
static void standin_mixed(uint64_t a, uint64_t b, uint64_t structure, uint64_t c, uint64_t at)
{
    uint64_t *to = (uint64_t *)(uintptr_t)at;

    to[0] = a;
    to[1] = b;
    memcpy(to + 2, (void *)(uintptr_t)structure, 24);
    to[5] = c;
}

static void standin_print(uint64_t number)
{
    printf("stand-in prints %llu\n", (unsigned long long)number);
}

static void standin_fault(uint64_t code)
{
    siglongjmp(way_out, (int)code);
}

/* Those that omprma-perf measures. */
static void perf_empty(void)
{
}

static void perf_add(uint64_t at)
{
    ++*(int64_t *)(uintptr_t)at;
}

static const struct {
    const char *name;
    void *function;
} builtins[] = {
    {"standin_add", (void *)standin_add},     {"standin_geometry", (void *)standin_geometry},
    {"standin_nap", (void *)standin_nap},     {"standin_mixed", (void *)standin_mixed},
    {"standin_print", (void *)standin_print}, {"standin_fault", (void *)standin_fault},
    {"standin_gate", (void *)standin_gate},   {"perf_empty", (void *)perf_empty},
    {"perf_add", (void *)perf_add},
};

void *code_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
        if (strcmp(builtins[i].name, name) == 0)
            return builtins[i].function;
    return NULL;
}

/* ---- calls ---- */

static struct sigaction before;
static _Thread_local volatile uint64_t fault_address;

uint64_t code_fault_address(void)
{
    return fault_address;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (in_kernel) {
        fault_address = (uint64_t)(uintptr_t)info->si_addr;
        siglongjmp(way_out, number == SIGABRT ? CODE_ABORT : CODE_SEGFAULT);
    }
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        signal(number, SIG_DFL);
}

/* Somebody else may have set a handler since the last time. Who measures sees no system call, which
 * takes a microsecond under some hypervisors. */
static void catch_faults(bool quick)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    static _Atomic bool caught;
    struct sigaction now;

    if (quick && atomic_exchange(&caught, true))
        return;
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault)
        return;
    sigaction(SIGSEGV, &action, &before);
}

/* Kernels of clang 23 and newer for x86-64. */
static bool take_pointers(void)
{
    const char *text = getenv("STANDIN_POINTERS");

    return text && *text;
}

static void call(void *function, const uint64_t *words, uint32_t count)
{
    ffi_type *types[count + 1];
    void *values[count + 1];
    ffi_cif cif;

    for (uint32_t i = 0; i < count; i++) {
        types[i] = &ffi_type_uint64;
        values[i] = (void *)(uintptr_t)&words[i];
    }
    if (take_pointers()) {
        ((void (*)(void **))(uintptr_t)function)(values);
        return;
    }
    if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, count, &ffi_type_void, types) != FFI_OK)
        abort();
    ffi_call(&cif, FFI_FN(function), NULL, values);
}

int code_call(void *function, const uint64_t *words, uint32_t count,
              const struct code_geometry *geometry, bool quick)
{
    int code;

    catch_faults(quick);
    launched_with = geometry;
    code = sigsetjmp(way_out, 0); /* SA_NODEFER: no signal is blocked in a handler */
    if (code == 0) {
        in_kernel = true;
        call(function, words, count);
    }
    in_kernel = false;
    return code;
}
