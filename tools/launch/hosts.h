/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hosts.h: where workers go: "h1:2,h2:4" or a host file in Open MPI's form ("h1 slots=2" a line).
 * Knows nothing of mpirun.
 */
#ifndef OMPRMA_LAUNCH_HOSTS_H
#define OMPRMA_LAUNCH_HOSTS_H

#include <stdbool.h>

#include <omprma/omprma.h>

#include "tools/launch/list.h"

struct hosts {
    struct list names;
    int *slots; /* workers that the host takes, names.count of them */
    int total;  /* sum of slots; 0: no hosts named, workers run here */
};

/* Both fill an empty struct hosts; a host that is named twice gets the sum.
 * Errors: CONFIG; the text names the host or the line. */
omprma_status_t hosts_parse(struct hosts *hosts, const char *text);
omprma_status_t hosts_read(struct hosts *hosts, const char *path);

/* Places so many workers instead, evenly; the first hosts take one more, or the last ones none. */
void hosts_spread(struct hosts *hosts, int workers);

/* Places so many on each host instead. */
void hosts_level(struct hosts *hosts, int workers);

/* Of so many workers those of the other hosts go into `others`, which is empty; returns how many
 * this host gets. Each host takes as many as it has slots, one host after the other or, `in_turns`,
 * one each; and more than that where all slots are taken. Errors: HOST_MEMORY, as -1. */
int hosts_divide(const struct hosts *all, int workers, bool in_turns, struct hosts *others);

/* "h1:2,h2:4", with so many slots more for the host that this process runs on; the caller frees it.
 */
char *hosts_format(const struct hosts *hosts, int more_here);

/* "h1,h1,h2": the host of each worker: one host after the other or, `in_turns`, one worker each;
 * where all slots are taken, once more from the first. The caller frees it. */
char *hosts_in_order(const struct hosts *hosts, int workers, bool in_turns);

/* Whether a name means the host that this process runs on: "localhost", its own name, whatever the
 * domains, or one of its IPv4 addresses. Asks no name service. */
bool hosts_is_here(const char *name);

/* The IPv4 address of this host from which the first of the others is reached; the caller frees it.
 * NULL: there is none, or it is not known where it is. May ask a name service. */
char *hosts_own_address(const struct hosts *hosts);

/* That of this host in the first of its networks, for names which only a remote shell knows; the
 * caller frees it. NULL: it has none. */
char *hosts_first_address(void);

/* Open MPI takes names of hosts up to the first dot. Refuses those that it would mix up with
 * others or with this host; may ask a name service. Errors: CONFIG. */
omprma_status_t hosts_check_names(const struct hosts *hosts);

/* The name as the user wrote it for what Open MPI makes of it; valid as long as both. */
const char *hosts_full_name(const struct hosts *hosts, const char *name);

void hosts_clear(struct hosts *hosts);

#endif
