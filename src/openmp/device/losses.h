/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * losses.h: sites that are lost while others serve the same space and the run goes on (loss.h):
 * with placement the others do what the lost one had to do. Only when none is left the host does.
 *
 * Thread: any, but for losses_settle(). Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_LOSSES_H
#define OMPRMA_OPENMP_DEVICE_LOSSES_H

#include <stdbool.h>

#include "openmp/device/device.h"

struct location;

/* Are constructs placed, and does the run go on without workers that are lost? */
bool losses_matter(void);

/* How many sites have been lost so far. */
unsigned losses_seen(void);

/* Something has ended with this status, which is no success; `seen`: losses_seen() when it began.
 * Says which sites are lost, if that is news, after `tell` has said how it ended. True: it ended so
 * because a site is lost, and all is said. */
bool losses_explain(const struct location *where, int status, unsigned seen,
                    bool (*tell)(void *context, int status), void *context);

/* The device itself, or, if it is lost, the first one that serves its space and is not; itself, if
 * none is left. */
struct device *device_living(struct device *device);

/* Is a site left that serves its space? Else the host is the device. */
bool device_is_served(struct device *device);

/* What lost sites alone had is lost from now on, and named in lines, but for what can be computed
 * again. The caller holds the lock of the space. */
void losses_settle(struct space *space, const struct location *where);

/* Only the latter: names what cannot be computed again any more. */
void losses_tell(struct space *space, const struct location *where);

/* Before something is tried again: others are about to find out what is lost. Blocks: for a
 * millisecond. */
void losses_pause(void);

#endif
