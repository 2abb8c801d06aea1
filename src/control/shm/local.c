/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.c: process_vm_readv() and process_vm_writev(), a piece at each call, so that whoever moves
 * the transfer on can leave it in between. The kernel says how far a piece came; what it could not
 * move is asked for again, and then it says why.
 */
#define _GNU_SOURCE
#include "control/shm/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/error.h"
#include "control/shm/doorbell.h"

struct local {
    struct datapath base;
    struct doorbell *const *bells; /* NULL: none is known */
    pid_t pids[];                  /* by rank */
};

static struct local *self_of(struct datapath *path)
{
    return (struct local *)path;
}

static bool has_died(const struct local *self, const struct transfer *t)
{
    return self->bells && doorbell_owner_died(self->bells[t->peer]);
}

/* Ranges of a peer's memory are checked before they come here. */
static omprma_status_t refuse(const struct local *self, const struct transfer *t, int code)
{
    const char *what = t->direction == TRANSFER_OUT ? "submit" : "retrieve";

    if (code == EFAULT)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "%s of %llu bytes: memory of the program at %p, byte %llu, was unmapped "
                         "before it was copied, or is protected",
                         what, (unsigned long long)t->bytes,
                         (void *)((char *)t->local + t->completed),
                         (unsigned long long)t->completed);
    if (code == ESRCH)
        return error_set(OMPRMA_ERR_DEVICE_LOST, "process %d has ended", (int)self->pids[t->peer]);
    return error_set(OMPRMA_ERR_UNSUPPORTED, "%s: memory of process %d cannot be copied: %s", what,
                     (int)self->pids[t->peer], strerror(code));
}

static omprma_status_t move_piece(struct local *self, struct transfer *t)
{
    uint64_t left = t->bytes - t->completed;
    size_t bytes = left < LOCAL_PIECE ? left : LOCAL_PIECE;
    struct iovec here = {(char *)t->local + t->completed, bytes};
    struct iovec there = {(void *)(uintptr_t)(t->remote + t->completed), bytes};
    pid_t pid = self->pids[t->peer];
    ssize_t moved;
    int code;

    if (has_died(self, t))
        return OMPRMA_OK;
    moved = t->direction == TRANSFER_IN ? process_vm_readv(pid, &here, 1, &there, 1, 0)
                                        : process_vm_writev(pid, &here, 1, &there, 1, 0);
    code = moved < 0 ? errno : EFAULT;
    if (moved <= 0 && has_died(self, t)) /* it has lost its memory by that */
        return OMPRMA_OK;
    if (moved <= 0)
        return refuse(self, t, code);
    t->completed += (uint64_t)moved;
    t->issued = t->completed;
    return OMPRMA_OK;
}

static omprma_status_t local_start(struct datapath *path, struct transfer *t)
{
    return move_piece(self_of(path), t);
}

static omprma_status_t local_test(struct datapath *path, struct transfer *t, bool *done)
{
    omprma_status_t status = OMPRMA_OK;

    if (t->completed < t->bytes)
        status = move_piece(self_of(path), t);
    *done = t->completed == t->bytes;
    return status;
}

static void local_destroy(struct datapath *path)
{
    free(path);
}

omprma_status_t local_create(const pid_t *pids, struct doorbell *const *bells, int ranks,
                             struct datapath **path)
{
    size_t bytes = (size_t)ranks * sizeof(*pids);
    struct local *self = calloc(1, sizeof(*self) + bytes);

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a data path");
    self->base = (struct datapath){
        .name = "local",
        .one_sided = true,
        .start = local_start,
        .test = local_test,
        .destroy = local_destroy,
    };
    self->bells = bells;
    memcpy(self->pids, pids, bytes);
    *path = &self->base;
    return OMPRMA_OK;
}
