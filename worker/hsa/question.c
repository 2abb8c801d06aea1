/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * question.c: what omprma_device_ask() asks a GPU (base/hsa_questions.h), on the helper thread. A
 * question is taken apart, the runtime is asked, and its answer is copied out.
 */
#include <stdio.h>
#include <string.h>

#include "base/hsa_questions.h"
#include "worker/gpu/question.h"
#include "worker/hsa/hsa.h"
#include "worker/map.h"

/* ---- the device ---- */

static omprma_status_t ask_summary(const struct hsa *hsa, struct backend_ask *ask)
{
    const struct rocr *rocr = hsa->rocr;
    char text[GPU_SUMMARY_BYTES];
    uint16_t major = 0, minor = 0;
    const char *build = NULL;
    int bytes;

    rocr->system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
    rocr->system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
    if (rocr->system_get_info(HSA_AMD_SYSTEM_INFO_BUILD_VERSION, &build) != HSA_STATUS_SUCCESS)
        build = NULL;
    bytes = snprintf(text, sizeof(text),
                     "ISA %s, %u compute units, HSA runtime %u.%u%s%.40s%s, bus %s, %.1f GiB",
                     hsa->isa, hsa->units, major, minor, build ? " (" : "", build ? build : "",
                     build ? ")" : "", hsa->bus, (double)hsa->pool_bytes / (1 << 30));
    return gpu_question_give(ask, text, (size_t)bytes);
}

static omprma_status_t ask_facts(struct hsa *hsa, struct backend_ask *ask)
{
    uint32_t first = 0;
    omprma_status_t status =
        gpu_question_take(ask, &first, sizeof(first), sizeof(struct hsa_facts));

    return status == OMPRMA_OK ? rocr_facts(hsa, first, ask) : status;
}

/* Runtimes before ROCm 5.3 do not say what others use. */
static omprma_status_t ask_free(const struct hsa *hsa, struct backend_ask *ask)
{
    uint64_t bytes = 0;
    int code = rocr_fault_code(hsa);

    if (code)
        return rocr_error(hsa->rocr, code, "free memory of the GPU");
    code = hsa->rocr->agent_get_info(hsa->agent, HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &bytes);
    if (code)
        bytes = hsa->pool_bytes - hsa->gpu.used_bytes;
    return gpu_question_give(ask, &bytes, sizeof(bytes));
}

/* ---- modules ---- */

static size_t symbol_bytes(const struct hsa_content *content)
{
    return (sizeof(struct hsa_symbol) + strlen(content->name) + 7) & ~(size_t)7;
}

static void put_symbol(const struct hsa_content *content, char *to)
{
    const struct hsa_symbol symbol = {
        .address = content->address,
        .bytes = content->bytes,
        .kind = content->kernel,
        .argument_bytes = content->argument_bytes,
        .argument_alignment = content->argument_alignment,
        .group_bytes = content->group_bytes,
        .private_bytes = content->private_bytes,
        .flags = (content->dynamic_stack ? HSA_SYMBOL_DYNAMIC_STACK : 0) |
                 (content->constant ? HSA_SYMBOL_CONSTANT : 0),
        .name_bytes = (uint32_t)strlen(content->name),
    };

    memset(to, 0, symbol_bytes(content));
    memcpy(to, &symbol, sizeof(symbol));
    memcpy(to + sizeof(symbol), content->name, symbol.name_bytes);
}

static omprma_status_t ask_symbols(struct hsa *hsa, struct backend_ask *ask)
{
    struct hsa_symbols_question question = {0};
    struct hsa_symbols head;
    const struct hsa_content *contents = NULL;
    size_t used = sizeof(head);
    uint32_t total = 0;
    omprma_status_t status = gpu_question_take(ask, &question, sizeof(question), sizeof(head));

    if (status == OMPRMA_OK)
        status = rocr_module_contents(hsa, question.module, &contents, &total);
    if (status != OMPRMA_OK)
        return status;
    head = (struct hsa_symbols){.first = question.first, .total = total};
    for (uint32_t i = question.first; i < total; i++) {
        size_t bytes = symbol_bytes(&contents[i]);

        if (bytes > ask->room - used)
            break;
        put_symbol(&contents[i], (char *)ask->answer + used);
        used += bytes;
        head.count++;
    }
    memcpy(ask->answer, &head, sizeof(head));
    ask->answered = used;
    return OMPRMA_OK;
}

static omprma_status_t ask_unload(struct hsa *hsa, const struct backend_ask *ask)
{
    uint64_t module = 0;
    omprma_status_t status = gpu_question_take(ask, &module, sizeof(module), 0);

    return status == OMPRMA_OK ? rocr_module_unload(hsa, module) : status;
}

static omprma_status_t ask_avoid(const struct backend_ask *ask)
{
    struct hsa_addresses range = {0};
    omprma_status_t status = gpu_question_take(ask, &range, sizeof(range), 0);

    if (status == OMPRMA_OK && range.bytes > 0)
        map_nothing(range.begin, range.bytes);
    return status;
}

omprma_status_t rocr_answer(struct gpu *gpu, struct backend_ask *ask)
{
    struct hsa *hsa = hsa_of(gpu);

    switch (ask->what) {
    case GPU_ASK_SUMMARY:
        return ask_summary(hsa, ask);
    case HSA_ASK_FACTS:
        return ask_facts(hsa, ask);
    case HSA_ASK_FREE:
        return ask_free(hsa, ask);
    case HSA_ASK_SYMBOLS:
        return ask_symbols(hsa, ask);
    case HSA_ASK_UNLOAD:
        return ask_unload(hsa, ask);
    case HSA_ASK_AVOID:
        return ask_avoid(ask);
    default:
        return error_set(OMPRMA_ERR_UNSUPPORTED, "HSA devices do not know question %u", ask->what);
    }
}
