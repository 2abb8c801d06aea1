/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fake_gpus.h: libomprma for tests of what the HSA library answers: four devices, of which the
 * second and the fourth are AMD GPUs that say facts. A test may have omprma not begin, and an
 * answer cut to few facts at a time, or damaged.
 */
#ifndef OMPRMA_TESTS_FAKE_GPUS_H
#define OMPRMA_TESTS_FAKE_GPUS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma/omprma.h>
#include <omprma_private/say.h>

#include "base/hsa_abi.h"
#include "base/hsa_questions.h"
#include "host/start/starting.h"
#include "hsa/lanes.h"

enum { FAKE_DEVICES = 4, FAKE_RICH = 1, FAKE_POOR = 3, FAKE_WORDS = 4096 };

static struct fake {
    omprma_status_t begins; /* what omprma_init() returns */
    void (*inside)(void);   /* called from inside of omprma_init(), as by MPI's libraries */
    bool other;             /* all devices are of other kinds */
    unsigned at_once;       /* facts in one answer; 0: all */
    bool damaged;           /* sizes of facts are beyond the answer */
    int asked;              /* questions for facts */
    int said;               /* lines */
    char line[2048];        /* the last one */
    uint64_t words[FAKE_WORDS];
    size_t count, used;
    int code;
} fake;

/* ---- facts ---------------------------------------------------------------------------------- */

static void fake_fact(enum hsa_subject subject, unsigned index, uint32_t attribute,
                      const void *value, size_t bytes)
{
    struct hsa_fact *fact = (struct hsa_fact *)&fake.words[fake.used];

    *fact = (struct hsa_fact){.subject = (uint16_t)subject,
                              .index = (uint16_t)index,
                              .attribute = attribute,
                              .bytes = (uint32_t)bytes};
    memset(fact->value, 0, (bytes + 7) / 8 * 8);
    memcpy(fact->value, value, bytes);
    fake.used += (sizeof(*fact) + bytes + 7) / 8;
    fake.count++;
}

static void fake_text(enum hsa_subject subject, unsigned index, uint32_t attribute,
                      const char *text)
{
    fake_fact(subject, index, attribute, text, strlen(text));
}

static void fake_number(enum hsa_subject subject, unsigned index, uint32_t attribute,
                        uint64_t number, size_t bytes)
{
    fake_fact(subject, index, attribute, &number, bytes);
}

/* What every GPU says. */
static void fake_least(const char *isa, uint64_t memory)
{
    fake.used = fake.count = 0;
    fake_text(HSA_OF_ISA, 0, HSA_ISA_INFO_NAME, isa);
    fake_number(HSA_OF_POOL, 0, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, HSA_AMD_SEGMENT_GROUP, 4);
    fake_number(HSA_OF_POOL, 1, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, HSA_AMD_SEGMENT_GLOBAL, 4);
    fake_number(HSA_OF_POOL, 1, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, 4);
    fake_number(HSA_OF_POOL, 1, HSA_AMD_MEMORY_POOL_INFO_SIZE, memory, 8);
}

static void fake_rich(void)
{
    static const uint16_t group[3] = {1024, 512, 256};
    static const uint32_t grid[3] = {1000, 2000, 3000}, caches[4] = {16384, 8 << 20, 0, 0};

    fake_least("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+", 64ull << 30);
    fake_text(HSA_OF_ISA, 1, HSA_ISA_INFO_NAME, "amdgcn-amd-amdhsa--gfx9-generic");
    fake_text(HSA_OF_AGENT, 0, HSA_AGENT_INFO_NAME, "gfx90a");
    fake_text(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_PRODUCT_NAME, "AMD Instinct");
    fake_text(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_UUID, "GPU-0123456789abcdef");
    fake_number(HSA_OF_AGENT, 0, HSA_AGENT_INFO_WAVEFRONT_SIZE, 64, 4);
    fake_fact(HSA_OF_AGENT, 0, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, group, sizeof(group));
    fake_number(HSA_OF_AGENT, 0, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 1024, 4);
    fake_fact(HSA_OF_AGENT, 0, HSA_AGENT_INFO_GRID_MAX_DIM, grid, sizeof(grid));
    fake_number(HSA_OF_AGENT, 0, HSA_AGENT_INFO_GRID_MAX_SIZE, UINT32_MAX, 4);
    fake_number(HSA_OF_AGENT, 0, HSA_AGENT_INFO_QUEUE_MAX_SIZE, 131072, 4);
    fake_fact(HSA_OF_AGENT, 0, HSA_AGENT_INFO_CACHE_SIZE, caches, sizeof(caches));
    fake_number(HSA_OF_AGENT, 0, HSA_AGENT_INFO_PROFILE, HSA_PROFILE_FULL, 4);
    fake_number(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 104, 4);
    fake_number(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, 100, 4);
    fake_number(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 32, 4);
    fake_number(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, 25000000, 8);
    fake_number(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, 1, 8);
    fake_number(HSA_OF_AGENT, 0, HSA_AMD_AGENT_INFO_CHIP_ID, 0x740c, 4);
    fake_fact(HSA_OF_ISA, 0, HSA_ISA_INFO_WORKGROUP_MAX_DIM, group, sizeof(group));
    fake_number(HSA_OF_ISA, 0, HSA_ISA_INFO_WORKGROUP_MAX_SIZE, 1024, 4);
    fake_fact(HSA_OF_ISA, 0, HSA_ISA_INFO_GRID_MAX_DIM, grid, sizeof(grid));
    fake_number(HSA_OF_ISA, 0, HSA_ISA_INFO_GRID_MAX_SIZE, UINT32_MAX, 8);
    fake_number(HSA_OF_ISA, 0, HSA_ISA_INFO_FBARRIER_MAX_SIZE, 32, 4);
}

