/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.h: memory that programs have allocated here, or locked, by address. Addresses alone tell
 * what memory is: a GPU's, known memory of the host, or any other memory of the host.
 *
 * Thread: any. Blocks: no, but for allocation of device memory, as omprma_alloc().
 */
#ifndef OMPRMA_HSA_MEMORY_H
#define OMPRMA_HSA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hsa_abi.h"
#include "face/driver/block.h"

struct gpu;

/* What else is known of a block that the program has allocated or locked: its `owner`. */
struct allocation {
    uint32_t flags; /* of its pool */
    bool locked;    /* it is the program's own memory */
    unsigned locks;
    void *user_data;
    struct farewell *farewells; /* callbacks for its end */
};

/* Where an address lies. */
struct place {
    struct gpu *gpu; /* NULL: in the host's memory */
    bool known;      /* of the host: a block that is known; of a GPU: always */
    struct block block;
};

/* Looks an address up. */
void memory_find(const void *address, struct place *place);

/* Does all of it lie in the place's block? Memory of the host that is not known is not checked. */
bool memory_fits(const struct place *place, const void *address, size_t bytes);

/* The known block of the host that it lies in. */
bool memory_find_host(const void *address, struct block *block);

/* Adds a block of the host's memory. False: no memory, or it overlaps another one. */
bool memory_add_host(void *address, size_t bytes, const struct allocation *allocation);

/* Takes one out that begins there and is locked memory, or is not. Its owner is the caller's to
 * free. */
bool memory_take_host(const void *address, bool locked, struct block *block);

/* Puts back one that was taken. */
void memory_put_host(const struct block *block);

/* Memory of a module of the GPU, `part_of` tells whose, unless it overlaps what is known. False: no
 * memory. */
bool memory_add_variable(struct gpu *gpu, omprma_addr_t address, size_t bytes, const void *part_of);
void memory_drop_variables(struct gpu *gpu, const void *part_of);

/* Would an address of these bytes of the GPU mean something else, too: memory of another GPU, or of
 * this process? */
bool memory_is_elsewhere(const struct gpu *gpu, omprma_addr_t address, size_t bytes);

#endif
