/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* room.h: how much memory processes of this host can still share by names in /dev/shm, as MPI
 * libraries and libomp do it. */
#ifndef OMPRMA_CONTROL_SHM_ROOM_H
#define OMPRMA_CONTROL_SHM_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* With so much no MPI library has been seen to lack some; with 4 MiB Open MPI 4.1 has no window. */
enum { SHM_ROOM_ENOUGH_MIB = 64 };

/* Bytes that are left. False, and errno says why: nothing can be written there. Any thread; does
 * not block. */
bool shm_room(uint64_t *bytes);

#endif
