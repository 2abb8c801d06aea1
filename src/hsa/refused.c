/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * refused.c: what is not served (refused.def): what cannot be had of a GPU in another process, and
 * what nobody has needed. Attributes say so beforehand where there is one for it.
 */
#include <stdatomic.h>

#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/result.h"

static hsa_status_t refuse(const char *name, hsa_status_t refused, bool printed, const char *why,
                           atomic_flag *told)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS) {
        if (!atomic_flag_test_and_set(told))
            (printed ? report_error : report_choice)("%s returns %s: %s", name,
                                                     result_name(refused), why);
        status = refused;
    }
    return api_end(&call, status);
}

#define HSA_FUNCTION(result, name, parameters, words)
#define HSA_REFUSED(name, status, printed, why)                                                    \
    hsa_status_t name(void)                                                                        \
    {                                                                                              \
        static atomic_flag told = ATOMIC_FLAG_INIT;                                                \
        return refuse(#name, status, printed, why, &told);                                         \
    }
#include "hsa/hsa.def"
