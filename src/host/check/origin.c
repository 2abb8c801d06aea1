/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * origin.c: who has called is what a face has said, or the first frame of a backtrace behind the
 * public function that lies in no library of ours and in no OpenMP runtime. Its function's name
 * comes from the symbol table of its file, and is looked up only when a finding is worded.
 */
#define _GNU_SOURCE
#include "host/check/origin.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <omprma_private/check.h>

#include "base/gpu_library.h"

enum { FRAMES = 24, NAME_BYTES = 160 };

static _Thread_local char note[ORIGIN_BYTES];
static _Thread_local const void *called_from;

void omprma_check_place(const char *where, const char *variable)
{
    snprintf(note, sizeof(note), "%s%s%s%s%s", variable ? "for \"" : "", variable ? variable : "",
             variable ? "\"" : "", where ? (variable ? " at " : "at ") : "", where ? where : "");
}

void omprma_check_caller(const void *code)
{
    called_from = code;
}

/* ---- who has called ------------------------------------------------------------------------- */

/* Of an OpenMP runtime, of omprma, or what takes programs to GPUs: none of the program's. */
static bool is_between(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

    bool between = strncmp(name, "libomp", 6) == 0;

    for (int i = 0; i < GPU_LIBRARIES && !between; i++)
        between = strncmp(name, gpu_libraries[i].file, strlen(gpu_libraries[i].file)) == 0;
    return between;
}

/* Whether the program's own code is there. Looking that up takes longer than a small region, so the
 * last answers are kept. A library that takes the place of another one is of the same kind: both
 * were opened by the program. */
static bool is_programs(const void *frame)
{
    static _Thread_local struct {
        const void *frame;
        bool is_programs;
    } known[64], *one;
    Dl_info info;

    one = &known[(uintptr_t)frame / 4 % 64];
    if (one->frame == frame)
        return one->is_programs;
    one->is_programs = dladdr(frame, &info) && info.dli_fname && !is_between(info.dli_fname);
    one->frame = frame;
    return one->is_programs;
}

/* The first one behind the public function that is the program's own. The stack is walked only
 * where that is neither who called nor what a face has said. */
static const void *program_caller(const void *caller)
{
    const void *known = called_from ? called_from : caller;
    void *frames[FRAMES];
    int count, i = 0;

    if (is_programs(known))
        return known;
    count = backtrace(frames, FRAMES);
    while (i < count && frames[i] != caller)
        i++;
    for (; i < count; i++)
        if (is_programs(frames[i]))
            return frames[i];
    return caller;
}

void origin_take(struct origin *origin, const void *caller)
{
    memcpy(origin->said, note, sizeof(note));
    origin->address = note[0] ? NULL : program_caller(caller);
    note[0] = 0;
}

/* ---- its name ------------------------------------------------------------------------------- */

static bool find_in_table(Elf *elf, Elf_Scn *section, uint64_t at, char name[NAME_BYTES])
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);

    if (!data || !gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return false;
    for (int i = 0; i < (int)(header.sh_size / header.sh_entsize); i++) {
        const char *text;

        if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            at - symbol.st_value >= symbol.st_size)
            continue;
        text = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (text)
            snprintf(name, NAME_BYTES, "%s", text);
        return text != NULL;
    }
    return false;
}

/* The function of a file that an address lies in: as the file has it, and from where it begins. */
static bool find_function(const char *file, uint64_t address, uint64_t offset,
                          char name[NAME_BYTES])
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    Elf *elf = NULL;
    Elf_Scn *section = NULL;
    GElf_Ehdr about;
    GElf_Shdr header;
    bool found = false;

    if (fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && gelf_getehdr(elf, &about)) {
        uint64_t at = about.e_type == ET_DYN ? offset : address;

        while (!found && (section = elf_nextscn(elf, section)) != NULL)
            if (gelf_getshdr(section, &header) &&
                (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
                found = find_in_table(elf, section, at, name);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

const char *origin_words(const struct origin *origin, char words[ORIGIN_WORDS])
{
    char name[NAME_BYTES] = "";
    const char *file, *slash;
    uint64_t address, offset;
    Dl_info info;

    if (origin->said[0]) {
        snprintf(words, ORIGIN_WORDS, "%s", origin->said);
        return words;
    }
    /* the call itself lies before the address that it returns to */
    if (!origin->address || !dladdr((const char *)origin->address - 1, &info) || !info.dli_fname) {
        snprintf(words, ORIGIN_WORDS, "at %p", origin->address);
        return words;
    }
    address = (uint64_t)(uintptr_t)origin->address - 1;
    offset = address - (uint64_t)(uintptr_t)info.dli_fbase;
    file = access(info.dli_fname, R_OK) == 0 ? info.dli_fname : "/proc/self/exe";
    slash = strrchr(info.dli_fname, '/');
    if (!find_function(file, address, offset, name) && info.dli_sname)
        snprintf(name, sizeof(name), "%s", info.dli_sname);
    snprintf(words, ORIGIN_WORDS, "in %s%s(%.160s+0x%llx)", name, name[0] ? " " : "",
             slash ? slash + 1 : info.dli_fname, (unsigned long long)offset);
    return words;
}
