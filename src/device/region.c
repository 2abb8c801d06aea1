/* region.c: begin and end of a target region, and what the region's code is told about where it
 * runs. */
#include "device/region.h"

#include "device/flang.h"

_Thread_local struct region region_current;

/* flang's own runtime is linked into the image, with a buffer of its own for what print writes, and
 * would write that when the image is unloaded. No function for users is linked with print alone;
 * this one is. It is absent where a region prints nothing. */
struct flang_terminator {
    const char *source;
    int line;
    void *more[6]; /* room for what other versions have here */
};
__attribute__((weak)) void flang_flush_output(const struct flang_terminator *terminator) __asm__(
    "_ZN7Fortran7runtime2io18FlushOutputOnCrashERKNS0_10TerminatorE");

/* In a combined construct threads_most is the less of thread_limit and num_threads, and a bound.
 * Elsewhere it may come from the num_threads of any parallel construct inside, so it can bound only
 * those constructs that leave the number open. */
int32_t __kmpc_target_init(const struct kernel_environment *kernel, void *launch)
{
    int32_t most = kernel->threads_most > 0 ? kernel->threads_most : 0;

    (void)launch;
    region_current.threads_default = most;
    region_current.threads_clause = kernel->mode == KERNEL_COMBINED ? most : 0;
    return -1;
}

void __kmpc_target_deinit(void)
{
    region_current = (struct region){0};
    if (flang_flush_output)
        flang_flush_output(&(struct flang_terminator){.source = "end of a region"});
}

int omp_is_initial_device(void)
{
    return 0;
}

int omp_is_initial_device_(void)
{
    return 0;
}
