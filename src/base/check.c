/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.c: The process ends by abort(), after a line with the place and both values. Knows nothing
 * of what is checked.
 */
#include "base/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"

void check_failed(const char *file, int line, const char *expression, int64_t left, int64_t right)
{
    log_write(LOG_ERROR, "internal error at %s:%d: %s does not hold (%" PRId64 " and %" PRId64 ")",
              file, line, expression, left, right);
    abort();
}
