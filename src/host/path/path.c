/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * path.c: the list of all paths, in the order in which they are asked where nobody prefers one.
 * What no path wants goes by the first one that takes it.
 */
#include "host/path/path.h"

static const struct path_ops *const paths[] = {
    &path_inline,    &path_copy, &path_staged,      &path_thread, &path_shared, &path_put_get,
    &path_two_sided, &path_send, &path_application, &path_put,    &path_get,    &path_copy_to,
};

const struct path_ops *path_pick(const struct path_ops *preferred, const struct hop *hop)
{
    const struct path_ops *const *end = paths + sizeof(paths) / sizeof(paths[0]);

    if (preferred && preferred->takes(hop))
        return preferred;
    for (const struct path_ops *const *path = paths; path < end; path++)
        if ((*path)->takes(hop) && (!(*path)->wants || (*path)->wants(hop)))
            return *path;
    for (const struct path_ops *const *path = paths; path < end; path++)
        if ((*path)->takes(hop))
            return *path;
    return NULL;
}

struct transfer hop_transfer(const struct hop *hop, uint32_t tag)
{
    bool submit = hop_is_submit(hop);
    const struct hop_end *here = submit ? &hop->from : &hop->to, *there = hop_there(hop);

    return (struct transfer){
        .direction = submit ? TRANSFER_OUT : TRANSFER_IN,
        .peer = there->device->peer->rank,
        .local = (void *)(uintptr_t)here->at,
        .remote = there->at,
        .bytes = hop->bytes,
        .tag = tag,
    };
}
