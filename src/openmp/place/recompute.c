/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recompute.c: One work does it all, which brings the ranges to its site as others have them
 * brought from other sites: if it fails, they are lost as before, and another site tries. Its
 * kernels are looked up first: for that the lock is given up, and what is planned has to hold until
 * it is issued.
 */
#include "openmp/place/recompute.h"

#include <string.h>

#include <omprma_private/notes.h>

#include "openmp/device/losses.h"
#include "openmp/device/remains.h"
#include "openmp/image/registry.h"
#include "openmp/place/copies.h"
#include "openmp/place/lineage.h"
#include "openmp/site/report.h"

enum { KERNELS = 1024 };

/* On the site that computes. */
struct kernels {
    struct region_kernel {
        const void *host_id;
        omprma_addr_t at;
    } list[KERNELS];
    size_t count;
};

/* Of all regions that may be done again; of very many kinds some are left out. */
static void kernels_find(struct kernels *kernels, struct device *device,
                         const struct location *where)
{
    const void *ids[KERNELS];
    kernels->count = lineage_regions(ids, KERNELS);
    for (size_t i = 0; i < kernels->count; i++) {
        const struct plan *plan = registry_plan(device, ids[i], where);
        kernels->list[i] = (struct region_kernel){ids[i], plan ? plan->kernel : 0};
    }
}

static omprma_addr_t kernel_of(const struct kernels *kernels, const struct ancestor *ancestor)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernels->list[i].host_id == ancestor->host_id)
            return kernels->list[i].at;
    return 0;
}

static void table_plan(struct lineage *lineage, const struct mapping *mapping)
{
    for (struct mapped *each = mapping_first(mapping); each; each = mapping_next(each))
        if (mapped_is_pending(each) && !lineage_has(lineage, each))
            lineage_add(lineage, each);
}

/* What regions only read comes from where it is. */
static bool step_bring(struct work *work, const struct lineage *lineage,
                       const struct ancestor *ancestor)
{
    for (size_t i = 0; i < ancestor->use_count; i++) {
        const struct ancestor_use *use = &ancestor->uses[i];
        if (!use->writes && !lineage_has(lineage, use->range) &&
            !copies_use(work, use->range, false))
            return false;
    }
    return true;
}

/* What it was sent goes to its own memory. */
static bool own_give(struct work *work, const struct own *own)
{
    const struct sent_piece *piece = NULL;
    bool right = true;
    while (right && (piece = sent_next(own->sent, own->sent_bytes, piece))) {
        unsigned char *content = work_keep(work, piece->bytes);
        omprma_addr_t block = work->privates.device, to = own_address(own, block, piece->to);
        if (content)
            own_content(own, block, piece, content);
        right = content && work_submit(work, to, content, piece->bytes, NULL);
    }
    return right;
}

/* Each process has standard streams of its own. */
static void streams_move(uint64_t *words, size_t count, const struct site *from,
                         const struct site *to)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < STREAMS; k++)
            if (words[i] == from->streams[k] && words[i] != 0 && to->streams[k]) {
                words[i] = to->streams[k];
                break;
            }
}

static bool step_launch(struct work *work, const struct ancestor *ancestor, omprma_addr_t kernel)
{
    const struct own *own = ancestor->own;
    uint64_t words[LINEAGE_WORDS];
    omprma_region_t region = {.kernel = kernel,
                              .geometry = &ancestor->geometry,
                              .arguments = words,
                              .count = ancestor->count,
                              .context = ancestor->context};
    if (ancestor->count > 0)
        memcpy(words, ancestor->words, ancestor->count * sizeof(*words));
    streams_move(words, ancestor->count, ancestor->site, work->site);
    if (own && !own_give(work, own))
        return false;
    if (own)
        own_words(own, work->privates.device, words);
    work_launch_between(work, &region);
    return work_send(work);
}

