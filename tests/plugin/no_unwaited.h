/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* no_unwaited.h: the calls of omprma_private/unwaited.h, for stand-ins of libomprma without
 * workers. */
#ifndef OMPRMA_TESTS_NO_UNWAITED_H
#define OMPRMA_TESTS_NO_UNWAITED_H

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

#endif
