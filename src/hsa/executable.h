/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * executable.h: code objects that are loaded on GPUs, and their symbols. Handles are addresses of
 * these structures.
 *
 * Thread: any; an executable is not used by other threads while it is changed, as the interface
 * says. Blocks: loading and unloading for round trips.
 */
#ifndef OMPRMA_HSA_EXECUTABLE_H
#define OMPRMA_HSA_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/hsa_abi.h"
#include "base/hsa_questions.h"
#include "hsa/keep.h"
#include "hsa/kernel.h"

struct gpu;

struct symbol {
    struct loaded *loaded;
    struct hsa_symbol about; /* without its name */
    struct kernel kernel;    /* of a kernel */
    char *name;
};

/* A code object on a GPU. */
struct loaded {
    STAILQ_ENTRY(loaded) link;
    struct gpu *gpu;
    uint64_t module;
    uint32_t count;
    struct symbol *symbols;
    struct keep keep; /* addresses of its variables */
};

struct executable {
    uint32_t tag; /* EXECUTABLE_TAG */
    bool frozen;
    hsa_profile_t profile;
    hsa_default_float_rounding_mode_t rounding;
    STAILQ_HEAD(loaded_list, loaded) objects;
};
enum { EXECUTABLE_TAG = 0x45584543 };

/* NULL: no executable. */
struct executable *executable_of(hsa_executable_t handle);

/* Loads an image there. Errors: INVALID_CODE_OBJECT, OUT_OF_RESOURCES, those of a lost GPU; with a
 * line. */
hsa_status_t loaded_make(struct gpu *gpu, const void *image, size_t bytes, struct loaded **loaded);

/* Waits until the GPU does nothing, and unloads it. */
void loaded_free(struct loaded *loaded);

/* What a handle of a code object or of a reader stands for. False: it stands for none. */
bool code_object_bytes(hsa_code_object_t object, const void **image, size_t *bytes);
bool code_reader_bytes(hsa_code_object_reader_t reader, const void **image, size_t *bytes);

#endif
