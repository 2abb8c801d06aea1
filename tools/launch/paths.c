/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* paths.c: finds programs and omprma's own parts. Knows nothing of LLVM or mpirun. */
#include "tools/launch/paths.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "tools/launch/list.h"

static bool path_is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static omprma_status_t path_check(const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return error_note_code(
            error_set(OMPRMA_ERR_CONFIG, "cannot run %s: %s", path, strerror(errno)),
            errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
    if (S_ISDIR(info.st_mode))
        return error_note_code(error_set(OMPRMA_ERR_CONFIG, "cannot run %s: it is a folder", path),
                               EXIT_NOT_EXECUTABLE);
    if (!path_is_program(path))
        return error_note_code(
            error_set(OMPRMA_ERR_CONFIG, "cannot run %s: it is not executable (chmod +x)", path),
            EXIT_NOT_EXECUTABLE);
    return OMPRMA_OK;
}

omprma_status_t path_program(const char *name, char **path)
{
    if (strchr(name, '/')) {
        omprma_status_t status = path_check(name);
        if (status == OMPRMA_OK)
            *path = text_make("%s", name);
        return status;
    }
    const char *search = getenv("PATH");
    char *copy = text_make("%s", search ? search : "/usr/local/bin:/usr/bin:/bin");
    char *rest = copy, *folder, *found = NULL;
    while (!found && *name && (folder = strsep(&rest, ":"))) {
        char *candidate = text_make("%s/%s", *folder ? folder : ".", name);
        if (path_is_program(candidate))
            found = candidate;
        else
            free(candidate);
    }
    free(copy);
    if (!found) {
        bool here = *name && path_is_program(name);
        return error_note_code(
            error_set(OMPRMA_ERR_CONFIG, "cannot find the program \"%s\" in PATH%s%s", name,
                      here ? "; for the one in this folder write ./" : "", here ? name : ""),
            EXIT_NOT_FOUND);
    }
    *path = found;
    return OMPRMA_OK;
}

char *path_join(const char *front, const char *back)
{
    bool both = front && *front && back && *back;
    return text_make("%s%s%s", front ? front : "", both ? ":" : "", back ? back : "");
}

char *path_real(const char *path)
{
    return realpath(path, NULL);
}

char *path_self(void)
{
    char *self = path_real("/proc/self/exe");
    if (!self) {
        log_write(LOG_ERROR, "cannot read /proc/self/exe: %s", strerror(errno));
        exit(EXIT_OWN);
    }
    return self;
}

char *path_root(void)
{
    char *root = path_self();
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(root, '/');
        if (slash)
            *slash = 0;
    }
    return root;
}

omprma_status_t path_check_root(void)
{
    char *root = path_root(), *bad = strpbrk(root, ":;");
    omprma_status_t status = OMPRMA_OK;
    if (bad)
        status = error_set(OMPRMA_ERR_CONFIG,
                           "omprma is installed in %s, and in a list of folders (LD_LIBRARY_PATH) "
                           "a '%c' separates two: move it to a folder without",
                           root, *bad);
    free(root);
    return status;
}

omprma_status_t path_worker(char **path)
{
    const char *other = getenv("OMPRMA_INTERNAL_WORKER"); /* tests put another program there */
    char *root = path_root();
    char *worker =
        other && *other ? text_make("%s", other) : text_make("%s/bin/omprma-worker", root);
    free(root);
    if (!path_is_program(worker)) {
        omprma_status_t status =
            error_set(OMPRMA_ERR_CONFIG,
                      "omprma-worker is missing: no program %s; build or install "
                      "omprma completely",
                      worker);
        free(worker);
        return status;
    }
    *path = worker;
    return OMPRMA_OK;
}

bool path_holds(const char *folder, const char *name)
{
    char *path = text_make("%s/%s", folder, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

omprma_status_t path_make_folder(const char *name, char **folder)
{
    const char *base = getenv("TMPDIR");
    char *path = text_make("%s/%s-XXXXXX", base && *base == '/' ? base : "/tmp", name);
    if (!mkdtemp(path)) {
        omprma_status_t status =
            error_set(OMPRMA_ERR_CONFIG,
                      "cannot make the folder %s: %s; set TMPDIR to one that can be written", path,
                      strerror(errno));
        free(path);
        return status;
    }
    *folder = path;
    return OMPRMA_OK;
}

static int path_remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    remove(path); /* what cannot be removed stays; there is nobody to tell */
    return 0;
}

void path_remove_tree(const char *path)
{
    nftw(path, path_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
