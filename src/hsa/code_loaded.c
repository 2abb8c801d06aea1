/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * code_loaded.c: a code object is sent to the worker once, which then says all that it holds, so
 * that programs that ask for one symbol after another need no round trips.
 */
#include <stdlib.h>
#include <string.h>

#include <omprma_private/owner.h>

#include "hsa/executable.h"
#include "hsa/gpu.h"
#include "hsa/lanes.h"
#include "hsa/memory.h"
#include "hsa/result.h"
#include "face/driver/devices.h"

enum {
    ANSWER_BYTES = 64 << 10,
    PLACES_TRIED = 8 /* for code whose variables are at addresses that are used here, too */
};

/* ---- what the worker says ------------------------------------------------------------------- */

static size_t symbol_words(const struct hsa_symbol *symbol)
{
    return (sizeof(*symbol) + symbol->name_bytes + 7) / 8;
}

static char *name_copy(const struct hsa_symbol *symbol)
{
    char *name = malloc((size_t)symbol->name_bytes + 1);

    if (name) {
        memcpy(name, symbol + 1, symbol->name_bytes);
        name[symbol->name_bytes] = 0;
    }
    return name;
}

/* Takes one; it counts when it is whole. */
static omprma_status_t symbol_add(struct loaded *loaded, const struct hsa_symbol *about)
{
    struct symbol *symbol = &loaded->symbols[loaded->count];
    bool added;

    *symbol = (struct symbol){.loaded = loaded, .name = name_copy(about)};
    if (!symbol->name)
        return OMPRMA_ERR_HOST_MEMORY;
    memcpy(&symbol->about, about, sizeof(symbol->about));
    loaded->count++;
    if (about->kind == HSA_SYMBOL_KIND_KERNEL) {
        symbol->kernel = (struct kernel){.address = about->address,
                                         .argument_bytes = about->argument_bytes,
                                         .name = symbol->name};
        added = kernel_add(loaded->gpu, &symbol->kernel);
    } else {
        added = about->bytes == 0 ||
                memory_add_variable(loaded->gpu, about->address, about->bytes, loaded);
    }
    return added ? OMPRMA_OK : OMPRMA_ERR_HOST_MEMORY;
}

/* Of an answer of `bytes` in all; the worker may be another version's, so sizes are checked. */
static omprma_status_t symbols_take(struct loaded *loaded, const struct hsa_symbols *answer,
                                    size_t bytes)
{
    size_t room = (bytes - sizeof(*answer)) / 8, at = 0;
    omprma_status_t status = OMPRMA_OK;

    for (uint32_t i = 0; i < answer->count && status == OMPRMA_OK; i++) {
        const struct hsa_symbol *symbol = (const struct hsa_symbol *)&answer->symbols[at];
        if (room - at < sizeof(*symbol) / 8 || symbol->name_bytes > bytes ||
            room - at < symbol_words(symbol) || loaded->count >= answer->total)
            return OMPRMA_ERR_PROTOCOL;
        at += symbol_words(symbol);
        status = symbol_add(loaded, symbol);
    }
    return status;
}

static omprma_status_t symbols_ask(struct loaded *loaded, struct hsa_symbols *answer)
{
    struct hsa_symbols_question question = {.module = loaded->module, .first = loaded->count};
    size_t bytes = 0;
    omprma_status_t status = omprma_device_ask(loaded->gpu->device, HSA_ASK_SYMBOLS, &question,
                                               sizeof(question), answer, ANSWER_BYTES, &bytes);

    if (status != OMPRMA_OK)
        return status;
    if (bytes < sizeof(*answer))
        return OMPRMA_ERR_PROTOCOL;
    if (!loaded->symbols)
        loaded->symbols = calloc((size_t)answer->total + 1, sizeof(*loaded->symbols));
    if (!loaded->symbols)
        return OMPRMA_ERR_HOST_MEMORY;
    status = symbols_take(loaded, answer, bytes < ANSWER_BYTES ? bytes : (size_t)ANSWER_BYTES);
    if (status == OMPRMA_OK && answer->count == 0 && loaded->count < answer->total)
        return OMPRMA_ERR_PROTOCOL;
    return status;
}

static omprma_status_t symbols_find(struct loaded *loaded)
{
    struct hsa_symbols *answer = malloc(ANSWER_BYTES);
    omprma_status_t status = answer ? OMPRMA_OK : OMPRMA_ERR_HOST_MEMORY;

    if (answer)
        answer->total = 1;
    while (status == OMPRMA_OK && loaded->count < answer->total)
        status = symbols_ask(loaded, answer);
    free(answer);
    return status;
}

/* ---- code that needs the host while it runs -------------------------------------------------- */

/* Such code waits on the GPU for a thread of the host to do what it has left in memory that both
 * can reach; there is none. */
static bool needs_host(const struct loaded *loaded)
{
    static const char *const names[] = {"__llvm_libc_rpc_client", "__llvm_rpc_client"};

    for (uint32_t i = 0; i < loaded->count; i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            if (strcmp(loaded->symbols[i].name, names[k]) == 0) {
                report_error("HSA: code for %s holds %s: it calls the host while kernels run "
                             "(printf, files or memory of a C library for GPUs), which GPUs of "
                             "workers cannot; link it without that library",
                             loaded->gpu->isa, names[k]);
                return true;
            }
        }
    }
    return false;
}

