/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * links.h: what it takes to bring data from one site to another, as start-up has measured it.
 *
 * Thread: the caller holds the space's lock. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_LINKS_H
#define OMPRMA_OPENMP_PLACE_LINKS_H

#include <stddef.h>
#include <stdint.h>

/* From one site to another. */
struct link_cost {
    int64_t first_ns; /* to have something brought */
    int64_t mib_ns;   /* and for each MiB */
};

const struct link_cost *link_between(int from, int to);

/* Of so many bytes. */
int64_t link_ns(int from, int to, size_t bytes);

#endif
