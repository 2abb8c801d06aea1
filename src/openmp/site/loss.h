/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loss.h: a device that is lost while the run goes on (OMPRMA_ON_LOSS=continue, and offloading is
 * not mandatory): from then on the host is the device. Its constructs keep the books of the table
 * as before, move nothing, and let the program compute their regions on the host. What the device
 * had is lost: values of ranges that were mapped before, by another construct. A construct that
 * needs them fails; a range has values again when the host has given all of it anew, or when it was
 * unmapped and mapped again.
 *
 * Thread: any.
 */
#ifndef OMPRMA_OPENMP_SITE_LOSS_H
#define OMPRMA_OPENMP_SITE_LOSS_H

#include <stdbool.h>

struct location;
struct site;

/* Does the program go on when a device is lost? The same answer always. */
bool loss_goes_on(void);

/* report_status() for what a site was asked for. Where the run goes on, a status that says that it
 * is lost is told once, and site_is_lost() from then on; it returns false then. */
bool loss_status(const struct location *where, struct site *site, int status);

/* The same for the end of something that has words of its own: `tell` is to report the status. */
bool loss_status_told(const struct location *where, struct site *site, int status,
                      bool (*tell)(void *context, int status), void *context);

/* For functions of the program that cannot use a lost device, while the run goes on: says so, once
 * for each. True: it is lost. */
bool loss_refuses(const char *function, struct site *site);

#endif
