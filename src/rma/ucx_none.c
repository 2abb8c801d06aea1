/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ucx_none.c: in the place of ucx.c where omprma is built without UCX's headers: there is no such
 * path, and whoever wants it is told so. */
#include "rma/ucx.h"

#include "base/error.h"

const char *ucx_name(void)
{
    return "";
}

omprma_status_t ucx_open(const struct ucx_options *options, struct datapath **path)
{
    (void)options, (void)path;
    return error_set(OMPRMA_ERR_UNSUPPORTED,
                     "this omprma was built without UCX's headers: build it with libucx-dev");
}

const void *ucx_address(const struct datapath *path, size_t *bytes)
{
    (void)path;
    *bytes = 0;
    return NULL;
}

int ucx_descriptor(const struct datapath *path)
{
    (void)path;
    return -1;
}

omprma_status_t ucx_meet(struct datapath *path, int rank, const void *address, size_t bytes)
{
    (void)path, (void)rank, (void)address, (void)bytes;
    return OMPRMA_OK;
}

void ucx_share_secret(struct datapath *path, const unsigned char secret[UCX_SECRET_BYTES])
{
    (void)path, (void)secret;
}
