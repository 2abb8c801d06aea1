/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* condition.h: what values of signals are compared by. */
#ifndef OMPRMA_HSA_CONDITION_H
#define OMPRMA_HSA_CONDITION_H

#include "base/hsa_abi.h"

static inline bool condition_met(hsa_signal_condition_t condition, hsa_signal_value_t value,
                                 hsa_signal_value_t compare)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == compare;
    case HSA_SIGNAL_CONDITION_NE:
        return value != compare;
    case HSA_SIGNAL_CONDITION_LT:
        return value < compare;
    case HSA_SIGNAL_CONDITION_GTE:
        return value >= compare;
    default:
        return true; /* no such condition: nobody waits for ever */
    }
}

#endif
