/*
 * types.h: what libomptarget of LLVM 13 to 18 hands to a plugin, as far as this plugin reads it.
 * The layouts are checked when this compiles; they hold for 64-bit machines only. Knows nothing of
 * omprma.
 */
#ifndef OMPRMA_PLUGIN_TYPES_H
#define OMPRMA_PLUGIN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

enum { RTL_SUCCESS = 0, RTL_FAIL = -1 };

/* One kernel or global variable of an image. */
struct tgt_entry {
    void *address; /* on the host in an image, on the device in a table */
    char *name;    /* symbol in the image */
    size_t bytes;  /* 0: a kernel */
    int32_t flags; /* 1 link, 2 constructor, 4 destructor, 8 indirect, 16 requires clauses */
    int32_t reserved;
};

struct tgt_image {
    void *start, *end;
    struct tgt_entry *entries_begin, *entries_end;
};

struct tgt_table {
    struct tgt_entry *begin, *end;
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

/* How a kernel is to be launched; from LLVM 16 on. */
struct tgt_kernel_args {
    uint32_t version; /* from 3 on host kernels take one more leading pointer */
    uint32_t count;   /* of the arguments */
    void **base_pointers, **pointers;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trip_count;
    uint64_t flags; /* bit 0: nowait */
    uint32_t teams[3], thread_limit[3];
    uint32_t dynamic_group_bytes;
};

enum tgt_alloc_kind { TGT_DEVICE = 0, TGT_HOST = 1, TGT_SHARED = 2, TGT_DEFAULT = 3 };

enum tgt_requires { TGT_REQUIRES_UNIFIED_SHARED_MEMORY = 8 };

_Static_assert(sizeof(void *) == 8, "this interface is known for 64-bit machines only");
_Static_assert(sizeof(struct tgt_entry) == 32, "offload entry");
_Static_assert(offsetof(struct tgt_entry, bytes) == 16, "offload entry size");
_Static_assert(offsetof(struct tgt_entry, flags) == 24, "offload entry flags");
_Static_assert(sizeof(struct tgt_image) == 32, "device image");
_Static_assert(offsetof(struct tgt_image, entries_begin) == 16, "device image entries");
_Static_assert(sizeof(struct tgt_table) == 16, "target table");
_Static_assert(offsetof(struct tgt_async, queue) == 0, "async info queue");
_Static_assert(sizeof(struct tgt_binary) == 8, "device binary");
_Static_assert(offsetof(struct tgt_kernel_args, count) == 4, "kernel argument count");
_Static_assert(offsetof(struct tgt_kernel_args, base_pointers) == 8, "kernel base pointers");
_Static_assert(offsetof(struct tgt_kernel_args, trip_count) == 56, "kernel trip count");
_Static_assert(offsetof(struct tgt_kernel_args, flags) == 64, "end of the LLVM 15 layout");
_Static_assert(offsetof(struct tgt_kernel_args, teams) == 72, "kernel teams");
_Static_assert(sizeof(struct tgt_kernel_args) == 104, "kernel arguments");

#endif
