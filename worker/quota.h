/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quota.h: how much device memory the sessions of a host's slots hold, in a page that the agent
 * makes and all of them share. A slot's memory is that of all programs that have it: a session that
 * would pass it is refused, and what a session holds when it ends, however it does, is free again.
 * Counts; knows nothing of arenas.
 *
 * Thread: a session's by one at a time. Blocks: no.
 */
#ifndef OMPRMA_WORKER_QUOTA_H
#define OMPRMA_WORKER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include <omprma/omprma.h>

/* For a session: "DESCRIPTOR,ENTRY", of the page and of its own line in it. */
#define QUOTA_VARIABLE "OMPRMA_INTERNAL_QUOTA"
enum { QUOTA_SESSIONS_MOST = 4096 };

struct quota;

/* ---- the agent ---- */

/* A page without sessions on a host where `free_bytes` are free. Errors: HOST_MEMORY. */
omprma_status_t quota_create(uint64_t free_bytes, struct quota **quota);

/* Its descriptor, which is closed in programs that this process becomes. */
int quota_descriptor(const struct quota *quota);

/* A session of `slot` begins: its entry, from 0; -1: there are QUOTA_SESSIONS_MOST. */
int quota_enter(struct quota *quota, int slot);

/* It has ended. Nothing for -1. */
void quota_leave(struct quota *quota, int entry);

/* ---- a session ---- */

/* As QUOTA_VARIABLE says, which is unset. NULL in *quota: nobody has set it. Errors: HOST_MEMORY.
 */
omprma_status_t quota_join(struct quota **quota);

/* What was free on the host when the agent began. */
uint64_t quota_free_bytes(const struct quota *quota);

/* What sessions of the same slot hold, without this one. */
uint64_t quota_others(const struct quota *quota);

/* Holds `bytes` more, unless the slot's sessions would hold more than `limit` together. Of two that
 * ask at once both may be refused. */
bool quota_take(struct quota *quota, uint64_t bytes, uint64_t limit);

void quota_give(struct quota *quota, uint64_t bytes);

/* ---- both ---- */

/* The page stays for those that have it. Nothing for NULL. */
void quota_close(struct quota *quota);

#endif
