/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * status.c: A table of names, and calls of error.c under their public names.
 */
#include <omprma/omprma.h>

#include "base/error.h"

static const char *const status_names[OMPRMA_STATUS_COUNT] = {
    [OMPRMA_OK] = "success",
    [OMPRMA_ERR_ARGUMENT] = "invalid argument",
    [OMPRMA_ERR_CONFIG] = "invalid setting",
    [OMPRMA_ERR_NO_WORKERS] = "no workers",
    [OMPRMA_ERR_VERSION] = "versions differ",
    [OMPRMA_ERR_MPI] = "MPI error",
    [OMPRMA_ERR_DEVICE_MEMORY] = "out of device memory",
    [OMPRMA_ERR_HOST_MEMORY] = "out of host memory",
    [OMPRMA_ERR_ADDRESS] = "invalid device address",
    [OMPRMA_ERR_IMAGE] = "invalid image",
    [OMPRMA_ERR_SYMBOL] = "missing symbol",
    [OMPRMA_ERR_KERNEL] = "kernel crashed",
    [OMPRMA_ERR_DEVICE_LOST] = "device lost",
    [OMPRMA_ERR_UNSUPPORTED] = "not supported",
    [OMPRMA_ERR_PROTOCOL] = "damaged message",
    [OMPRMA_ERR_CLOSED] = "not initialised",
    [OMPRMA_ERR_STUCK] = "nothing moves any more",
};

const char *omprma_status_string(omprma_status_t status)
{
    unsigned index = (unsigned)status;
    return index < OMPRMA_STATUS_COUNT ? status_names[index] : "unknown status";
}

const char *omprma_error(void)
{
    return error_text();
}

int omprma_error_code(void)
{
    return error_code();
}