/* From number `first` on, as many as a test wants. */
static size_t fake_answer(uint32_t first, struct hsa_facts *answer, size_t room)
{
    size_t at = 0, words = 0;

    *answer = (struct hsa_facts){.first = first, .total = (uint32_t)fake.count};
    for (uint32_t i = 0; i < fake.count; i++) {
        const struct hsa_fact *fact = (const struct hsa_fact *)&fake.words[at];
        size_t size = (sizeof(*fact) + fact->bytes + 7) / 8;
        if (i >= first && (!fake.at_once || answer->count < fake.at_once) &&
            sizeof(*answer) + 8 * (words + size) <= room) {
            memcpy(&answer->facts[words], fact, 8 * size);
            if (fake.damaged)
                ((struct hsa_fact *)&answer->facts[words])->bytes = UINT32_MAX;
            words += size;
            answer->count++;
        }
        at += size;
    }
    return sizeof(*answer) + 8 * words;
}

/* ---- libomprma ------------------------------------------------------------------------------ */

omprma_status_t omprma_init(void)
{
    starting_set(true);
    if (fake.inside)
        fake.inside();
    starting_set(false);
    return fake.begins;
}

void omprma_finalize(void)
{
}

const char *omprma_error(void)
{
    return "the stand-in refuses";
}

int omprma_error_code(void)
{
    return fake.code;
}

int omprma_device_count(void)
{
    return fake.begins == OMPRMA_OK ? FAKE_DEVICES : 0;
}

omprma_status_t omprma_device_info(int device, omprma_device_info_t *info)
{
    *info = (omprma_device_info_t){0};
    bool gpu = !fake.other && (device == FAKE_RICH || device == FAKE_POOR);
    strcpy(info->backend, gpu ? "hsa" : "native");
    return OMPRMA_OK;
}

omprma_status_t omprma_device_ask(int device, uint32_t what, const void *question, size_t bytes,
                                  void *answer, size_t room, size_t *answered)
{
    static const uint64_t free_bytes = 1000000;
    uint32_t first;

    if (what == HSA_ASK_FREE) {
        memcpy(answer, &free_bytes, sizeof(free_bytes));
        *answered = sizeof(free_bytes);
        return OMPRMA_OK;
    }
    if (what != HSA_ASK_FACTS || bytes != sizeof(first))
        abort();
    memcpy(&first, question, sizeof(first));
    if (device == FAKE_RICH)
        fake_rich();
    else
        fake_least("amdgcn-amd-amdhsa--gfx1100", 8ull << 30);
    fake.asked++;
    *answered = fake_answer(first, answer, room);
    return OMPRMA_OK;
}

void omprma_say(int severity, const char *text)
{
    (void)severity;
    fake.said++;
    snprintf(fake.line, sizeof(fake.line), "%s", text);
}

omprma_status_t omprma_alloc(int device, size_t bytes, omprma_addr_t *address)
{
    (void)device, (void)bytes, (void)address;
    return OMPRMA_ERR_DEVICE_MEMORY;
}

omprma_status_t omprma_free(int device, omprma_addr_t address)
{
    (void)device, (void)address;
    return OMPRMA_OK;
}

omprma_status_t omprma_progress_thread(int wanted)
{
    (void)wanted;
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_hold(omprma_queue_t *queue,
                                  void (*reached)(omprma_hold_t *hold, void *data,
                                                  omprma_status_t status),
                                  void *data)
{
    (void)queue, (void)reached, (void)data;
    return OMPRMA_ERR_UNSUPPORTED;
}

/* GPUs that only say facts have nothing to do. */
void lanes_settle_all(void)
{
}

void omprma_hold_end(omprma_hold_t *hold)
{
    (void)hold;
}

#endif
