/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * preload.c: a library of its own, libomprma-preload.so. It is preloaded into what starts other
 * programs (a script, make, mpirun, a program that has offloaded), and so comes into each of these,
 * whatever they do with library paths. Where the program is linked with a libomptarget it begins
 * the program anew, with omprma's runtime preloaded, as omprma-run does with a program that it
 * starts itself. Where the program opens libraries, the runtime is there for all to find before the
 * first one. In all others it does nothing. It must need nothing but the C library, and of that
 * nothing newer than its oldest functions, because every command of a script has it, those of
 * another system's root included.
 *
 * A program that has lost it, because the script has set LD_PRELOAD anew, gets it once more from
 * libomp, as a tool (OMP_TOOL_LIBRARIES). The program has begun then: it only says what is wrong.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "openmp/preload/preload.h"

/* Of the process that was begun anew, which stays the same one. */
static const char begun_variable[] = "OMPRMA_INTERNAL_PRELOADED";

enum { EXIT_OWN = 125 }; /* as omprma-run has it */

/* For the first library of either kind. */
struct search {
    const char *wanted; /* the beginning of its name; NULL: none */
    const void *within; /* an address in it; NULL: none */
    const char *found;  /* its path; NULL: it is not there */
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool holds(const struct dl_phdr_info *info, const void *address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD &&
            (uintptr_t)address - info->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

static int look(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct search *search = context;
    bool found = (search->within && holds(info, search->within)) ||
                 (search->wanted &&
                  strncmp(name_of(info->dlpi_name), search->wanted, strlen(search->wanted)) == 0);
    (void)bytes;
    if (found)
        search->found = info->dlpi_name;
    return found;
}

static const char *libomptarget_find(void)
{
    struct search search = {.wanted = "libomptarget.so"};
    dl_iterate_phdr(look, &search);
    return search.found;
}

/* Omprma's runtime, or what stands in for it in workers. */
static bool is_ours(const char *libomptarget)
{
    char real[PATH_MAX];
    return realpath(libomptarget, real) && strncmp(name_of(real), "libomprma-", 10) == 0;
}

static bool own_path(char *path)
{
    struct search search = {.within = begun_variable};
    dl_iterate_phdr(look, &search);
    return search.found && realpath(search.found, path);
}

/* The folder of the runtime's names, beside this library. */
static bool runtime_folder(char *folder, size_t room)
{
    char path[PATH_MAX];
    if (!own_path(path))
        return false;
    *strrchr(path, '/') = 0;
    return (size_t)snprintf(folder, room, "%s/runtime", path) < room;
}

static bool is_begun(void)
{
    const char *text = getenv(begun_variable);
    char own[24];
    snprintf(own, sizeof(own), "%ld", (long)getpid());
    bool begun = text && strcmp(text, own) == 0;
    unsetenv(begun_variable);
    return begun;
}

/* Not where the runtime is preloaded, under whichever name. Valgrind runs the program within
 * itself, and would lose it. */
static bool may_begin_anew(void)
{
    const char *first = getenv("LD_PRELOAD");
    return !first || (!strstr(first, "/runtime/libomptarget.so") && !strstr(first, "vgpreload_"));
}

/* ---- what children get ---------------------------------------------------------------------- */

/* As the program has it now, for what it starts (src/host/start/supervisor.c). */
static void keep(const char *name, const char *kept)
{
    const char *value = getenv(name);
    setenv(kept, value ? value : "", 1);
}

static void keep_paths(void)
{
    keep("LD_LIBRARY_PATH", "OMPRMA_INTERNAL_LD_LIBRARY_PATH");
    keep("LD_PRELOAD", "OMPRMA_INTERNAL_LD_PRELOAD");
}

/* ---- begun anew ------------------------------------------------------------------------------ */

static bool put_before(const char *name, const char *front)
{
    const char *old = getenv(name);
    size_t room = strlen(front) + (old ? strlen(old) : 0) + 2;
    char *text = malloc(room);
    if (!text)
        return false;
    snprintf(text, room, "%s%s%s", front, old && *old ? ":" : "", old ? old : "");
    bool right = setenv(name, text, 1) == 0;
    free(text);
    return right;
}

/* The whole of /proc/self/cmdline, malloced. */
static char *words_read(size_t *bytes)
{
    size_t room = 4096;
    char *words = malloc(room);
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    *bytes = 0;
    while (words && file >= 0 && got > 0) {
        got = read(file, words + *bytes, room - *bytes);
        *bytes += got > 0 ? (size_t)got : 0;
        if (*bytes == room) {
            char *more = realloc(words, room *= 2);
            if (!more)
                free(words);
            words = more;
        }
    }
    if (file >= 0)
        close(file);
    return words;
}

/* What the kernel was told. Where a loader was told to run the program, main() has less. */
static char **command_line(void)
{
    size_t bytes, count = 0;
    char *words = words_read(&bytes);
    for (size_t i = 0; words && i < bytes; i++)
        count += !words[i];
    char **line = words ? calloc(count + 1, sizeof(*line)) : NULL;
    for (size_t i = 0; line && i < count; i++) {
        line[i] = words;
        words += strlen(words) + 1;
    }
    return line;
}

/* Returns only where it cannot be begun anew. */
static void begin_anew(const char *libomptarget)
{
    char folder[PATH_MAX], runtime[PATH_MAX + NAME_MAX], program[PATH_MAX], own[24], **line;
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0 || !may_begin_anew() || !runtime_folder(folder, sizeof(folder)))
        return;
    program[length] = 0;
    snprintf(runtime, sizeof(runtime), "%s/%s", folder, libomptarget);
    snprintf(own, sizeof(own), "%ld", (long)getpid());
    if (access(runtime, R_OK) || !(line = command_line()))
        return;
    keep_paths();
    if (put_before("LD_PRELOAD", runtime) && put_before("LD_LIBRARY_PATH", folder) &&
        setenv(begun_variable, own, 1) == 0)
        execv(program, line);
}

/* ---- the constructor ------------------------------------------------------------------------- */

/* Not preloaded, but opened by libomp: it comes behind what the program needs. */
static bool is_tool(void)
{
    struct search first = {.wanted = "libc.so", .within = begun_variable};
    dl_iterate_phdr(look, &first);
    return strncmp(name_of(first.found), first.wanted, strlen(first.wanted)) == 0;
}

static void say(const char *libomptarget, const char *why)
{
    const char *wish = getenv("OMP_TARGET_OFFLOAD");
    bool mandatory = wish && strcasecmp(wish, "mandatory") == 0;
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length < 0 ? 0 : length] = 0;
    dprintf(2, "omprma: %s: %s runs its regions by %s, and not on workers: %s\n",
            mandatory ? "error" : "warning", program, libomptarget, why);
    if (mandatory)
        _exit(EXIT_OWN);
}