/* ---- life ----------------------------------------------------------------------------------- */

static hsa_status_t load(struct gpu *gpu, const void *image, size_t bytes, struct loaded **loaded)
{
    struct loaded *made = calloc(1, sizeof(*made));
    hsa_status_t result = gpu_usable(gpu);

    if (!made)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    made->gpu = gpu;
    if (result == HSA_STATUS_SUCCESS)
        result = result_of(gpu, omprma_module_load(gpu->device, image, bytes, &made->module));
    if (result != HSA_STATUS_SUCCESS) {
        free(made);
        return result;
    }
    omprma_status_t status = symbols_find(made);
    if (status == OMPRMA_ERR_PROTOCOL)
        report_error("HSA: GPU %d: what a worker says of a code object cannot be read",
                     gpu->ordinal);
    result = status == OMPRMA_ERR_PROTOCOL ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT
                                           : result_of(gpu, status);
    if (result == HSA_STATUS_SUCCESS && needs_host(made))
        result = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (result != HSA_STATUS_SUCCESS) {
        loaded_free(made);
        return result;
    }
    *loaded = made;
    return HSA_STATUS_SUCCESS;
}

/* Whether nothing else here has a variable's addresses. */
static bool is_apart(struct loaded *loaded, const struct hsa_symbol *about)
{
    return !memory_is_elsewhere(loaded->gpu, about->address, about->bytes);
}

/* Sees to it that it stays so. Memory of GPUs is kept anyway; where a variable is in there, blocks
 * tell. */
static bool stays_apart(struct loaded *loaded, const struct hsa_symbol *about)
{
    omprma_addr_t block;
    uint64_t bytes;

    return omprma_owner(about->address, &block, &bytes) >= 0 ||
           keep_add(&loaded->keep, about->address, about->bytes);
}

/* The first variable that is not so; NULL: none. */
static const struct symbol *find_variable(struct loaded *loaded,
                                          bool (*is_so)(struct loaded *loaded,
                                                        const struct hsa_symbol *about))
{
    for (uint32_t i = 0; i < loaded->count; i++) {
        const struct hsa_symbol *about = &loaded->symbols[i].about;

        if (about->kind != HSA_SYMBOL_KIND_KERNEL && about->bytes > 0 && !is_so(loaded, about))
            return &loaded->symbols[i];
    }
    return NULL;
}

/* A variable whose address means something else here, too; NULL: none, and so it stays. */
static const struct symbol *find_clash(struct loaded *loaded)
{
    const struct symbol *clash = find_variable(loaded, is_apart);

    return clash ? clash : find_variable(loaded, stays_apart);
}

/* The worker keeps from its runtime what this process has there: that may be gigabytes, and what is
 * loaded next would lie beside the first one. If it does not hear of it, the next one may clash. */
static void tell_taken(const struct loaded *loaded, const struct symbol *clash)
{
    struct hsa_addresses range = {0};

    range.begin = omprma_addresses_taken(clash->about.address, clash->about.bytes, &range.bytes);
    if (range.bytes > 0)
        device_ask(loaded->gpu->device, HSA_ASK_AVOID, &range, sizeof(range), NULL, 0);
}

/* Copies name memory by address alone, and the loader of a worker's runtime puts variables where it
 * wants. Where that clashes the code is loaded once more, while the first one keeps its place. */
hsa_status_t loaded_make(struct gpu *gpu, const void *image, size_t bytes, struct loaded **loaded)
{
    struct loaded *made[PLACES_TRIED];
    const struct symbol *clash = NULL;
    hsa_status_t result;
    int count = 0;

    do {
        result = load(gpu, image, bytes, &made[count]);
        if (result != HSA_STATUS_SUCCESS)
            break;
        clash = find_clash(made[count]);
        if (clash)
            tell_taken(made[count], clash);
        count++;
    } while (clash && count < PLACES_TRIED);
    if (result == HSA_STATUS_SUCCESS && clash) {
        report_error(
            "HSA: variable %s of code for GPU %d is at an address, 0x%llx, that is used in "
            "this process, too, wherever the worker loads it; start the run again",
            clash->name, gpu->ordinal, (unsigned long long)clash->about.address);
        result = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    if (result == HSA_STATUS_SUCCESS)
        *loaded = made[--count];
    while (count > 0)
        loaded_free(made[--count]);
    return result;
}

void loaded_free(struct loaded *loaded)
{
    struct gpu *gpu = loaded->gpu;

    lanes_settle(lanes_of(gpu));
    memory_drop_variables(gpu, loaded);
    for (uint32_t i = 0; i < loaded->count; i++) {
        if (loaded->symbols[i].about.kind == HSA_SYMBOL_KIND_KERNEL)
            kernel_take(gpu, &loaded->symbols[i].kernel);
        free(loaded->symbols[i].name);
    }
    if (gpu_usable(gpu) == HSA_STATUS_SUCCESS)
        result_of(gpu, device_ask(gpu->device, HSA_ASK_UNLOAD, &loaded->module,
                                  sizeof(loaded->module), NULL, 0));
    keep_clear(&loaded->keep);
    free(loaded->symbols);
    free(loaded);
}
