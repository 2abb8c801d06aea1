/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiler.c: the compiler itself tells what it lacks, in its own words, of which the first line
 * with an error is shown; the packages follow from its version. */
#include "tools/info/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/launch/list.h"
#include "tools/launch/paths.h"

enum { LINE_BYTES = 400, LIMIT_S = 60 };

static const char probe[] = "#include <omp.h>\n"
                            "int main(void)\n"
                            "{\n"
                            "    int x = omp_get_num_devices();\n"
                            "#pragma omp target map(tofrom : x)\n"
                            "    x++;\n"
                            "    return x < 0;\n"
                            "}\n";

/* The first line that the command prints with one of these words, or its first; "" if it prints
 * none. Returns its status, as from waitpid(). */
static int line_with(const char *command, const char *const words[], char line[LINE_BYTES])
{
    char next[LINE_BYTES];
    bool found = false;
    FILE *stream = popen(command, "re");
    *line = 0;
    while (stream && fgets(next, sizeof(next), stream)) {
        bool has = false;
        next[strcspn(next, "\n")] = 0;
        for (int i = 0; words[i]; i++)
            has |= strstr(next, words[i]) != NULL;
        if ((has && !found) || !*line)
            memcpy(line, next, sizeof(next));
        found |= has;
    }
    return stream ? pclose(stream) : -1;
}

static bool succeeds(const char *format, const char *word)
{
    char *command = text_make(format, word);
    int status = system(command);
    free(command);
    return status == 0;
}

static void append(char **text, const char *format, const char *word)
{
    char *more = text_make(format, word), *longer = text_make("%s%s", *text, more);
    free(more);
    free(*text);
    *text = longer;
}

/* What stands in the way of installing one of Debian's packages on this system: it is absent there,
 * or another one excludes it. */
static void hindrance(const char *name, int version, char **absent, char **text)
{
    static const char *const any[] = {NULL};
    char other[LINE_BYTES];
    if (succeeds("test -n \"$(apt-cache madison libc6 2>/dev/null)\"%s", "") &&
        !succeeds("apt-cache policy %s 2>/dev/null | grep -q 'Candidate: [0-9]'", name)) {
        append(absent, " %s", name);
        return;
    }
    if (strncmp(name, "libomp-", 7) != 0)
        return;
    line_with("dpkg-query -W -f '${db:Status-Status} ${Package}\\n' 'libomp-*-dev' 2>/dev/null | "
              "sed -n 's/^installed \\(libomp-[0-9]*-dev\\)$/\\1/p'",
              any, other);
    if (!*other)
        return;
    append(text, "; %s, which is installed, excludes", other);
    append(text, " %s: ", name);
    char number[12];
    snprintf(number, sizeof(number), "%d", version);
    append(text, "scripts/toolchains %s unpacks it beside that", number);
}

/* Of Debian's packages for this clang those that are not installed, or all where nobody knows; then
 * what hinders their installation. */
static char *packages_missing(int version)
{
    static const struct {
        const char *before, *behind; /* the version */
        int first, last;
    } packages[] = {{"clang-", "", 0, 99},      {"clang-tools-", "", 0, 99},
                    {"llvm-", "", 0, 14},       {"llvm-", "", 22, 99},
                    {"libomp-", "-dev", 0, 99}, {"liboffload-", "-dev", 22, 99}};
    static const char *const any[] = {NULL};
    char *missing = text_make("%s", ""), *absent = text_make("%s", ""),
         *hindrances = text_make("%s", "");
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        if (version < packages[i].first || version > packages[i].last)
            continue;
        char line[LINE_BYTES];
        char *name = text_make("%s%d%s", packages[i].before, version, packages[i].behind);
        char *command = text_make("dpkg-query -W -f '${db:Status-Status}' %s 2>/dev/null", name);
        if (line_with(command, any, line) != 0 || strcmp(line, "installed") != 0) {
            append(&missing, " %s", name);
            hindrance(name, version, &absent, &hindrances);
        }
        free(command);
        free(name);
    }
    if (*absent)
        append(&missing, "; this release of the system has no%s", absent);
    append(&missing, "%s", hindrances);
    free(absent);
    free(hindrances);
    return missing;
}

/* The version that a command like "clang-23" names; 0: it names none. */
static int version_in(const char *command)
{
    const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;
    int version = 0;
    return sscanf(name, "clang-%d", &version) == 1 || sscanf(name, "clang++-%d", &version) == 1
               ? version
               : 0;
}

static void words_of_failure(const char *command, const char *version, const char *error,
                             char *text, size_t room)
{
    static const char mark[] = "clang version ";
    const char *found = strstr(version, mark);
    bool is_there = succeeds("command -v %s >/dev/null", command);
    int number = found ? atoi(found + sizeof(mark) - 1) : version_in(command);
    if (!found && (is_there || !number)) {
        snprintf(text, room, "%s: %s; take clang 14 or newer", command,
                 !is_there ? "there is no such command"
                 : *error  ? error
                           : "cannot be called");
        return;
    }
    char *missing = packages_missing(number);
    const char *packages =
        *missing ? "of Debian's packages for it there is no" : "Debian's packages for it are there";
    if (!found)
        snprintf(text, room, "%s: there is no such command; %s%s", command, packages, missing);
    else
        snprintf(text, room, "%s cannot compile target regions: %s; %s%s", command, error, packages,
                 missing);
    free(missing);
}

static bool probe_write(const char *file)
{
    FILE *source = fopen(file, "we");
    bool written = source && fputs(probe, source) >= 0;
    return source && fclose(source) == 0 && written;
}

bool compiler_try(const char *command, char *text, size_t room)
{
    static const char *const errors[] = {"error", "failed", "unable", NULL}, *const versions[] = {
                                                                                 "clang version",
                                                                                 NULL};
    char *folder = NULL, error[LINE_BYTES], version[LINE_BYTES];
    if (path_make_folder("omprma-compiler", &folder) != OMPRMA_OK) {
        snprintf(text, room, "%s", error_text());
        return false;
    }
    char *file = text_make("%s/probe.c", folder);
    char *compile =
        text_make("export LC_ALL=C; cd '%s' && timeout %d %s -fopenmp "
                  "-fopenmp-targets=x86_64-pc-linux-gnu probe.c -o probe 2>&1 </dev/null",
                  folder, LIMIT_S, command);
    char *ask = text_make("LC_ALL=C timeout %d %s --version 2>&1 </dev/null", LIMIT_S, command);
    bool written = probe_write(file);
    bool works = written && line_with(compile, errors, error) == 0;
    line_with(ask, versions, version);
    if (works)
        snprintf(text, room, "%s compiles target regions: %s", command, version);
    else if (!written)
        snprintf(text, room, "cannot write %s", file);
    else
        words_of_failure(command, version, error, text, room);
    path_remove_tree(folder);
    free(ask);
    free(compile);
    free(file);
    free(folder);
    return works;
}
