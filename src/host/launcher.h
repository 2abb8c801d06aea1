/*
 * launcher.h: what omprma-run and the program it started say to each other, through variables
 * OMPRMA_INTERNAL_*. Nothing happens when the program was started by other means.
 */
#ifndef OMPRMA_HOST_LAUNCHER_H
#define OMPRMA_HOST_LAUNCHER_H

#include <stdint.h>

/* When omprma-run was started, and when it started the program, by clock_ns(); 0: not known. Once,
 * as the variable is gone then. */
void launcher_times(int64_t *launch_ns, int64_t *program_ns);

/* Tells omprma-run that the program has connected, and gives the program's children back the
 * environment that the user had: loader paths of ours are not for them. Call once, when MPI runs.
 */
void launcher_connected(void);

#endif
