/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * types.h: what libomptarget of LLVM 13 to 18 hands to a plugin, as far as this plugin reads it.
 * The layouts are checked when this compiles; they hold for 64-bit machines only. Knows nothing of
 * omprma.
 */
#ifndef OMPRMA_PLUGIN_TYPES_H
#define OMPRMA_PLUGIN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "face/offload.h"

#define PLUGIN_EXPORT __attribute__((visibility("default")))

enum { RTL_SUCCESS = 0, RTL_FAIL = -1 };

struct tgt_image {
    void *start, *end;
    struct offload_entry *entries_begin, *entries_end;
};

struct tgt_table {
    struct offload_entry *begin, *end;
};

/* The rest of this structure differs between versions and must not be touched. */
struct tgt_async {
    void *queue; /* an omprma_queue_t, or NULL while nothing is under way */
};

struct tgt_image_info {
    char *arch;
};

struct tgt_device_info {
    void *context;
    void *device;
};

/* What LLVM 18 has instead of a table. */
struct tgt_binary {
    uintptr_t handle;
};

enum tgt_alloc_kind { TGT_DEVICE = 0, TGT_HOST = 1, TGT_SHARED = 2, TGT_DEFAULT = 3 };

_Static_assert(sizeof(struct tgt_image) == 32, "device image");
_Static_assert(offsetof(struct tgt_image, entries_begin) == 16, "device image entries");
_Static_assert(sizeof(struct tgt_table) == 16, "target table");
_Static_assert(offsetof(struct tgt_async, queue) == 0, "async info queue");
_Static_assert(sizeof(struct tgt_binary) == 8, "device binary");

#endif
