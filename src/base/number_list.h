/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number_list.h: lists of numbers and ranges, as users write them: "0,2-3". */
#ifndef OMPRMA_BASE_NUMBER_LIST_H
#define OMPRMA_BASE_NUMBER_LIST_H

#include <stdbool.h>

#include <omprma/omprma.h>

/* Is `number` in it? "" has all. Errors: CONFIG, with words that follow a name of the list. */
omprma_status_t number_list_has(const char *list, int number, bool *has);

#endif
