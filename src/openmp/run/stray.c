/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stray.c: see stray.h. Of all pointers that the region can have used, the one nearest below the
 * address is the best guess, as indices are mostly small. What a member is called only debug
 * information knows, which omprma-fault reads.
 */
#define _GNU_SOURCE
#include "openmp/run/stray.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openmp/abi/location.h"
#include "openmp/device/device.h"

enum {
    NEAR_BYTES = 1 << 30,    /* further away it is no index */
    SEARCH_BYTES = 64 << 20, /* of one range */
    WORDS = 512,             /* looked at a time */
    TEXT_BYTES = 256
};

struct candidate {
    const char *name;        /* of the map, or NULL */
    const struct mapped *in; /* what the pointer lies in; NULL: it is a variable itself */
    uintptr_t at, value;     /* where it lies in that, and what it is */
};

static void consider(struct candidate *best, uintptr_t address, struct candidate other)
{
    if (other.value && other.value <= address && address - other.value < NEAR_BYTES &&
        (!best->value || other.value > best->value))
        *best = other;
}

/* Memory of a map may be gone. How many words are there? */
static size_t words_read(uintptr_t from, uintptr_t *words, size_t bytes)
{
    struct iovec local = {words, bytes}, remote = {(void *)from, bytes};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got / sizeof(*words) : 0;
}

static void search_range(struct candidate *best, uintptr_t address, const struct mapped *in)
{
    const uintptr_t mask = sizeof(uintptr_t) - 1;
    uintptr_t words[WORDS], at = (in->begin + mask) & ~mask, end = in->end;
    if (end - in->begin > SEARCH_BYTES)
        end = in->begin + SEARCH_BYTES;
    while (at + sizeof(*words) <= end) {
        size_t wanted = end - at < sizeof(words) ? end - at : sizeof(words);
        size_t count = words_read(at, words, wanted);
        for (size_t i = 0; i < count; i++)
            consider(best, address,
                     (struct candidate){in->name, in, at + i * sizeof(*words), words[i]});
        if (count < wanted / sizeof(*words))
            return;
        at += count * sizeof(*words);
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* "app.c:42": of the region or, where the compiler has not said it, of the line that crashed. */
static bool place_find(const struct location *where, const char *said, char place[TEXT_BYTES])
{
    static const char mark[] = " crashed at ";
    const char *found = strstr(said, mark);
    if (location_words(where, place, TEXT_BYTES))
        return true;
    if (!found)
        return false;
    found += sizeof(mark) - 1;
    const char *colon = strchr(found, ':');
    snprintf(place, TEXT_BYTES, "%.*s",
             colon ? (int)(colon - found) + 1 + (int)strspn(colon + 1, "0123456789") : 0, found);
    return *place != 0;
}

static bool is_fortran(const char *place)
{
    const char *dot = strrchr(place, '.');
    return dot && tolower((unsigned char)dot[1]) == 'f';
}

/* Asks omprma-fault, with nothing of ours preloaded. False: it does not know. */
static bool ask(const char *variable, const struct candidate *found, const char *place,
                char *answer, size_t room)
{
    const struct mapped *in = found->in;
    uintptr_t base = in->base && *variable ? in->base : in->begin;
    char *program = getenv("OMPRMA_INTERNAL_FAULT"), offset[24], bytes[24], process[24];
    char file[TEXT_BYTES], *colon;
    snprintf(file, sizeof(file), "%s", place);
    colon = strrchr(file, ':');
    char *arguments[] = {program, process, (char *)(uintptr_t)variable, bytes,
                         offset,  file,    colon ? colon + 1 : NULL,    NULL};
    char *nothing[] = {NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid = -1;
    size_t used = 0;

    snprintf(offset, sizeof(offset), "%llu", (unsigned long long)(found->at - base));
    snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)(in->end - in->begin));
    snprintf(process, sizeof(process), "%d", (int)getpid());
    if (!program || !colon || pipe2(ends, O_CLOEXEC))
        return false;
    *colon = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, program, &actions, NULL, arguments, nothing))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (pid > 0 && used < room - 1) {
        ssize_t got = read(ends[0], answer + used, room - 1 - used);
        if (got > 0)
            used += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    answer[used] = 0;
    answer[strcspn(answer, "\n")] = 0;
    return *answer != 0;
}

/* flang has the file's name in place of a variable's. */
static bool is_named(const char *name)
{
    struct name text = name_of(name);
    return name && *name && strncmp(name, ";unknown;", 9) != 0 &&
           !memchr(text.text, '/', (size_t)text.length);
}

