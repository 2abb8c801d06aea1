/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* policy.c: what libomp has once said is not asked of the environment any more. */
#include "openmp/site/policy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

#include "openmp/abi/libomp.h"

static atomic_bool known; /* libomp has answered, so it has started */

static int policy(void)
{
    int answer = __kmpc_get_target_offload ? __kmpc_get_target_offload() : OFFLOAD_DEFAULT;
    atomic_store_explicit(&known, true, memory_order_relaxed);
    return answer;
}

bool policy_wishes_off(void)
{
    const char *wish = getenv("OMP_TARGET_OFFLOAD");
    if (atomic_load_explicit(&known, memory_order_relaxed))
        return policy_is_disabled();
    return wish && strcasecmp(wish, "disabled") == 0;
}

bool policy_is_disabled(void)
{
    return policy() == OFFLOAD_DISABLED;
}

bool policy_is_mandatory(void)
{
    return policy() == OFFLOAD_MANDATORY;
}
