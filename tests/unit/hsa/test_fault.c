/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_fault.c: what cannot be executed, and a kernel that loses its GPU: the program is told by
 * the queue's callback, nobody waits for ever, and the other GPU goes on with what it was given.
 * Covers: src/hsa/fault.c src/hsa/driver.c
 */
#include "tests/unit/test.h"
#include <unistd.h>
#include "program.h"

TEST_GROUP(program_start, NULL)

static void wait_until_told(int gpu)
{
    for (int i = 0; i < 5000 && !__atomic_load_n(&program.told[gpu], __ATOMIC_SEQ_CST); i++) {
        omprma_progress();
        usleep(1000);
    }
}

static bool called;

static bool on_signal(hsa_signal_value_t value, void *data)
{
    (void)value, (void)data;
    __atomic_store_n(&called, true, __ATOMIC_SEQ_CST);
    return false;
}

TEST(handlers_of_a_destroyed_signal_are_not_called)
{
    hsa_signal_t signal = program_signal(1), other = program_signal(1);

    OK(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, on_signal, NULL));
    OK(hsa_signal_destroy(signal));
    OK(hsa_amd_signal_async_handler(other, HSA_SIGNAL_CONDITION_LT, 1, on_signal, NULL));
    assert_false(called);
    hsa_signal_subtract_screlease(other, 1);
    for (int i = 0; i < 5000 && !__atomic_load_n(&called, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    assert_true(called);
    OK(hsa_signal_destroy(other));
}

TEST(a_packet_that_makes_no_sense_stops_its_queue)
{
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = 64,
                                           .grid_size_x = 100,
                                           .kernel_object = program_kernel(1, "add.kd")};

    program_packet(1, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    wait_until_told(1);
    assert_int_equal(program.told[1], HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    assert_non_null(strstr(late.line, "100 work items"));
    program.told[1] = HSA_STATUS_SUCCESS;
}

TEST(a_kernel_that_faults_loses_its_gpu_only)
{
    uint64_t *words = program_allocate(program.arguments, 24), got = 0, put = 5;
    void *here = program_allocate(program.memory[0], 8),
         *there = program_allocate(program.memory[1], 8);
    hsa_signal_t done = program_signal(1), fetched = program_signal(1);

    program_launch(0, "fault.kd", words, done);
    program_copy(0, &got, here, 8, &done, 1, fetched);
    assert_true(hsa_signal_wait_scacquire(fetched, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                          HSA_WAIT_STATE_BLOCKED) < 0);
    wait_until_told(0);
    assert_int_equal(program.told[0], HSA_STATUS_ERROR_EXCEPTION);
    assert_int_equal(hsa_memory_copy(here, &put, 8), HSA_STATUS_ERROR_EXCEPTION);
    OK(hsa_memory_copy(there, &put, 8));
    OK(hsa_memory_copy(&got, there, 8));
    assert_int_equal(got, 5);
    assert_int_equal(program.told[1], HSA_STATUS_SUCCESS);
    OK(hsa_signal_destroy(done));
    OK(hsa_signal_destroy(fetched));
    OK(hsa_shut_down());
    assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}
