/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_library.h: what tells one kind of GPU from another outside of the folders that serve it: how
 * it is called, how a program shows that it wants one, and the library that takes it there. Several
 * kinds at once are a set of bits, 1 << BACKEND_NAME of base/config.h.
 *
 * Thread: any. Nothing blocks.
 */
#ifndef OMPRMA_BASE_GPU_LIBRARY_H
#define OMPRMA_BASE_GPU_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/config.h"

struct gpu_library {
    enum config_backend backend;
    const char *kind;      /* "cuda": in options and settings, as a device's backend, and the folder
                            * of omprma's library in lib/omprma */
    const char *maker;     /* "NVIDIA": its GPUs, in messages */
    const char *interface; /* "CUDA": what programs call, in messages */
    const char *title;     /* "CUDA driver library": omprma's, in messages */
    const char *file;      /* how the names of its files begin, and of others that call it */
    const char *soname;    /* by which programs and workers open it */
    const char *above;     /* a library of the maker that calls it for programs, or NULL */
    int machine;           /* e_machine of ELF files with its code */
    const char *triple;    /* of its code in LLVM's offload binaries */
    const char *gcc_text;  /* how its code begins in programs of gcc; NULL: it is such a file */
    const char *node;      /* a device file that is there where its kernel driver is */
    const char *llvm_plugin; /* how LLVM calls its plugin, libomptarget.rtl.NAME.so */
    /* What a program with it has in its environment, where the user has not said something else;
     * NULL: nothing. */
    const char *variable, *value;
};

#define GPU_COUNT(NAME, name, maker, ...) +1
enum { GPU_LIBRARIES = GPU_TABLE(GPU_COUNT) };
#undef GPU_COUNT

/* In the order of enum config_backend, from the one behind BACKEND_NATIVE on. */
extern const struct gpu_library gpu_libraries[GPU_LIBRARIES];

/* The bit of a kind in sets. */
static inline int gpu_bit(const struct gpu_library *library)
{
    return 1 << library->backend;
}

/* Reads "cuda", several with commas between. False: something else is in it, or nothing. */
bool gpu_kinds_read(const char *text, int *kinds);

enum { GPU_WORDS_BYTES = 96 };

/* "cuda,hsa". */
const char *gpu_kinds_write(int kinds, char text[GPU_WORDS_BYTES]);

/* "NVIDIA GPUs", "NVIDIA or AMD GPUs". */
const char *gpu_kinds_words(int kinds, char text[GPU_WORDS_BYTES]);

#endif