static const char *why_lost(void)
{
    if (getauxval(AT_SECURE))
        return "a program with a set-user-ID or set-group-ID bit, or with capabilities, cannot "
               "have "
               "omprma's runtime preloaded; take these away";
    return "LD_PRELOAD was set anew or removed where it was started; put names in front of what "
           "omprma-run has put there, as in LD_PRELOAD=NAME:$LD_PRELOAD";
}

__attribute__((constructor)) static void program_comes(void)
{
    bool begun = is_begun();
    const char *libomptarget = libomptarget_find();
    if (begun || !libomptarget)
        return;
    if (is_tool() && !is_ours(libomptarget))
        say(libomptarget, why_lost());
    if (is_tool())
        return;
    begin_anew(name_of(libomptarget));
    if (!is_ours(libomptarget))
        say(libomptarget, "its path there comes first, and valgrind keeps omprma's runtime from "
                          "being loaded before; link without rpath");
}

/* ---- libraries that come later --------------------------------------------------------------- */

typedef void *opens(const char *path, int mode);

/* By the name that it has had from the beginning. Where the C library is so old that it is in a
 * library of its own, that is there where a program calls dlopen(). */
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#pragma weak dlsym

/* What comes later may have an rpath to LLVM's libomptarget. It finds ours first where that is
 * there for all. */
static void runtime_open(opens *next)
{
    char folder[PATH_MAX], runtime[PATH_MAX + NAME_MAX];
    if (libomptarget_find() || !runtime_folder(folder, sizeof(folder)))
        return;
    snprintf(runtime, sizeof(runtime), "%s/libomptarget.so", folder);
    keep_paths();
    next(runtime, RTLD_NOW | RTLD_GLOBAL);
}

__attribute__((used, visibility("hidden"))) opens *omprma_preload_dlopen(void);

opens *omprma_preload_dlopen(void)
{
    static opens *next;
    static bool done;
    if (!next)
        next = (opens *)dlsym(RTLD_NEXT, "dlopen");
    if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
        runtime_open(next);
    return next;
}

/* Goes on to the C library's by a jump: that looks at who has called, for paths that are its. */
__asm__(".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        "    endbr64\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    sub $8, %rsp\n"
        "    call omprma_preload_dlopen\n"
        "    add $8, %rsp\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    jmp *%rax\n"
        ".size dlopen, . - dlopen\n");
