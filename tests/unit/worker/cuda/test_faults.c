/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_faults.c: faults of NVIDIA GPUs, with the stand-in for the driver; see gpu_faults.h.
 * Covers: worker/cuda/cuda.c gpu/stream.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/cuda/cuda_fixture.h"

#define FAULT_CODE ILLEGAL_ADDRESS
#include "tests/unit/worker/gpu/gpu_faults.h"

enum { LOST_WRONG = 1, LOST_RIGHT };

/* What comes before the first call of a command's own. */
static const char before[] = "cuEventRecord";

/* A fill behind a kernel that lasts: the n-th call says that there was a fault; 0: the one that
 * comes before. */
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
    fail_call_of(n ? NULL : before, n ? n : 1, ILLEGAL_ADDRESS);
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
    return status == OMPRMA_ERR_DEVICE_LOST ? LOST_RIGHT : LOST_WRONG;
}

TEST(a_gpu_is_lost_behind_a_kernel)
{
    for (int n = 0; n <= 6; n++) {
        int status = in_a_process(lose_behind_a_kernel, n, 60);

        if (!WIFEXITED(status) || WEXITSTATUS(status) != LOST_RIGHT)
            fail_msg("call %d: 0x%x", n, (unsigned)status);
    }
}
