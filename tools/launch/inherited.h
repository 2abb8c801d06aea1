/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inherited.h: what this process has from whoever started it. What would keep a launcher from its
 * work is put aside when it begins and given back to the program, which gets all that it would have
 * got without us. Kept once per process. docs/design-notes/start.md has the table of all that is
 * inherited.
 */
#ifndef OMPRMA_LAUNCH_INHERITED_H
#define OMPRMA_LAUNCH_INHERITED_H

/* Before anything else is done with signals, files or children. */
void inherited_put_aside(void);

/* In the child that becomes the program, or when nothing is to be started: as it was. */
void inherited_give_back(void);

/* In the child that becomes mpirun: signals as a process has them by default. */
void inherited_clear_signals(void);

#endif
