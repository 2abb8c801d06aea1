/*
 * place.h: OMPRMA_CHECK=full: what omprma is told of the source that device memory comes from and
 * of what regions reach. Nothing but a look at a flag when it is off.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_H
#define OMPRMA_OPENMP_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi.h"

/* Each mapped range has a block of its own then, so that what is written beside it shows. */
extern bool place_wanted;

/* omprma has started. */
void place_open(void);

void place_say_wanted(const struct location *where, const char *map_name);

/* Before the next allocation or freeing: the construct and the name of a map, either may be NULL.
 */
static inline void place_say(const struct location *where, const char *map_name)
{
    if (place_wanted)
        place_say_wanted(where, map_name);
}

/* A host range is not mapped on a device any more; was it? The last ones are known. Pointers to
 * what was never mapped are nobody's mistake: regions need not use what they are given. */
void place_unmapped(int remote, uintptr_t begin, uintptr_t end);
bool place_was_mapped(int remote, uintptr_t address);

/* Regions may write what is at this address of a device, though it is no argument. */
static inline void place_reached(int remote, omprma_addr_t address)
{
    if (place_wanted && address)
        omprma_check_reaches(remote, address);
}

#endif
