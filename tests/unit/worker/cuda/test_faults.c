/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_faults.c: faults of NVIDIA GPUs, with the stand-in for the driver; see gpu_faults.h.
 * Covers: worker/cuda/cuda.c gpu/stream.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/cuda/cuda_fixture.h"

#define FAULT_CODE ILLEGAL_ADDRESS
#include "tests/unit/worker/gpu/gpu_faults.h"

enum { LOST_WRONG = 1, LOST_OTHERWISE, LOST_BEFORE };

/* A fill behind a kernel that lasts: the n-th call says that there was a fault. */
static int lose_behind_a_kernel(int n)
{
    unsigned char bytes[64] = {1};
    struct gate gate;
    omprma_queue_t *queue, *later;
    omprma_addr_t kernel, block;
    omprma_status_t status;
    bool done;

    start_all();
    kernel = look_up(GPU, "standin_gate");
    block = core_alloc(GPU, sizeof(bytes));
    queue = core_queue(GPU);
    later = core_queue(GPU);
    gpu_keep_busy(queue, kernel, &gate);
    omprma_queue_flush(queue);
    fail_call(n, ILLEGAL_ADDRESS);
    if (omprma_fill(queue, block, bytes, 1, sizeof(bytes)) == OMPRMA_OK)
        omprma_queue_flush(queue);
    while (!count_things().failed)
        omprma_queue_query(queue, &done);
    core_open(&gate);
    if (omprma_queue_synchronize(queue) != OMPRMA_ERR_KERNEL ||
        omprma_error_code() != ILLEGAL_ADDRESS)
        return LOST_WRONG;
    status = omprma_retrieve(later, bytes, block, sizeof(bytes));
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(later);
    if (status != OMPRMA_ERR_DEVICE_LOST)
        return LOST_WRONG;
    return strcmp(count_things().failed, "cuEventRecord") == 0 ? LOST_BEFORE : LOST_OTHERWISE;
}

/* Also by the call that comes before the first one of a command's own. */
TEST(a_gpu_is_lost_behind_a_kernel)
{
    bool before = false;

    for (int n = 1; n <= 6; n++) {
        int status = in_a_process(lose_behind_a_kernel, n, 60);

        if (!WIFEXITED(status) || WEXITSTATUS(status) <= LOST_WRONG)
            fail_msg("call %d: 0x%x", n, (unsigned)status);
        before |= WEXITSTATUS(status) == LOST_BEFORE;
    }
    assert_true(before);
}