/* "x.v", or where in "x" it lies. True: it can stand in a clause. */
static bool pointer_words(const struct candidate *found, const char *place, char text[TEXT_BYTES])
{
    struct name name = name_of(found->name);
    char variable[TEXT_BYTES], member[TEXT_BYTES];
    bool named = is_named(found->name);
    int length = 0;
    if (!found->in && !named)
        return false;
    if (!found->in) { /* of a section it is the variable that counts */
        snprintf(text, TEXT_BYTES, "%.*s", (int)strcspn(name.text, "[;"), name.text);
        return true;
    }
    if (!named) /* members that a region uses are mapped together, mostly of this */
        name = is_fortran(place) ? (struct name){"", 0} : (struct name){"this", 4};
    while (length < name.length && (isalnum((unsigned char)name.text[length]) ||
                                    name.text[length] == '_' || name.text[length] == '$'))
        length++;
    snprintf(variable, sizeof(variable), "%.*s", length, name.text);
    if (ask(variable, found, place, member, sizeof(member))) {
        snprintf(text, TEXT_BYTES, "%s", member);
        return true;
    }
    snprintf(text, TEXT_BYTES, "%.*s", name.length, name.text);
    return false;
}

/* A pointer of which a clause maps no byte, although it names a section? */
static bool is_section(const struct candidate *found)
{
    struct name name = name_of(found->name);
    return !found->in && is_named(found->name) && memchr(name.text, '[', (size_t)name.length);
}

static bool words_make(const struct candidate *found, uintptr_t address, const char *place,
                       char *words, size_t room)
{
    char text[TEXT_BYTES];
    bool known = pointer_words(found, place, text);
    if (!known && !is_named(found->name))
        return false;
    if (!known) {
        snprintf(
            words, room,
            ", to which a pointer in \"%s\" (at byte %llu) leads, and which is not mapped: map "
            "what that pointer points to, too",
            text, (unsigned long long)(found->at - found->in->begin));
        return true;
    }
    char *inner = strstr(text, "._M_");
    if (inner) {
        *inner = 0;
        snprintf(words, room,
                 ", to which \"%s\" points, and which is not mapped: a container cannot be mapped "
                 "with what it holds; take a pointer, p = %s.data(), map(tofrom: p[0:n]), and use "
                 "p in the region",
                 text, text);
        return true;
    }
    inner = strstr(text, "_vptr");
    if (inner) {
        snprintf(
            words, room,
            ", the program's table of virtual functions, by \"%s\": an object that the program "
            "made has no virtual functions in a region: make it there, or call the function by "
            "its full name",
            text);
        return true;
    }
    inner = strstr(text, "->_flags");
    if (inner || (!found->in && stray_is_file(address))) {
        text[inner ? (size_t)(inner - text) : strlen(text)] = 0;
        snprintf(words, room,
                 ", the FILE to which \"%s\" points, and which regions cannot use: print to stdout "
                 "or stderr there, or write the file outside of the region",
                 text);
        return true;
    }
    if (is_section(found)) {
        struct name name = name_of(found->name);
        snprintf(
            words, room,
            ", to which \"%s\" points, and of which \"%.*s\" maps nothing: the length there is "
            "0 or less",
            text, name.length, name.text);
        return true;
    }
    snprintf(words, room,
             ", to which \"%s\" points, and which is not mapped: add map(tofrom: %s%s%s", text,
             text, is_fortran(place) ? ")" : "[0:n])",
             strstr(text, "[i]") ? ", for each i: by target enter data in a loop" : "");
    return true;
}

bool stray_words(const struct crash *crash, uintptr_t address, const char *said, char *words,
                 size_t room)
{
    char place[TEXT_BYTES];
    struct candidate best = {0};
    for (int i = 0; i < crash->strays->count; i++)
        consider(
            &best, address,
            (struct candidate){crash->strays->list[i].name, NULL, 0, crash->strays->list[i].value});
    pthread_mutex_lock(&crash->device->space->lock);
    for (const struct pinned *each = crash->pinned; each; each = each->next)
        search_range(&best, address, each->mapped);
    struct mapped copy;
    if (best.in) {
        copy = *best.in;
        best.in = &copy;
    }
    pthread_mutex_unlock(&crash->device->space->lock);
    return best.value && place_find(crash->where, said, place) &&
           words_make(&best, address, place, words, room);
}

bool stray_is_file(uintptr_t address)
{
    const uintptr_t magic = 0xfbad0000, mask = 0xffff0000; /* glibc's, in the first word */
    uintptr_t at = address / sizeof(at) * sizeof(at), first;
    for (size_t back = 0; back < sizeof(FILE); back += sizeof(at))
        if (words_read(at - back, &first, sizeof(first)) == 1 && (first & mask) == magic)
            return true;
    return false;
}
