/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_sigabrt.c: a program that calls abort() tells omprma-run whether a worker had died before,
 * and ends by that signal as it would have.
 * Covers: sigabrt.c supervisor.c */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "control/shm/doorbell.h"
#include "host/start/supervisor.h"
#include "host/start/sigabrt.h"

enum way { ALL_LIVE, ONE_DIED, OWN_HANDLER, IN_CHILD, AFTER_END, WAYS };

/* The bell of a process that lives until it is killed. */
static struct doorbell *start_worker(pid_t *worker)
{
    int tells[2];
    struct shm_address address;
    struct doorbell *own;

    assert_int_equal(pipe(tells), 0);
    *worker = fork();
    assert_true(*worker >= 0);
    if (*worker == 0) {
        if (doorbell_create(&own, 0, &address) != OMPRMA_OK || doorbell_stay(own) != OMPRMA_OK ||
            write(tells[1], &address, sizeof(address)) != (ssize_t)sizeof(address))
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(tells[0], &address, sizeof(address)), sizeof(address));
    close(tells[0]);
    close(tells[1]);
    return doorbell_open(&address, 0);
}

static void own_handler(int number)
{
    (void)number;
    _exit(7);
}

static void be_program(enum way way, int report, struct doorbell *worker)
{
    struct doorbell *bells[3] = {NULL, NULL, worker};
    struct runtime runtime = {.world.size = 3, .bells = bells};
    struct rlimit no_core = {0, 0};
    char number[16];
    int status;

    setrlimit(RLIMIT_CORE, &no_core);
    snprintf(number, sizeof(number), "%d", report);
    setenv("OMPRMA_INTERNAL_FD", number, 1);
    supervisor_tell_connected();
    signal(SIGABRT, way == OWN_HANDLER ? own_handler : SIG_DFL);
    sigabrt_explain(&runtime);
    if (way == AFTER_END)
        sigabrt_end();
    if (way == IN_CHILD && fork() != 0) {
        wait(&status);
        _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 0 : 1);
    }
    abort();
}

/* What omprma-run has heard. */
static int heard_of(enum way way, char *heard, size_t room)
{
    pid_t worker, program;
    struct doorbell *bell = start_worker(&worker);
    int report[2], status;
    ssize_t bytes;

    assert_non_null(bell);
    if (way != ALL_LIVE) {
        kill(worker, SIGKILL);
        waitpid(worker, NULL, 0);
    }
    assert_int_equal(pipe(report), 0);
    program = fork();
    assert_true(program >= 0);
    if (program == 0)
        be_program(way, report[1], bell);
    close(report[1]);
    assert_int_equal(waitpid(program, &status, 0), program);
    bytes = read(report[0], heard, room - 1);
    assert_true(bytes >= 0);
    heard[bytes] = 0;
    close(report[0]);
    doorbell_close(bell);
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    return status;
}

TEST(an_abort_tells_whether_a_worker_had_died)
{
    static const char *const wanted[WAYS] = {"c", "cd", "c", "c", "c"};
    char heard[16];

    for (enum way way = 0; way < WAYS; way++) {
        int status = heard_of(way, heard, sizeof(heard));

        assert_string_equal(heard, wanted[way]);
        if (way == OWN_HANDLER || way == IN_CHILD) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), way == OWN_HANDLER ? 7 : 0);
        } else {
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), SIGABRT);
        }
    }
}
