/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * write.h: answers that are one number. A program's room for one has its size, and not always its
 * alignment.
 */
#ifndef OMPRMA_HSA_WRITE_H
#define OMPRMA_HSA_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hsa_abi.h"

static inline hsa_status_t write32(void *value, uint32_t number)
{
    memcpy(value, &number, sizeof(number));
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t write64(void *value, uint64_t number)
{
    memcpy(value, &number, sizeof(number));
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t write_truth(void *value, bool is)
{
    memcpy(value, &is, sizeof(is));
    return HSA_STATUS_SUCCESS;
}

#endif
