/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* no_unwaited.h: the calls of omprma_private/unwaited.h, owner.h, say.h, share.h and times.h,
 * for stand-ins of libomprma without workers. */
#ifndef OMPRMA_TESTS_NO_UNWAITED_H
#define OMPRMA_TESTS_NO_UNWAITED_H

#include <stdio.h>

#include <omprma_private/owner.h>
#include <omprma_private/say.h>
#include <omprma_private/share.h>
#include <omprma_private/times.h>
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

int omprma_share(char *words, size_t room)
{
    snprintf(words, room, "%s", "");
    return -1;
}

void omprma_times_want(omprma_times_function *function)
{
    (void)function;
}

#endif
