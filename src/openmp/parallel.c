/* parallel.c: see parallel.h. */
#include "openmp/parallel.h"

enum { REGIONS = 512 };

/* Before an even and an odd number of barriers: nobody passes the next one but one while another
 * thread is still behind the first. */
static _Atomic int32_t counts[REGIONS][2];

/* Left as it is when a region ends, but by the thread that began it: the others run tasks of the
 * region until then, and belong to the next one after that. */
static _Thread_local struct parallel_place here;

static _Atomic int32_t *count_at(uint32_t region, uint32_t passed)
{
    return &counts[region % REGIONS][passed % 2];
}

void parallel_begin(struct parallel *parallel, microtask_t *body, int32_t count, void **arguments)
{
    static _Atomic uint32_t last;

    *parallel = (struct parallel){body, count, arguments, 0, here};
    while (parallel->region == 0) /* the numbers wrap around */
        parallel->region = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void parallel_run(int32_t *thread, int32_t *number, struct parallel *parallel)
{
    void *frame;

    here = (struct parallel_place){parallel->region, 0};
    __kmp_invoke_microtask(parallel->body, *thread, *number, parallel->count, parallel->arguments,
                           &frame);
}

void parallel_end(const struct parallel *parallel)
{
    here = parallel->outer;
}

_Atomic int32_t *parallel_count(const struct parallel *parallel, int odd)
{
    return count_at(parallel->region, (uint32_t)odd);
}

_Atomic int32_t *parallel_count_here(void)
{
    return here.region ? count_at(here.region, here.passed) : NULL;
}

void parallel_pass(void)
{
    here.passed++;
}
