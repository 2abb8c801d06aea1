/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * placed.h: for omprma-info --placement: can workers serve one device, and what does it take to
 * bring data from one to another, by which a construct's worker is chosen?
 *
 * Thread: main. Blocks: yes.
 */
#ifndef OMPRMA_INFO_PLACED_H
#define OMPRMA_INFO_PLACED_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/config.h"

/* Beside workers, as a program with this setting is. Where the program chooses nothing is printed.
 * False: they cannot; said. */
bool placed_print(const struct config *config);

/* The same, into an object; false is in it, too. */
void placed_add(const struct config *config, cJSON *root);

#endif
