/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * doorbell.h: lets a process sleep until a peer on the same host has sent it something. Shared
 * memory (memory.h) holds one futex word; ringing costs a load unless the owner sleeps. Peers on
 * other hosts cannot ring: the owner sleeps at the descriptors where they show, too, or briefly.
 * The memory also tells peers that the owner has died, before MPI could notice. Knows nothing of
 * MPI.
 *
 * Thread: doorbell_sleep() by one thread at a time, the rest by any.
 */
#ifndef OMPRMA_CONTROL_SHM_DOORBELL_H
#define OMPRMA_CONTROL_SHM_DOORBELL_H

#include "control/shm/memory.h"

struct doorbell;

/* Makes one's own bell, which peers open by `address`, and `shared_bytes` of zeros that peers see
 * too. Errors: HOST_MEMORY. */
omprma_status_t doorbell_create(struct doorbell **bell, size_t shared_bytes,
                                struct shm_address *address);

/* Opens a peer's bell, made with `shared_bytes`; NULL if it is on another host or cannot be opened.
 */
struct doorbell *doorbell_open(const struct shm_address *address, size_t shared_bytes);

/* The shared bytes that it was made with, 64-byte aligned. */
void *doorbell_shared(struct doorbell *bell);

/* Unmaps (and, for one's own, ends) it. NULL is allowed. */
void doorbell_close(struct doorbell *bell);

/* True if the owner sleeps or is about to, as doorbell_ring() looks at it. NULL: false. */
bool doorbell_is_asleep(struct doorbell *bell);

/* Rings: after this, the owner's next or present sleep ends. Async-signal-safe. Needs to be called
 * after the message was handed over. NULL is allowed and does nothing. */
void doorbell_ring(struct doorbell *bell);

/* Sleeps of this bell of one's own are at descriptors from now on. Called once, before peers open
 * the bell. Errors: HOST_MEMORY. */
omprma_status_t doorbell_use_descriptors(struct doorbell *bell);

/* Announces a sleep. Between this and doorbell_sleep() the owner must look once more for work. */
void doorbell_prepare(struct doorbell *bell);

enum { DOORBELL_DESCRIPTORS = 2 };

/* Sleeps until rung or for at most `ns`, then withdraws the announcement. */
void doorbell_sleep(struct doorbell *bell, int64_t ns);

/* The same of one that uses descriptors: it also ends when one of these can be read; -1: none. True
 * if the first of them can. */
bool doorbell_sleep_at(struct doorbell *bell, const int descriptors[DOORBELL_DESCRIPTORS],
                       int64_t ns);

/* Tells peers of the host on which processor the owner runs; what a peer told last, -1: nothing. A
 * bell that is NULL tells nothing. Async-signal-safe, some nanoseconds. */
void doorbell_tell_cpu(struct doorbell *bell);
int doorbell_cpu(const struct doorbell *bell);

/* Tells peers of the host that the owner has looked for what they send; how often it has, as a peer
 * sees it. A number that changes says that the owner runs. A bell that is NULL tells nothing, and
 * stays at 0. Telling: one thread at a time. */
void doorbell_tell_look(struct doorbell *bell);
uint32_t doorbell_looks(const struct doorbell *bell);

/* Withdraws the announcement without sleeping. */
void doorbell_cancel(struct doorbell *bell);

/* From now on peers can tell when the owner has died. Called once, before peers open the bell, by a
 * thread that lives as long as the process and closes the bell. Errors: HOST_MEMORY. */
omprma_status_t doorbell_stay(struct doorbell *bell);

/* True if the owner of a peer's bell, having called doorbell_stay(), has died; from before the
 * moment when its memory is gone. False for NULL. Some 10 nanoseconds. */
bool doorbell_owner_died(struct doorbell *bell);

#endif
