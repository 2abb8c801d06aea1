/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_room.c: what /dev/shm has left is no more than its size; where it cannot be used errno says
 * why. A small and a read-only one are in tests/tools/limits.sh.
 * Covers: shm/room.c */
#include <errno.h>
#include <sys/statvfs.h>

#include "tests/unit/test.h"
#include "control/shm/room.h"

TEST(room_is_what_the_file_system_has)
{
    struct statvfs info;
    uint64_t left = UINT64_MAX;

    errno = 0;
    if (!shm_room(&left)) {
        assert_int_not_equal(errno, 0);
        return;
    }
    assert_int_equal(statvfs("/dev/shm", &info), 0);
    assert_true(left <= (uint64_t)info.f_blocks * info.f_frsize);
}
