/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* settings.h: omprma-info --settings: all settings, with what they are and who has set them. */
#ifndef OMPRMA_INFO_SETTINGS_H
#define OMPRMA_INFO_SETTINGS_H

#include <stdbool.h>

/* Prints them to stdout, as a table or as JSON. The options have been read. */
void settings_print(bool json);

#endif
