/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* site.c: A site that is not known, since omprma ends, runs one kernel at once. */
#include "openmp/site/site.h"

#include <string.h>

void site_init(struct site *site, int number, int remote)
{
    omprma_device_info_t info = {.lanes = 0};
    omprma_device_info(remote, &info);
    site->number = number;
    site->remote = remote;
    site->shared_count = info.lanes < 1 ? 1 : info.lanes < SHARED_MOST ? info.lanes : SHARED_MOST;
    memcpy(site->host, info.host, sizeof(site->host));
    pthread_mutex_init(&site->load_lock, NULL);
}
