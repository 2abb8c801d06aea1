/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_quota.c: what sessions of a slot hold together, against a model; who asks at once; who is
 * killed.
 * Covers: quota.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/draw.h"
#include "worker/quota.h"

enum { FREE = 1000, SLOTS = 3, SESSIONS = 20, LIMIT = 5000 };

static struct quota *quota;

static int make_page(void **state)
{
    (void)state;
    return quota_create(FREE, &quota) != OMPRMA_OK;
}

static int close_page(void **state)
{
    (void)state;
    quota_close(quota);
    return 0;
}
TEST_EACH(make_page, close_page)

/* As the agent and the process that it starts do it. */
static struct quota *join(int entry)
{
    struct quota *session;
    char text[32];
    int fd = dup(quota_descriptor(quota));
    snprintf(text, sizeof(text), "%d,%d", fd, entry);
    setenv(QUOTA_VARIABLE, text, 1);
    assert_int_equal(quota_join(&session), OMPRMA_OK);
    assert_null(getenv(QUOTA_VARIABLE));
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    return session;
}

TEST(without_an_agent_there_is_none)
{
    struct quota *session;
    unsetenv(QUOTA_VARIABLE);
    assert_int_equal(quota_join(&session), OMPRMA_OK);
    assert_null(session);
}

TEST(what_no_agent_sets_is_refused)
{
    static const char *const wrong[] = {"", "7", "x,1", "7,1x", "1,1", "7,-1", "7,4096", "700,1"};
    struct quota *session;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        setenv(QUOTA_VARIABLE, wrong[i], 1);
        assert_int_not_equal(quota_join(&session), OMPRMA_OK);
        assert_null(session);
    }
    unsetenv(QUOTA_VARIABLE);
}

TEST(random_sessions_are_as_in_the_model)
{
    struct {
        struct quota *session;
        int entry, slot;
        uint64_t bytes;
    } all[SESSIONS] = {0};
    struct draw from = {.state = 97};
    int refused = 0;
    for (int step = 0; step < 20000; step++) {
        int which = (int)draw_below(&from, SESSIONS);
        uint64_t bytes = draw_below(&from, LIMIT / 2), sum = 0;
        if (!all[which].session) {
            all[which].slot = (int)draw_below(&from, SLOTS);
            all[which].entry = quota_enter(quota, all[which].slot);
            all[which].session = join(all[which].entry);
            all[which].bytes = 0;
            assert_int_equal(quota_free_bytes(all[which].session), FREE);
            continue;
        }
        for (int i = 0; i < SESSIONS; i++)
            if (i != which && all[i].session && all[i].slot == all[which].slot)
                sum += all[i].bytes;
        assert_int_equal(quota_others(all[which].session), sum);
        switch ((int)draw_below(&from, 8)) {
        case 0: /* with what it holds */
            quota_close(all[which].session);
            quota_leave(quota, all[which].entry);
            all[which].session = NULL;
            break;
        case 1:
            quota_give(all[which].session, all[which].bytes);
            all[which].bytes = 0;
            break;
        default: {
            bool fits = sum + all[which].bytes + bytes <= LIMIT;
            assert_int_equal(quota_take(all[which].session, bytes, LIMIT), fits);
            all[which].bytes += fits ? bytes : 0;
            refused += !fits;
        }
        }
    }
    assert_true(refused > 100);
    for (int i = 0; i < SESSIONS; i++)
        quota_close(all[i].session);
}

TEST(there_is_an_end_of_sessions)
{
    for (int i = 0; i < QUOTA_SESSIONS_MOST; i++)
        assert_int_equal(quota_enter(quota, 0), i);
    assert_int_equal(quota_enter(quota, 0), -1);
    quota_leave(quota, -1);
    quota_leave(quota, 7);
    assert_int_equal(quota_enter(quota, 1), 7);
}

/* Takes and gives as fast as it can; no more than two can hold so much. */
static void hurry(int entry, _Atomic int *holders)
{
    struct quota *session = join(entry);
    for (;;)
        if (quota_take(session, LIMIT / 2, LIMIT)) {
            if (atomic_fetch_add(holders, 1) >= 2)
                _exit(1);
            atomic_fetch_sub(holders, 1);
            quota_give(session, LIMIT / 2);
        }
}

TEST(killed_sessions_leave_nothing)
{
    _Atomic int *holders =
        mmap(NULL, sizeof(*holders), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(holders != MAP_FAILED);
    pid_t children[4];
    int entries[4], status;
    struct quota *session;
    for (int i = 0; i < 4; i++) {
        entries[i] = quota_enter(quota, 0);
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            hurry(entries[i], holders);
    }
    usleep(50000);
    for (int i = 0; i < 4; i++) {
        kill(children[i], SIGKILL);
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFSIGNALED(status));
    }
    for (int i = 0; i < 4; i++) /* holders does not know of those that were killed with memory */
        quota_leave(quota, entries[i]);
    session = join(quota_enter(quota, 0));
    assert_int_equal(quota_others(session), 0);
    assert_true(quota_take(session, LIMIT, LIMIT));
    quota_close(session);
    munmap(holders, sizeof(*holders));
}
