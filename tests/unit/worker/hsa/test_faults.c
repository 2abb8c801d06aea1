/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_faults.c: faults of AMD GPUs, with the stand-in for the HSA runtime; see gpu_faults.h.
 * Covers: worker/hsa/fault.c gpu/stream.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/hsa/hsa_fixture.h"

#define FAULT_CODE HSA_STATUS_ERROR_MEMORY_FAULT
#include "tests/unit/worker/gpu/gpu_faults.h"

/* The copy has begun, behind a kernel that lasts, when the GPU that it goes to is lost. The runtime
 * would never end it, nor what stands behind it in that queue of the runtime. */
static int copy_to_the_lost(int number)
{
    const uint64_t code = FAULT_CODE;
    struct gate gate;
    omprma_addr_t from, to;
    omprma_queue_t *queue, *bad;

    (void)number;
    start_all();
    from = core_alloc(GPU_TOO, 4096);
    to = core_alloc(GPU, 4096);
    queue = core_queue(GPU_TOO);
    bad = core_queue(GPU);
    gpu_keep_busy(queue, look_up(GPU_TOO, "standin_gate"), &gate);
    assert_ok(omprma_exchange(queue, from, GPU, to, 4096));
    assert_ok(omprma_queue_flush(queue));
    assert_ok(omprma_launch(bad, look_up(GPU, "standin_fault"), NULL, &code, 1));
    assert_int_equal(omprma_queue_synchronize(bad), OMPRMA_ERR_KERNEL);
    core_open(&gate);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    assert_int_equal(omprma_error_code(), FAULT_CODE);
    there_and_back(GPU_TOO, 100000, look_up(GPU_TOO, "standin_add"));
    omprma_queue_destroy(queue);
    omprma_queue_destroy(bad);
    core_stop();
    return EXIT_SUCCESS;
}

TEST(a_copy_to_a_lost_gpu_ends)
{
    assert_int_equal(in_a_process(copy_to_the_lost, 0, LIMIT_S), 0);
}
