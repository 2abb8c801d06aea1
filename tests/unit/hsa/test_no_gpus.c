/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_no_gpus.c: the HSA library where omprma cannot begin: there is the host's agent only, and a
 * line. A child that is forked after the start can begin again, and has no GPU either. A library
 * that looks for GPUs while omprma begins is told that there is none.
 * Covers: src/hsa/driver.c src/hsa/gpu.c starting.c
 */
#include "tests/unit/test.h"
#include <sys/wait.h>
#include <unistd.h>
#include "fake_gpus.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"

static hsa_status_t count_agent(hsa_agent_t agent, void *data)
{
    assert_int_equal(agent.handle, cpu_agent.handle);
    ++*(int *)data;
    return HSA_STATUS_SUCCESS;
}

static int agents(void)
{
    int count = 0;

    assert_int_equal(hsa_iterate_agents(count_agent, &count), HSA_STATUS_SUCCESS);
    return count;
}

static hsa_status_t inside[2];

static void look_for_gpus(void)
{
    int count = 0;

    inside[0] = hsa_init();
    inside[1] = hsa_iterate_agents(count_agent, &count);
}

TEST(without_omprma_there_is_the_host_only)
{
    const char *text;

    fake.inside = look_for_gpus;
    assert_int_equal(hsa_status_string(HSA_STATUS_ERROR, &text), HSA_STATUS_SUCCESS);
    fake.begins = OMPRMA_ERR_CONFIG;
    assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
    assert_int_equal(inside[0], HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(inside[1], HSA_STATUS_ERROR_NOT_INITIALIZED);
    assert_int_equal(fake.said, 1);
    assert_string_equal(fake.line, "the stand-in refuses");
    assert_int_equal(agents(), 1);
    assert_int_equal(gpu_count(), 0);
}

TEST(a_forked_child_begins_again_without_gpus)
{
    fake.said = 0;
    pid_t child = fork();
    if (child == 0) {
        bool well = hsa_iterate_agents(count_agent, NULL) == HSA_STATUS_ERROR_NOT_INITIALIZED &&
                    hsa_init() == HSA_STATUS_SUCCESS && fake.said == 1 && agents() == 1 &&
                    hsa_init() == HSA_STATUS_SUCCESS && fake.said == 1;
        _exit(well ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
