/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * path.c: the list of all paths, in the order in which they are taken where the preferred one
 * cannot be. Those at the end need something that not every hop has.
 */
#include "host/path/path.h"

static const struct path_ops *const paths[] = {
    &path_copy, &path_two_sided, &path_send,        &path_staged, &path_inline, &path_put_get,
    &path_put,  &path_get,       &path_application, &path_thread, &path_shared,
};

const struct path_ops *path_pick(const struct path_ops *preferred, const struct hop *hop)
{
    if (preferred->takes(hop))
        return preferred;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (paths[i]->takes(hop))
            return paths[i];
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
