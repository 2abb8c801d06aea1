/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.c: GPUs are found once, at the start, among omprma's devices, and stay. A worker is asked for
 * all that its runtime says of one, in as few questions as the room for answers allows; attributes
 * are answered from that.
 */
#include "hsa/gpu.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "face/driver/devices.h"
#include "face/driver/report.h"
#include "hsa/handles.h"
#include "hsa/isa_name.h"

const hsa_agent_t cpu_agent = {(uint64_t)HANDLE_OF_AGENT << 32};

static const char no_memory[] = "no memory is left for what is known of AMD GPUs";

static struct gpus {
    struct gpu *all; /* written before the library counts as started */
    atomic_int count;
    void (*told)(struct gpu *gpu, hsa_status_t status);
} gpus;

/* ---- what is known of one ------------------------------------------------------------------- */

enum { ANSWER_BYTES = 64 << 10 };

static size_t fact_words(const struct hsa_fact *fact)
{
    return (sizeof(*fact) + fact->bytes + 7) / 8;
}

/* Words of whole facts in an answer; the worker may be another version's, so sizes are checked. */
static size_t facts_fit(const struct hsa_facts *answer, size_t bytes)
{
    size_t room = bytes > sizeof(*answer) ? (bytes - sizeof(*answer)) / 8 : 0, words = 0;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct hsa_fact *fact = (const struct hsa_fact *)&answer->facts[words];
        if (room - words < sizeof(*fact) / 8 || fact->bytes > bytes ||
            room - words < fact_words(fact))
            return 0;
        words += fact_words(fact);
    }
    return words;
}

static bool facts_append(struct gpu *gpu, const uint64_t *facts, size_t words)
{
    uint64_t *all = realloc(gpu->facts, (gpu->fact_words + words) * sizeof(*all));

    if (!all)
        return false;
    memcpy(all + gpu->fact_words, facts, words * sizeof(*all));
    gpu->facts = all;
    gpu->fact_words += words;
    return true;
}

/* The next facts from number `*first` on; `*last`: there are no more. */
static omprma_status_t facts_ask(struct gpu *gpu, struct hsa_facts *answer, uint32_t *first,
                                 bool *last)
{
    size_t bytes = 0;
    omprma_status_t status = omprma_device_ask(gpu->device, HSA_ASK_FACTS, first, sizeof(*first),
                                               answer, ANSWER_BYTES, &bytes);

    if (status != OMPRMA_OK)
        return status;
    if (bytes > ANSWER_BYTES)
        bytes = ANSWER_BYTES;
    size_t words = bytes < sizeof(*answer) ? 0 : facts_fit(answer, bytes);
    if (words && !facts_append(gpu, answer->facts, words))
        return OMPRMA_ERR_HOST_MEMORY;
    *first += words ? answer->count : 0;
    *last = !words || *first >= answer->total;
    return OMPRMA_OK;
}

static omprma_status_t facts_take(struct gpu *gpu)
{
    struct hsa_facts *answer = malloc(ANSWER_BYTES);
    omprma_status_t status = answer ? OMPRMA_OK : OMPRMA_ERR_HOST_MEMORY;
    uint32_t first = 0;
    bool last = false;

    while (status == OMPRMA_OK && !last)
        status = facts_ask(gpu, answer, &first, &last);
    free(answer);
    return status;
}

const struct hsa_fact *gpu_fact(const struct gpu *gpu, enum hsa_subject subject, unsigned index,
                                uint32_t attribute)
{
    for (size_t at = 0; at < gpu->fact_words;) {
        const struct hsa_fact *fact = (const struct hsa_fact *)&gpu->facts[at];
        if (fact->subject == subject && fact->index == index && fact->attribute == attribute)
            return fact;
        at += fact_words(fact);
    }
    return NULL;
}

uint64_t gpu_number(const struct gpu *gpu, enum hsa_subject subject, unsigned index,
                    uint32_t attribute, uint64_t otherwise)
{
    const struct hsa_fact *fact = gpu_fact(gpu, subject, index, attribute);
    uint64_t value = 0;

    if (!fact || fact->bytes > sizeof(value))
        return otherwise;
    memcpy(&value, fact->value, fact->bytes);
    return value;
}

omprma_status_t gpu_free_bytes(const struct gpu *gpu, uint64_t *bytes)
{
    return device_ask(gpu->device, HSA_ASK_FREE, NULL, 0, bytes, sizeof(*bytes));
}

/* ---- finding them --------------------------------------------------------------------------- */

