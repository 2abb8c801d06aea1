/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exit_status.h: with what omprma's tools end, and a run that omprma ends, when it is not the
 * program's own status: as env, timeout and nohup do.
 */
#ifndef OMPRMA_BASE_EXIT_STATUS_H
#define OMPRMA_BASE_EXIT_STATUS_H

enum {
    EXIT_OWN = 125,            /* a wrong option, or the run failed */
    EXIT_NOT_EXECUTABLE = 126, /* the program is there, and cannot be run */
    EXIT_NOT_FOUND = 127       /* there is no such program */
};

#endif
