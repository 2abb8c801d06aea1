/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* no_unwaited.h: the calls of omprma_private/memory.h, unwaited.h, notes.h, owner.h, say.h,
 * share.h, times.h and uid.h, for stand-ins of libomprma without workers. */
#ifndef OMPRMA_TESTS_NO_UNWAITED_H
#define OMPRMA_TESTS_NO_UNWAITED_H

#include <stdio.h>

#include <omprma_private/memory.h>
#include <omprma_private/notes.h>
#include <omprma_private/owner.h>
#include <omprma_private/say.h>
#include <omprma_private/share.h>
#include <omprma_private/times.h>
#include <omprma_private/uid.h>
#include <omprma_private/unwaited.h>

void omprma_queue_unwaited(omprma_queue_t *queue, bool unwaited)
{
    (void)queue;
    (void)unwaited;
}

bool omprma_rest(int64_t ns)
{
    (void)ns;
    return false;
}

bool omprma_wait_until(bool (*done)(const void *data), const void *data)
{
    (void)done, (void)data;
    return false;
}

void omprma_note_repeated(uint64_t regions)
{
    (void)regions;
}

/* For tests: what was noted last. */
uint64_t noted_graph[3];

void omprma_note_graph(uint64_t regions, uint64_t longest, uint64_t least_bytes)
{
    noted_graph[0] = regions;
    noted_graph[1] = longest;
    noted_graph[2] = least_bytes;
}

void omprma_note_wait(bool begins)
{
    (void)begins;
}

void omprma_look_again(void)
{
}

void omprma_say(int severity, const char *text)
{
    static const char *const words[] = {"error", "warning", "note"};
    if (severity != OMPRMA_SAY_END)
        fprintf(stderr, "omprma: %s: %s\n", words[severity], text);
}

int omprma_owner(omprma_addr_t address, omprma_addr_t *block, uint64_t *bytes)
{
    (void)address, (void)block, (void)bytes;
    return -1;
}

bool omprma_may_read(omprma_addr_t address)
{
    (void)address;
    return true;
}

omprma_addr_t omprma_addresses_taken(omprma_addr_t address, uint64_t bytes, uint64_t *length)
{
    (void)address, (void)bytes;
    *length = 0;
    return 0;
}

int omprma_share(char *words, size_t room)
{
    snprintf(words, room, "%s", "");
    return -1;
}

void omprma_uid(int device, char uid[OMPRMA_UID_BYTES])
{
    snprintf(uid, OMPRMA_UID_BYTES, "none-%d", device);
}

omprma_status_t omprma_memory_check(const void *at, size_t bytes, bool write)
{
    (void)at, (void)bytes, (void)write;
    return OMPRMA_OK;
}

bool omprma_memory_is_constant(const void *at, size_t bytes)
{
    (void)at, (void)bytes;
    return false;
}

void omprma_times_want(omprma_times_function *function)
{
    (void)function;
}

#endif
