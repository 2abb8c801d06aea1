/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_traced.c: a child is traced from the moment when it says so.
 * Covers: traced.c */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/traced.h"

TEST(children_and_their_tracer)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_false(process_is_traced(child));
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    if (WIFSTOPPED(status)) /* else tracing is forbidden here */
        assert_true(process_is_traced(child));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_false(process_is_traced(child));
}
