/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * try_path.c: All processes are tried at the same time, since what takes long are the first
 * transfers, which wait for connections. What is in memory follows from the rank, the step, and the
 * place.
 */
#include "control/direct/try_path.h"

#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

enum step { WAS_THERE, IS_PUT, IS_FORGOTTEN };

/* With one process. */
struct trial {
    struct transfer transfer;
    bool is_done; /* also if there is none */
    unsigned char memory[TRY_PATH_BYTES];
};

struct tries {
    struct datapath *path;
    const uint64_t *addresses;
    int ranks, limit_s;
    struct trial *trials; /* by rank */
};

static unsigned char pattern(int rank, enum step step, size_t at)
{
    return (unsigned char)((at * 31 + at / 251) ^ (size_t)(rank * 7 + (int)step * 101));
}

static void fill(unsigned char *memory, int rank, enum step step)
{
    for (size_t at = 0; at < TRY_PATH_BYTES; at++)
        memory[at] = pattern(rank, step, at);
}

void try_path_fill(unsigned char *memory, int rank)
{
    fill(memory, rank, WAS_THERE);
}

static void fill_all(const struct tries *tries, enum step step)
{
    for (int rank = 0; rank < tries->ranks; rank++)
        if (tries->addresses[rank])
            fill(tries->trials[rank].memory, rank, step);
}

static omprma_status_t check_all(const struct tries *tries, enum step step)
{
    for (int rank = 0; rank < tries->ranks; rank++)
        for (size_t at = 0; tries->addresses[rank] && at < TRY_PATH_BYTES; at++)
            if (tries->trials[rank].memory[at] != pattern(rank, step, at))
                return error_set(OMPRMA_ERR_PROTOCOL, "data of worker %d is wrong from byte %zu on",
                                 rank - 1, at);
    return OMPRMA_OK;
}

static omprma_status_t start_all(const struct tries *tries, enum transfer_direction direction)
{
    omprma_status_t status = OMPRMA_OK;

    for (int rank = 0; rank < tries->ranks && status == OMPRMA_OK; rank++) {
        struct trial *trial = &tries->trials[rank];

        trial->is_done = !tries->addresses[rank];
        if (trial->is_done)
            continue;
        trial->transfer = (struct transfer){.direction = direction,
                                            .peer = rank,
                                            .local = trial->memory,
                                            .remote = tries->addresses[rank],
                                            .bytes = TRY_PATH_BYTES};
        status = datapath_start(tries->path, &trial->transfer);
        trial->is_done = status != OMPRMA_OK;
    }
    return status;
}

/* One look at each. *left: some are not done. */
static omprma_status_t test_all(const struct tries *tries, bool *left)
{
    *left = false;
    for (int rank = 0; rank < tries->ranks; rank++) {
        struct trial *trial = &tries->trials[rank];
        omprma_status_t status = OMPRMA_OK;

        if (!trial->is_done)
            status = datapath_test(tries->path, &trial->transfer, &trial->is_done);
        if (status != OMPRMA_OK) {
            trial->is_done = true;
            return status;
        }
        *left |= !trial->is_done;
    }
    return OMPRMA_OK;
}

static omprma_status_t move_all(const struct tries *tries, enum transfer_direction direction)
{
    int64_t until = clock_ns() + tries->limit_s * INT64_C(1000000000);
    omprma_status_t status = start_all(tries, direction);
    bool left = true;

    while (left && status == OMPRMA_OK) {
        status = test_all(tries, &left);
        if (status == OMPRMA_OK && left && clock_ns() >= until)
            return error_set(OMPRMA_ERR_DEVICE_LOST, "nothing has come for %d s", tries->limit_s);
        if (left)
            sched_yield();
    }
    return status;
}

static omprma_status_t run(const struct tries *tries)
{
    omprma_status_t status = move_all(tries, TRANSFER_IN);

    if (status == OMPRMA_OK)
        status = check_all(tries, WAS_THERE);
    fill_all(tries, IS_PUT);
    if (status == OMPRMA_OK)
        status = move_all(tries, TRANSFER_OUT);
    if (status != OMPRMA_OK)
        return status;
    fill_all(tries, IS_FORGOTTEN);
    status = move_all(tries, TRANSFER_IN);
    return status == OMPRMA_OK ? check_all(tries, IS_PUT) : status;
}

omprma_status_t try_path(struct datapath *path, const uint64_t *addresses, int ranks, int limit_s,
                         void **kept)
{
    struct tries tries = {path, addresses, ranks, limit_s,
                          calloc((size_t)ranks, sizeof(struct trial))};
    omprma_status_t status;

    *kept = tries.trials;
    if (!tries.trials)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to try a data path");
    for (int rank = 0; rank < ranks; rank++)
        tries.trials[rank].is_done = true;
    status = run(&tries);
    for (int rank = 0; rank < ranks; rank++)
        if (!tries.trials[rank].is_done)
            datapath_abandon(path, &tries.trials[rank].transfer);
    if (status == OMPRMA_OK) {
        free(tries.trials);
        *kept = NULL;
    }
    return status;
}
