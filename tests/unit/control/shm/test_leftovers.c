/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_leftovers.c: tests leftovers.c: which files of libomp are removed, by the process that they
 * name, its state, their owner and their age.
 * Covers: leftovers.c */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "control/shm/leftovers.h"

static char path[80];

static void file_make(int pid, int user, const char *behind)
{
    snprintf(path, sizeof(path), "/dev/shm/__KMP_REGISTERED_LIB_%d_%d%s", pid, user, behind);
    int file = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(file >= 0);
    close(file);
}

static void file_set_time(time_t when)
{
    const struct timespec times[] = {{.tv_sec = when}, {.tv_sec = when}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Whether the file is gone; it is, afterwards. */
static bool is_removed(time_t since)
{
    leftovers_remove(0, since);
    return unlink(path) != 0;
}

static pid_t process_make(void)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

TEST(test_libomp)
{
    time_t now = time(NULL);
    int own = (int)getuid();
    pid_t child = process_make();
    file_make(child, own, "");
    assert_false(is_removed(now)); /* it runs */
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    file_make(child, own, "");
    assert_true(is_removed(now)); /* nobody has asked for its end */
    assert_int_equal(waitpid(child, NULL, 0), child);
    file_make(child, own, "");
    assert_true(is_removed(now));
    file_make(child, own, "");
    file_set_time(now - 3600);
    assert_false(is_removed(now)); /* made before */
    file_make(child, own + 1, "");
    assert_false(is_removed(now)); /* another user's */
    file_make(child, own, "x");
    assert_false(is_removed(now)); /* another name */
}

static bool segment_is_removed(const char *name, const char *job)
{
    snprintf(path, sizeof(path), "/dev/shm/%s.%u.%s", name, (unsigned)getuid(), job);
    int file = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(file >= 0);
    close(file);
    leftovers_remove(leftovers_job("PMIX_NAMESPACE=prterun-vm-14715@1"), time(NULL));
    return unlink(path) != 0;
}

/* Names as Open MPI 4.1.4 and 5.0.7 make them. */
TEST(segments_of_a_job)
{
    assert_int_equal(leftovers_job("PMIX_NAMESPACE=1230831617"), 1230831617);
    assert_int_equal(leftovers_job("PMIX_NAMESPACE=prterun-vm-14715@1"), 0xf7a00001);
    assert_int_equal(leftovers_job("PMIX_NAMESPACE=slurm.pmix"), 0);
    assert_int_equal(leftovers_job("PMIX_RANK=3"), 0);
    assert_true(segment_is_removed("sm_segment.vm", "f7a00001.2"));
    assert_false(segment_is_removed("sm_segment.vm", "f7a00002.2"));
    assert_true(segment_is_removed("vader_segment.vm", "f7a00001.2"));
    assert_false(segment_is_removed("others.vm", "f7a00001.2"));
}
