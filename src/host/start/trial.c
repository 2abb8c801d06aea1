/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * trial.c: each word of a trial is its place and the trial's number, multiplied by an odd constant:
 * what an earlier trial or another place left there is never right. Small trials are filled and
 * compared word by word, large ones a word of each page, which costs a start little. See trial.h.
 */
#define _GNU_SOURCE
#include "host/start/trial.h"

#include <string.h>
#include <sys/mman.h>

#include "host/queue/queue.h"

enum { WORD = 8, PAGE = 4096, HUGE_PAGE = 2 << 20 };

bool trial_map(struct trial_memory *memory, uint64_t bytes)
{
    memory->mapped_bytes = bytes + HUGE_PAGE - bytes % HUGE_PAGE + HUGE_PAGE;
    memory->mapped = mmap(NULL, memory->mapped_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory->mapped == MAP_FAILED)
        return false;
    memory->here = (char *)memory->mapped + -(uintptr_t)memory->mapped % HUGE_PAGE;
    if (bytes >= HUGE_PAGE / 2)
        madvise(memory->here, memory->mapped_bytes - HUGE_PAGE, MADV_HUGEPAGE);
    return true;
}

void trial_unmap(const struct trial_memory *memory)
{
    munmap(memory->mapped, memory->mapped_bytes);
}

const uint64_t trial_sizes[TRIAL_SIZES] = {64, 8192, TRIAL_SURE, TRIAL_NEAR, TRIAL_MOST};

/* From one word that counts to the next; the last one of all counts as well. */
static uint64_t step_of(const struct trial *trial)
{
    return trial->bytes <= TRIAL_SURE ? WORD : PAGE;
}

static uint64_t look_step_of(const struct trial *trial)
{
    return trial->bytes / TRIAL_LOOKS > PAGE ? trial->bytes / TRIAL_LOOKS : PAGE;
}

static uint64_t next(const struct trial *trial, uint64_t at, uint64_t step)
{
    uint64_t last = trial->bytes - WORD;

    return at < last && at + step > last ? last : at + step;
}

static uint64_t word_at(const struct trial *trial, uint64_t at)
{
    return (at + (trial->number << 32) + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

void trial_fill(const struct trial *trial, char *data)
{
    for (uint64_t at = 0; at < trial->bytes; at = next(trial, at, step_of(trial))) {
        uint64_t word = word_at(trial, at);

        memcpy(data + at, &word, WORD);
    }
}

uint64_t trial_compare(const struct trial *trial, const char *data)
{
    for (uint64_t at = 0; at < trial->bytes; at = next(trial, at, step_of(trial))) {
        uint64_t word = word_at(trial, at);

        if (memcmp(data + at, &word, WORD) != 0)
            return at;
    }
    return trial->bytes;
}

omprma_status_t trial_look(struct trial *trial, omprma_queue_t *queue, omprma_addr_t there)
{
    struct paths *paths = &queue->device->paths, users = *paths;
    uint64_t *seen = trial->seen;
    omprma_status_t status = OMPRMA_OK;

    paths->adapt = NULL;
    paths->inline_retrieve = paths->inline_retrieve_fused = WORD;
    for (uint64_t at = 0; at < trial->bytes && status == OMPRMA_OK;
         at = next(trial, at, look_step_of(trial)))
        status = omprma_retrieve(queue, seen++, there + at, WORD);
    *paths = users;
    return status == OMPRMA_OK ? omprma_queue_flush(queue) : status; /* at once, not with others */
}

uint64_t trial_seen(const struct trial *trial)
{
    const uint64_t *seen = trial->seen;

    for (uint64_t at = 0; at < trial->bytes; at = next(trial, at, look_step_of(trial)))
        if (*seen++ != word_at(trial, at))
            return at;
    return trial->bytes;
}