/* Of the pool that all device memory is allocated from. */
static size_t memory_bytes(const struct gpu *gpu)
{
    for (unsigned i = 0; gpu_fact(gpu, HSA_OF_POOL, i, HSA_AMD_MEMORY_POOL_INFO_SEGMENT); i++) {
        uint64_t segment = gpu_number(gpu, HSA_OF_POOL, i, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, ~0ull);
        uint64_t flags = gpu_number(gpu, HSA_OF_POOL, i, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, 0);
        if (segment == HSA_AMD_SEGMENT_GLOBAL &&
            flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
            return gpu_number(gpu, HSA_OF_POOL, i, HSA_AMD_MEMORY_POOL_INFO_SIZE, 0);
    }
    return 0;
}

/* False: it is left out, and its line is printed. */
static bool gpu_open(struct gpu *gpu, int ordinal, int device)
{
    *gpu = (struct gpu){.ordinal = ordinal, .device = device};
    omprma_status_t status = facts_take(gpu);
    if (status != OMPRMA_OK) {
        report_error("%s", status == OMPRMA_ERR_HOST_MEMORY ? no_memory : omprma_error());
        return false;
    }
    const struct hsa_fact *isa = gpu_fact(gpu, HSA_OF_ISA, 0, HSA_ISA_INFO_NAME);
    gpu->bytes = memory_bytes(gpu);
    if (isa && gpu->bytes > 0 && isa_name(isa, gpu->isa, sizeof(gpu->isa)))
        return true;
    report_error("device %d does not say %s, and is not offered to programs for HSA", device,
                 isa && gpu->bytes > 0 ? "an instruction set with a name that can be used"
                 : isa                 ? "how much memory it has"
                                       : "which instruction set it has");
    return false;
}

/* An error where the program ends without one. Else it goes on: programs of gcc ask although they
 * need none. */
static void none_found(int devices)
{
    const char *offload = getenv("OMP_TARGET_OFFLOAD");
    bool needed = offload && strcasecmp(offload, "mandatory") == 0;

    (needed ? report_error : report_choice)(
        "no worker has an AMD GPU that it can use (%d device%s of other kinds), so programs for "
        "HSA find none; run omprma-info -v --gpus hsa to see why",
        devices, devices == 1 ? "" : "s");
}

static void gpus_free(void)
{
    for (int i = 0; i < gpus.count; i++)
        free(gpus.all[i].facts);
    free(gpus.all);
    gpus.count = 0;
}

void gpus_find(void)
{
    int devices = omprma_device_count(), count, *numbers = devices_find("hsa", &count), found = 0;

    gpus_free();
    gpus.all = numbers ? calloc((size_t)count + 1, sizeof(*gpus.all)) : NULL;
    if (!gpus.all) {
        report_error("%s", no_memory);
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        if (gpu_open(&gpus.all[found], found, numbers[i]))
            found++;
        else
            free(gpus.all[found].facts);
    }
    free(numbers);
    gpus.count = found;
    if (count == 0)
        none_found(devices);
}

void gpus_forget(void)
{
    gpus.count = 0;
}

int gpu_count(void)
{
    return gpus.count;
}

struct gpu *gpu_at(int ordinal)
{
    return ordinal >= 0 && ordinal < gpus.count ? &gpus.all[ordinal] : NULL;
}

struct gpu *gpu_of_device(int device)
{
    for (int i = 0; i < gpus.count; i++) {
        if (gpus.all[i].device == device)
            return &gpus.all[i];
    }
    return NULL;
}

/* ---- agents --------------------------------------------------------------------------------- */

struct gpu *gpu_of(hsa_agent_t agent)
{
    unsigned number, index;

    if (!handle_read(agent.handle, HANDLE_OF_AGENT, &number, &index) || index != 0)
        return NULL;
    return gpu_at((int)number - 1);
}

hsa_agent_t gpu_agent(const struct gpu *gpu)
{
    return (hsa_agent_t){handle_make(HANDLE_OF_AGENT, (unsigned)gpu->ordinal + 1, 0)};
}

bool agent_exists(hsa_agent_t agent)
{
    return agent.handle == cpu_agent.handle || gpu_of(agent) != NULL;
}

/* ---- lost ones ------------------------------------------------------------------------------ */

hsa_status_t gpu_usable(const struct gpu *gpu)
{
    return (hsa_status_t)atomic_load(&gpu->lost);
}

void gpu_when_lost(void (*told)(struct gpu *gpu, hsa_status_t status))
{
    gpus.told = told;
}

void gpu_lose(struct gpu *gpu, hsa_status_t status)
{
    uint32_t well = 0;

    if (atomic_compare_exchange_strong(&gpu->lost, &well, (uint32_t)status) && gpus.told)
        gpus.told(gpu, status);
}
