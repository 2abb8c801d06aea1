/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* by_host.c: A transfer goes by the path of its peer all the way. Only the one between hosts has
 * memory attached. */
#include "control/direct/by_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct by_host {
    struct datapath base;
    struct datapath *near, *far;
    bool is_elsewhere[]; /* by rank */
};

static struct datapath *path_of(struct datapath *path, const struct transfer *t)
{
    struct by_host *self = (struct by_host *)path;

    return self->is_elsewhere[t->peer] ? self->far : self->near;
}

static omprma_status_t by_host_attach(struct datapath *path, void *base, uint64_t bytes)
{
    struct datapath *far = ((struct by_host *)path)->far;

    return far->attach(far, base, bytes);
}

static void by_host_detach(struct datapath *path, void *base)
{
    struct datapath *far = ((struct by_host *)path)->far;

    far->detach(far, base);
}

static void *by_host_below(const struct datapath *path)
{
    return datapath_below(((const struct by_host *)path)->far);
}

static bool by_host_progress(struct datapath *path)
{
    return datapath_progress(((struct by_host *)path)->far);
}

static bool by_host_prepare(struct datapath *path)
{
    return datapath_prepare(((struct by_host *)path)->far);
}

static omprma_status_t by_host_start(struct datapath *path, struct transfer *t)
{
    return datapath_start(path_of(path, t), t);
}

static omprma_status_t by_host_test(struct datapath *path, struct transfer *t, bool *done)
{
    return datapath_test(path_of(path, t), t, done);
}

static void by_host_abandon(struct datapath *path, struct transfer *t)
{
    datapath_abandon(path_of(path, t), t);
}

static void by_host_destroy(struct datapath *path)
{
    struct by_host *self = (struct by_host *)path;

    datapath_destroy(self->near);
    datapath_destroy(self->far);
    free(self);
}

omprma_status_t by_host_create(struct datapath *near, struct datapath *far,
                               const bool *is_elsewhere, int ranks, struct datapath **path)
{
    size_t bytes = (size_t)ranks * sizeof(*is_elsewhere);
    struct by_host *self = calloc(1, sizeof(*self) + bytes);

    if (!self) {
        datapath_destroy(near);
        datapath_destroy(far);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a data path");
    }
    self->base = (struct datapath){
        .name = "by host",
        .one_sided = true,
        .attach = by_host_attach,
        .detach = by_host_detach,
        .below = by_host_below,
        .progress = by_host_progress,
        .prepare = by_host_prepare,
        .start = by_host_start,
        .test = by_host_test,
        .abandon = by_host_abandon,
        .destroy = by_host_destroy,
    };
    self->near = near;
    self->far = far;
    memcpy(self->is_elsewhere, is_elsewhere, bytes);
    *path = &self->base;
    return OMPRMA_OK;
}
