/*
 * block.h: the blocks of device memory that the program has, allocated ones and globals of modules
 * that it has looked up: whose they are, and which one an address lies in. omprma gives addresses
 * aligned to 64 bytes and programs count on 256, so a block may begin after what omprma gave.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_CUDA_BLOCK_H
#define OMPRMA_CUDA_BLOCK_H

#include <bsd/sys/tree.h>
#include <pthread.h>
#include <stdbool.h>

#include <omprma/omprma.h>

#include "cuda/abi.h"

enum { BLOCK_ALIGNMENT = 256 };

struct block {
    RB_ENTRY(block) link;
    omprma_addr_t address; /* the program's */
    omprma_addr_t given;   /* omprma's; at most BLOCK_ALIGNMENT less */
    size_t bytes;
    struct context *context;     /* goes with it */
    const struct module *module; /* whose global it is; NULL: allocated */
};
RB_HEAD(block_tree, block);

struct blocks {
    pthread_mutex_t lock;
    struct block_tree tree;
};

void blocks_open(struct blocks *blocks);

/* One that is there already stays. False: no host memory. */
bool blocks_add(struct blocks *blocks, const struct block *block);

/* The block that [address] lies in. False: none. */
bool blocks_find(struct blocks *blocks, omprma_addr_t address, struct block *block);

/* Takes out the allocated one that begins there. False: none does. */
bool blocks_take(struct blocks *blocks, omprma_addr_t address, struct block *block);

/* Takes out a global of the module. False: it has none left. */
bool blocks_take_global(struct blocks *blocks, const struct module *module);

/* Takes out an allocated one that belongs to the context. False: it has none left. */
bool blocks_take_of(struct blocks *blocks, const struct context *context, struct block *block);

#endif
