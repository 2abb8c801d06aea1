/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* origin.c: turns the compiler's location and map name into the words that omprma_check_place()
 * keeps for the next block. */
#include "openmp/site/origin.h"

#include <stdio.h>

#include <omprma_private/check.h>

#include "openmp/abi/location.h"

bool origin_wanted;

void origin_open(void)
{
    origin_wanted = omprma_check_wanted();
}

void origin_say_wanted(const struct location *where, const char *map_name)
{
    char place[256], variable[128];
    struct name name = name_of(map_name);
    bool known = location_words(where, place, sizeof(place));
    snprintf(variable, sizeof(variable), "%.*s", name.length, name.text);
    omprma_check_place(known ? place : NULL, map_name ? variable : NULL);
}
