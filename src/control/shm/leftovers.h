/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * leftovers.h: removes the shared memory of this host that processes leave which are killed, or end
 * without leaving MPI. Knows nothing of MPI's calls, only Open MPI's and libomp's names.
 */
#ifndef OMPRMA_CONTROL_SHM_LEFTOVERS_H
#define OMPRMA_CONTROL_SHM_LEFTOVERS_H

#include <stdint.h>
#include <time.h>

/* The job that a variable NAME=VALUE is about; 0: it is about none. */
uint32_t leftovers_job(const char *variable);

/* That of this process, by its environment. */
uint32_t leftovers_own_job(void);

/* Of this user: Open MPI's segments of the job, whose names hold its number (0: not known), and
 * libomp's of dead processes that were made since then. Call when no process of the job attaches
 * any more; who is attached is not harmed. */
void leftovers_remove(uint32_t job_id, time_t since);

#endif
