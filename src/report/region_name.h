/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* region_name.h: what people call a target region. */
#ifndef OMPRMA_REPORT_REGION_NAME_H
#define OMPRMA_REPORT_REGION_NAME_H

#include <stddef.h>

enum { REGION_NAME_BYTES = 512 };

/* "saxpy.c:42", or "main:42" where the file is not known, "": of a kernel's symbol; kernels that
 * are no target regions as they are called. Returns `text`. */
const char *region_name(const char *symbol, const char *source, char text[REGION_NAME_BYTES]);

#endif
