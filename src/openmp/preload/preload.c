/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * preload.c: a library of its own, libomprma-preload.so. It is preloaded into what starts other
 * programs (a script, make, mpirun, a program that has offloaded), and so comes into each of these,
 * whatever they do with library paths. Where the program is linked with a libomptarget it begins
 * the program anew, with omprma's runtime preloaded, as omprma-run does with a program that it
 * starts itself. In all others it does nothing. It must need nothing but the C library, because
 * every command of a script has it.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the process that was begun anew, which stays the same one. */
static const char begun_variable[] = "OMPRMA_INTERNAL_PRELOADED";

struct search {
    const char *wanted; /* the beginning of a library's name */
    const char *found;  /* the name, without folders; NULL: it is not there */
};

static int look(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct search *search = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    (void)bytes;
    if (strncmp(name, search->wanted, strlen(search->wanted)) != 0)
        return 0;
    search->found = name;
    return 1;
}

static const char *library_find(const char *wanted)
{
    struct search search = {.wanted = wanted};
    dl_iterate_phdr(look, &search);
    return search.found;
}

/* The folder that this library is in, without the last slash. */
static bool own_folder(char *folder, size_t room)
{
    Dl_info info;
    const char *end;
    if (!dladdr(begun_variable, &info) || !(end = strrchr(info.dli_fname, '/')))
        return false;
    return (size_t)snprintf(folder, room, "%.*s", (int)(end - info.dli_fname), info.dli_fname) <
           room;
}

static bool is_begun(void)
{
    const char *text = getenv(begun_variable);
    bool begun = text && atol(text) == (long)getpid();
    unsetenv(begun_variable);
    return begun;
}

static bool put_before(const char *name, const char *front)
{
    const char *old = getenv(name);
    char *text;
    bool right = asprintf(&text, "%s%s%s", front, old && *old ? ":" : "", old ? old : "") >= 0;
    if (right)
        right = setenv(name, text, 1) == 0;
    return right;
}

/* Where it cannot be begun anew it goes on as it is. Our runtime then may come in libomptarget's
 * place still, by the library path. */
static void begin_anew(const char *libomptarget, char **argv)
{
    char folder[PATH_MAX], runtime[PATH_MAX + NAME_MAX], program[PATH_MAX], own[24];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0 || !own_folder(folder, sizeof(folder)))
        return;
    program[length] = 0;
    snprintf(runtime, sizeof(runtime), "%s/runtime/%s", folder, libomptarget);
    snprintf(own, sizeof(own), "%ld", (long)getpid());
    if (access(runtime, R_OK) || !put_before("LD_PRELOAD", runtime))
        return;
    strcat(folder, "/runtime");
    if (put_before("LD_LIBRARY_PATH", folder) && setenv(begun_variable, own, 1) == 0)
        execv(program, argv);
}

__attribute__((constructor)) static void program_comes(int argc, char **argv)
{
    const char *libomptarget;
    (void)argc;
    if (is_begun() || !(libomptarget = library_find("libomptarget.so")))
        return;
    const char *first = getenv("LD_PRELOAD");
    if (!first || !strstr(first, "/runtime/libomptarget.so"))
        begin_anew(libomptarget, argv);
}
