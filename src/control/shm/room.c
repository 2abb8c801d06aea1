/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* room.c: The folder's file system is asked, for root as well: access() alone would let root write
 * to one that is read-only. */
#include "control/shm/room.h"

#include <sys/statvfs.h>
#include <unistd.h>

bool shm_room(uint64_t *bytes)
{
    static const char folder[] = "/dev/shm";
    struct statvfs info;
    if (statvfs(folder, &info) || access(folder, W_OK))
        return false;
    *bytes = (uint64_t)info.f_bavail * info.f_frsize;
    return true;
}
