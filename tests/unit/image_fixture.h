/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image_fixture.h: makes shared objects from source text while a test runs, with the compiler that
 * built it ("cc", or $CC), and removes the files at once: tests get the bytes only.
 */
#ifndef OMPRMA_TESTS_IMAGE_FIXTURE_H
#define OMPRMA_TESTS_IMAGE_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Compiles `source`; `extra` is added to the command line ("" for nothing), with %s standing for a
 * scratch folder in which `before`, a shell command, was run first. The caller frees the bytes.
 * NULL: the compiler failed. */
static inline void *fixture_compile(const char *compiler, const char *suffix, const char *source,
                                    const char *before, const char *extra, size_t *bytes)
{
    char folder[] = "/tmp/omprma-test-XXXXXX", path[64], command[1024], options[256];
    if (!mkdtemp(folder))
        return NULL;
    snprintf(path, sizeof(path), "%s/image.%s", folder, suffix);
    FILE *file = fopen(path, "w");
    if (!file || fputs(source, file) < 0 || fclose(file))
        return NULL;
    const char *mark = strstr(extra, "%s");
    if (mark)
        snprintf(options, sizeof(options), "%.*s%s%s", (int)(mark - extra), extra, folder,
                 mark + 2);
    else
        snprintf(options, sizeof(options), "%s", extra);
    snprintf(command, sizeof(command),
             "cd %s && { %s; } && %s -shared -fPIC -O1 -w -o image.so image.%s %s", folder,
             *before ? before : "true", compiler, suffix, options);
    char *image = NULL;
    if (!system(command)) {
        snprintf(path, sizeof(path), "%s/image.so", folder);
        file = fopen(path, "r");
        if (file) {
            fseek(file, 0, SEEK_END);
            *bytes = (size_t)ftell(file);
            rewind(file);
            image = malloc(*bytes);
            if (image && fread(image, 1, *bytes, file) != *bytes) {
                free(image);
                image = NULL;
            }
            fclose(file);
        }
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    if (system(command))
        fprintf(stderr, "%s is left behind\n", folder);
    return image;
}

static inline void *fixture_image(const char *source, size_t *bytes)
{
    const char *compiler = getenv("CC");
    return fixture_compile(compiler && *compiler ? compiler : "cc", "c", source, "", "", bytes);
}

#endif
