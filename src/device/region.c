/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* region.c: begin and end of a target region, and what the region's code is told about where it
 * runs. */
#include "device/region.h"

#include <stddef.h>

#include "device/flang.h"
#include "device/launch.h"
#include "device/output.h"

_Thread_local struct region region_current;

/* The lesser bound; 0: none. */
static int32_t lesser(int32_t a, int32_t b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* For omp_get_thread_limit(), also within parallel constructs of the region. */
static void thread_limit_set(int32_t limit)
{
    if (limit > 0)
        __kmpc_set_thread_limit(NULL, __kmpc_global_thread_num(NULL), limit);
}

/* In a combined construct threads_most is the less of thread_limit and num_threads, and a bound.
 * Elsewhere it may come from the num_threads of any parallel construct inside, so it can bound only
 * those constructs that leave the number open. The limit of the launch bounds all. In a combined
 * construct it may be num_threads as well; elsewhere it is what thread_limit says, and libomp is
 * told. */
int32_t __kmpc_target_init(const struct kernel_environment *kernel, void *launch)
{
    int32_t most = kernel->threads_most > 0 ? kernel->threads_most : 0;
    int32_t limit = launch_limit((uintptr_t)launch);

    if (kernel->mode != KERNEL_COMBINED && limit > 0) {
        region_current.limit_outside = omp_get_thread_limit();
        thread_limit_set(limit);
    }
    region_current.threads_default = lesser(most, limit);
    region_current.threads_clause = kernel->mode == KERNEL_COMBINED ? lesser(most, limit) : limit;
    return -1;
}

void __kmpc_target_deinit(void)
{
    thread_limit_set(region_current.limit_outside);
    region_current = (struct region){0};
    output_flush();
}

int omp_is_initial_device(void)
{
    return 0;
}

int omp_is_initial_device_(void)
{
    return 0;
}
