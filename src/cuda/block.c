/* block.c: see block.h. */
#include "cuda/block.h"

#include <stdlib.h>

static int block_compare(const struct block *a, const struct block *b)
{
    return a->address < b->address ? -1 : a->address > b->address;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* each tree uses some of them */
RB_GENERATE_INTERNAL(block_tree, block, link, block_compare, static)
#pragma GCC diagnostic pop

void blocks_open(struct blocks *blocks)
{
    pthread_mutex_init(&blocks->lock, NULL);
    RB_INIT(&blocks->tree);
}

bool blocks_add(struct blocks *blocks, const struct block *block)
{
    struct block *kept = malloc(sizeof(*kept));

    if (!kept)
        return false;
    *kept = *block;
    pthread_mutex_lock(&blocks->lock);
    bool there = RB_INSERT(block_tree, &blocks->tree, kept) != NULL;
    pthread_mutex_unlock(&blocks->lock);
    if (there)
        free(kept);
    return true;
}

bool blocks_find(struct blocks *blocks, omprma_addr_t address, struct block *block)
{
    struct block key = {.address = address};

    pthread_mutex_lock(&blocks->lock);
    struct block *found = RB_NFIND(block_tree, &blocks->tree, &key);
    if (!found || found->address > address)
        found =
            found ? RB_PREV(block_tree, &blocks->tree, found) : RB_MAX(block_tree, &blocks->tree);
    bool inside = found && address - found->address < found->bytes;
    if (inside)
        *block = *found;
    pthread_mutex_unlock(&blocks->lock);
    return inside;
}

/* Under the lock. */
static bool block_remove(struct blocks *blocks, struct block *found, struct block *block)
{
    if (found) {
        RB_REMOVE(block_tree, &blocks->tree, found);
        *block = *found;
        free(found);
    }
    return found != NULL;
}

bool blocks_take(struct blocks *blocks, omprma_addr_t address, struct block *block)
{
    struct block key = {.address = address};

    pthread_mutex_lock(&blocks->lock);
    struct block *found = RB_FIND(block_tree, &blocks->tree, &key);
    bool taken = block_remove(blocks, found && !found->module ? found : NULL, block);
    pthread_mutex_unlock(&blocks->lock);
    return taken;
}

bool blocks_take_global(struct blocks *blocks, const struct module *module)
{
    struct block *each, block;

    pthread_mutex_lock(&blocks->lock);
    RB_FOREACH(each, block_tree, &blocks->tree)
    {
        if (each->module == module)
            break;
    }
    bool taken = block_remove(blocks, each, &block);
    pthread_mutex_unlock(&blocks->lock);
    return taken;
}

bool blocks_take_of(struct blocks *blocks, const struct context *context, struct block *block)
{
    struct block *each;

    pthread_mutex_lock(&blocks->lock);
    RB_FOREACH(each, block_tree, &blocks->tree)
    {
        if (each->context == context && !each->module)
            break;
    }
    bool taken = block_remove(blocks, each, block);
    pthread_mutex_unlock(&blocks->lock);
    return taken;
}
