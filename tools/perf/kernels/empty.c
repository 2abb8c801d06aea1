/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* empty.c: the device image of omprma-perf, embedded in it by kernels.c. Knows nothing of omprma.
 */
#include <stdint.h>

void perf_empty(void);
void perf_add(int64_t *value);

__attribute__((visibility("default"))) void perf_empty(void)
{
}

__attribute__((visibility("default"))) void perf_add(int64_t *value)
{
    *value += 1;
}
