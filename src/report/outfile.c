/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * outfile.c: zlib stands behind a stream of the C library; libelf brings it into the process
 * anyway.
 */
#include "report/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

static ssize_t gz_write(void *stream, const char *bytes, size_t count)
{
    return gzwrite(stream, bytes, (unsigned)count);
}

static int gz_close(void *stream)
{
    return gzclose(stream) == Z_OK ? 0 : -1;
}

static FILE *open_compressed(const char *path)
{
    static const cookie_io_functions_t functions = {.write = gz_write, .close = gz_close};
    gzFile stream = gzopen(path, "we6");
    FILE *file = stream ? fopencookie(stream, "w", functions) : NULL;

    if (stream && !file)
        gzclose(stream);
    return file;
}

static FILE *open_named(const char *path, const char *name)
{
    size_t length = strlen(name);
    bool compressed = length > 3 && strcmp(name + length - 3, ".gz") == 0;

    return compressed ? open_compressed(path) : fopen(path, "we");
}

static omprma_status_t cannot(const char *what, const char *path)
{
    return error_set(OMPRMA_ERR_CONFIG, "%s: cannot write %s: %s", what, path, strerror(errno));
}

/* A folder cannot be written, whatever could be made beside it. */
static bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* With the file behind a link, so that the link stays. */
static char *name_beside(const char *path)
{
    char *real = realpath(path, NULL), *name = NULL;

    if (asprintf(&name, "%s.part%d", real ? real : path, (int)getpid()) < 0)
        name = NULL;
    free(real);
    return name;
}

omprma_status_t outfile_open(struct outfile *out, const char *what, const char *path)
{
    const char *place = path;

    *out = (struct outfile){.path = path};
    if (!is_special(path)) {
        place = out->beside = name_beside(path);
        if (!place)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to write %s", path);
    }
    errno = 0;
    out->file = open_named(place, path);
    if (out->file)
        return OMPRMA_OK;
    free(out->beside);
    return cannot(what, path);
}

static bool take_place(const struct outfile *out)
{
    char *real = realpath(out->path, NULL);
    bool taken = rename(out->beside, real ? real : out->path) == 0;

    free(real);
    return taken;
}

omprma_status_t outfile_close(struct outfile *out, const char *what)
{
    bool failed = ferror(out->file);
    omprma_status_t status = OMPRMA_OK;

    failed |= fclose(out->file) != 0;
    if (failed && errno == 0)
        errno = EIO;
    if (failed || (out->beside && !take_place(out)))
        status = cannot(what, out->path);
    if (status != OMPRMA_OK && out->beside)
        unlink(out->beside);
    free(out->beside);
    return status;
}

omprma_status_t outfile_try(const char *what, const char *path)
{
    char *beside = name_beside(path);
    struct stat status;
    FILE *file;

    if (beside && !is_special(path)) {
        file = fopen(beside, "we");
        if (!file) {
            free(beside);
            return cannot(what, path);
        }
        fclose(file);
        unlink(beside);
    }
    free(beside);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return cannot(what, path);
    }
    return OMPRMA_OK;
}

void outfile_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned char)*text);
        else
            putc(*text, file);
}
