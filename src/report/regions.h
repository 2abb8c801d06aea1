/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* regions.h: what people call target regions, and in which order they see those of a run. */
#ifndef OMPRMA_REPORT_REGIONS_H
#define OMPRMA_REPORT_REGIONS_H

#include "report/recording.h"

enum { REGION_NAME_BYTES = 512 };

/* "saxpy.c:42", or "main:42" where the file is not known, "": of a kernel's symbol; kernels that
 * are no target regions as they are called. Returns `text`. */
const char *region_name(const char *symbol, const char *source, char text[REGION_NAME_BYTES]);

/* Of a line of the table. */
const char *region_row_name(const struct recording *recording, const struct recorded_region *region,
                            char text[REGION_NAME_BYTES]);

/* Those that there are, the one that took longest first; *count of them, to be freed. NULL: no
 * memory. */
const struct recorded_region **region_rows(const struct recording *recording, uint32_t *count);

#endif
