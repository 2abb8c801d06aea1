/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * graph.h: what statistics say of the graph of regions that was placed: how many there are, how
 * many depend on each other one after the other at most, and how many bytes had to move if each
 * range stayed where a region wrote it first, and each site got a value once that it reads.
 *
 * Thread: the caller holds the space's lock. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_GRAPH_H
#define OMPRMA_OPENMP_PLACE_GRAPH_H

#include "openmp/run/work.h"

/* The range begins, by this work. */
void graph_enter(const struct work *work, struct mapped *mapped);

/* A region has been issued by the work, whose uses have not been pinned yet. */
void graph_note(const struct work *work);

#endif
