/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parallel.c: parallel constructs in target regions, by libomp's fork. */
#include <stdio.h>
#include <stdlib.h>

#include "device/flang.h"
#include "device/region.h"
#include "device/team.h"

enum {
    ARGUMENTS_MOST = 8, /* flang passes none, or one structure */
    SEVERITY_FATAL = 2,
};

_Thread_local struct team *team_current;
_Thread_local bool team_looping;

typedef void outlined_fn(int32_t *thread, int32_t *bound, void *, void *, void *, void *, void *,
                         void *, void *, void *);

/* What a thread of the team does. Arguments beyond those that the function has do no harm in the
 * calling convention of x86-64. */
static void team_run(int32_t *thread, int32_t *bound, struct team *team)
{
    outlined_fn *outlined = (outlined_fn *)team->outlined;
    struct team *outer = team_current;
    struct region region = region_current;
    bool looping = team_looping;
    void *a[ARGUMENTS_MOST] = {0};

    for (int64_t i = 0; i < team->count; i++)
        a[i] = team->arguments[i];
    team_current = team;
    team_looping = false;
    region_current = (struct region){0};
    outlined(thread, bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    region_current = region;
    team_looping = looping;
    team_current = outer;
}

static int32_t threads_bounded(int32_t threads)
{
    int32_t most = region_current.threads_clause;

    if (threads <= 0) {
        threads = omp_get_max_threads();
        most = region_current.threads_default;
    }
    return most > 0 && most < threads ? most : threads;
}

static struct team *team_create(void *outlined, void **arguments, int64_t count, int32_t threads)
{
    struct team *team = calloc(1, sizeof(*team) + (size_t)threads * sizeof(team->loops[0]));

    if (count > ARGUMENTS_MOST) {
        fprintf(stderr,
                "omprma: error: a parallel region has %lld arguments, libomprma-device.a passes at "
                "most %d:"
                " compile the program with flang 22\n",
                (long long)count, ARGUMENTS_MOST);
        abort();
    }
    if (!team) {
        fprintf(stderr, "omprma: error: no memory for a parallel region of %d threads\n", threads);
        abort();
    }
    team->outlined = outlined;
    team->arguments = arguments;
    team->count = count;
    return team;
}

void __kmpc_parallel_60(struct ident *where, int32_t thread, int32_t condition, int32_t threads,
                        int32_t bind, void *outlined, void *wrapper, void **arguments,
                        int64_t count, int32_t strict)
{
    int32_t wanted = condition ? threads_bounded(threads) : 1, zero = 0;
    struct team *team = team_create(outlined, arguments, count, wanted);

    (void)wrapper;
    if (!condition) {
        __kmpc_serialized_parallel(where, thread);
        team_run(&thread, &zero, team);
        __kmpc_end_serialized_parallel(where, thread);
    } else {
        if (strict && threads > 0)
            __kmpc_push_num_threads_strict(where, thread, wanted, SEVERITY_FATAL, "");
        else
            __kmpc_push_num_threads(where, thread, wanted);
        if (bind != -1)
            __kmpc_push_proc_bind(where, thread, bind);
        __kmpc_fork_call(where, 1, (microtask_fn *)team_run, team);
    }
    free(team);
}
