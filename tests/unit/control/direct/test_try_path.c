/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_try_path.c: a path that is right is found right, and one that is wrong in one of several
 * ways is not.
 * Covers: try_path.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/direct/try_path.h"

enum { RANKS = 4, LEFT_OUT = 2 };

enum flaw { NONE, PUTS_NOTHING, PUTS_ELSEWHERE, GETS_A_BYTE_WRONG, FAILS, NEVER_DONE };

static enum flaw flaw;
static int abandoned;
static unsigned char memory[RANKS][TRY_PATH_BYTES + 1];

static omprma_status_t start(struct datapath *path, struct transfer *t)
{
    (void)path, (void)t;
    return OMPRMA_OK;
}

static void move(const struct transfer *t)
{
    unsigned char *there = (unsigned char *)(uintptr_t)t->remote, *here = t->local;

    if (t->direction == TRANSFER_IN) {
        memcpy(here, there, t->bytes);
        here[t->bytes - 1] ^= flaw == GETS_A_BYTE_WRONG;
    } else if (flaw != PUTS_NOTHING) {
        memcpy(there + (flaw == PUTS_ELSEWHERE), here, t->bytes);
    }
}

static omprma_status_t test(struct datapath *path, struct transfer *t, bool *done)
{
    (void)path;
    if (flaw == FAILS && t->peer == RANKS - 1)
        return error_set(OMPRMA_ERR_DEVICE_LOST, "gone");
    *done = flaw != NEVER_DONE || t->peer != RANKS - 1;
    if (*done)
        move(t);
    return OMPRMA_OK;
}

static void abandon(struct datapath *path, struct transfer *t)
{
    (void)path, (void)t;
    abandoned++;
}

static omprma_status_t run(enum flaw with)
{
    struct datapath path = {.start = start, .test = test, .abandon = abandon};
    uint64_t addresses[RANKS] = {0};
    void *kept;
    omprma_status_t status;

    flaw = with;
    abandoned = 0;
    for (int rank = 1; rank < RANKS; rank++) {
        try_path_fill(memory[rank], rank);
        if (rank != LEFT_OUT)
            addresses[rank] = (uint64_t)(uintptr_t)memory[rank];
    }
    status = try_path(&path, addresses, RANKS, with == NEVER_DONE ? 0 : 10, &kept);
    assert_int_equal(kept == NULL, status == OMPRMA_OK);
    free(kept);
    return status;
}

TEST(a_path_that_is_right_is_used)
{
    assert_int_equal(run(NONE), OMPRMA_OK);
    assert_int_equal(abandoned, 0);
}

TEST(wrong_data_is_found)
{
    assert_int_equal(run(PUTS_NOTHING), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(run(PUTS_ELSEWHERE), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(run(GETS_A_BYTE_WRONG), OMPRMA_ERR_PROTOCOL);
    assert_non_null(strstr(error_text(), "data of worker 0 is wrong from byte 70000 on"));
}

TEST(what_does_not_end_is_given_up)
{
    assert_int_equal(run(NEVER_DONE), OMPRMA_ERR_DEVICE_LOST);
    assert_int_equal(abandoned, 1);
    assert_int_equal(run(FAILS), OMPRMA_ERR_DEVICE_LOST);
}
