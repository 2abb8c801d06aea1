/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image_file.h: where the bytes of an image lie while it is loaded: in memory only, under a name
 * that a debugger of this process can open too, or in a file that is kept, so that profilers find
 * its symbols afterwards. Knows nothing of what is in an image.
 *
 * Thread: any, one at a time. Blocks: while files are written.
 */
#ifndef OMPRMA_WORKER_IMAGE_FILE_H
#define OMPRMA_WORKER_IMAGE_FILE_H

#include <stddef.h>

#include <omprma/omprma.h>

/* Images that are loaded from now on are kept in this folder, which is made; "": in memory only.
 * The text must stay. */
void image_file_keep(const char *folder);

struct image_file {
    char *path; /* for dlopen(); malloced */
    int fd;     /* of the same, open; -1: none */
};

/* `label` is for messages; `name` makes the file's name, the same in each run, and must be another
 * one for a second copy of the same image. Errors: HOST_MEMORY, CONFIG (the folder cannot be
 * used). */
omprma_status_t image_file_make(struct image_file *file, const char *label, const char *name,
                                const void *bytes, size_t size);

void image_file_drop(struct image_file *file);

#endif