/* One block for all regions, which come one after the other. */
static bool own_alloc(struct work *work, const struct lineage *lineage)
{
    size_t bytes = 0;
    for (size_t i = 0; i < lineage->step_count; i++) {
        const struct own *own = lineage->steps[i]->own;
        if (own && own->bytes > bytes)
            bytes = own->bytes;
    }
    return bytes == 0 || work_private(work, bytes) != 0;
}

static bool lineage_issue(struct work *work, const struct lineage *lineage,
                          const struct kernels *kernels)
{
    bool right = own_alloc(work, lineage);
    for (size_t i = 0; i < lineage->step_count && right; i++)
        right = step_bring(work, lineage, lineage->steps[i]);
    for (size_t i = 0; i < lineage->heir_count && right; i++)
        right = copies_remake(work, lineage->heirs[i].range, lineage->heirs[i].home);
    for (size_t i = 0; i < lineage->step_count && right; i++)
        right = step_launch(work, lineage->steps[i], kernel_of(kernels, lineage->steps[i]));
    return copies_pin(work) && right;
}

static bool can_recompute(struct space *space, struct mapped *mapped)
{
    struct lineage lineage;
    lineage_begin(&lineage, space);
    bool can = lineage_add(&lineage, mapped);
    lineage_end(&lineage);
    return can;
}

static void say(const struct work *work, const struct lineage *lineage)
{
    size_t ranges = lineage->heir_count, regions = lineage->step_count;
    report(work->where, NULL, "worker %d (%s) computes %zu region%s again, for %zu lost range%s",
           work->site->index, work->site->host, regions, regions == 1 ? "" : "s", ranges,
           ranges == 1 ? "" : "s");
}

/* Works under way may fail, and so may who follows them: what they use is left alone until they are
 * over. */
static bool is_used(const struct lineage *lineage)
{
    for (size_t i = 0; i < lineage->heir_count; i++)
        if (remains_are_used(lineage->heirs[i].range))
            return true;
    return false;
}

static void lineage_plan(struct lineage *lineage, struct space *space)
{
    lineage_begin(lineage, space);
    table_plan(lineage, &space->mapping);
    table_plan(lineage, &space->blocks);
    lineage_sort(lineage);
}

/* What is planned, on this device. NULL: reported. */
static struct work *recompute(struct device *device, const struct location *where,
                              const struct lineage *lineage, const struct kernels *kernels)
{
    struct work *work = work_begin_locked(device, where, WORK_FLIGHT);
    if (!work)
        return NULL;
    work->computes = work->repeats = true;
    if (!lineage_issue(work, lineage, kernels))
        work->failed = true;
    else if (lineage->step_count > 0)
        say(work, lineage);
    omprma_note_repeated(lineage->step_count);
    return work;
}

/* One try. The caller holds the lock, which is given up meanwhile. */
static enum work_result recompute_once(struct device *device, const struct location *where)
{
    struct space *space = device->space;
    struct kernels kernels;
    struct lineage lineage;
    enum work_result result = WORK_LOST;
    kernels_find(&kernels, device, where);
    lineage_plan(&lineage, space);
    bool now = !is_used(&lineage);
    struct work *work = NULL;
    if (lineage.heir_count == 0)
        result = WORK_DONE;
    else if (now)
        work = recompute(device, where, &lineage, &kernels);
    bool issued = lineage.heir_count > 0 && now;
    lineage_end(&lineage);
    pthread_mutex_unlock(&space->lock);
    if (issued)
        result = work ? work_end(work) : WORK_FAILED;
    if (result == WORK_LOST)
        losses_pause();
    pthread_mutex_lock(&space->lock);
    return result;
}

bool recompute_lost(struct device *device, const struct location *where)
{
    struct space *space = device->space;
    enum work_result result = WORK_DONE;
    if (losses_matter())
        losses_settle(space, where);
    while (result != WORK_FAILED && space->has_pending && device_is_served(device)) {
        result = recompute_once(device_living(device), where);
        losses_tell(space, where);
    }
    return result != WORK_FAILED;
}

void recompute_offer(struct space *space)
{
    space->can_recompute = can_recompute;
    space->recompute = recompute_lost;
    space->region_done = lineage_done;
}
