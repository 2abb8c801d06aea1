/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_host.c: hosts of different names are different ones, however long the names are.
 * Covers: control/host.c */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "control/host.h"

TEST(same_each_time)
{
    char one[HOST_TEXT_BYTES], other[HOST_TEXT_BYTES], name[HOST_TEXT_BYTES];

    memset(one, 'x', sizeof(one)); /* as sent, all of it is compared */
    host_identity(one);
    host_identity(other);
    assert_memory_equal(one, other, sizeof(one));
    host_name(name);
    assert_string_not_equal(name, "");
    assert_string_not_equal(name, one);
}

/* Exits with 0 if a host of a longest name, changed in its last letter, is another one. */
static void rename_host(void)
{
    char name[HOST_TEXT_BYTES], one[HOST_TEXT_BYTES], other[HOST_TEXT_BYTES];

    if (unshare(CLONE_NEWUSER | CLONE_NEWUTS) != 0)
        _exit(77); /* not allowed here */
    memset(name, 'h', sizeof(name));
    if (sethostname(name, HOST_TEXT_BYTES - 1) != 0)
        _exit(77);
    host_identity(one);
    name[HOST_TEXT_BYTES - 2] = 'i';
    if (sethostname(name, HOST_TEXT_BYTES - 1) != 0)
        _exit(77);
    host_identity(other);
    _exit(strcmp(one, other) == 0);
}

TEST(differs_by_name)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        rename_host();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}
