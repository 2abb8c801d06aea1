/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * work.c: the only place where the runtime uses queues and events. Small pieces on their way to the
 * device are gathered, and so are those on their way back, with a launch between the two; whatever
 * cannot join them sends them first.
 */
#include "openmp/run/work.h"

#include <stdlib.h>
#include <string.h>

#include <omprma_private/memory.h>
#include <omprma_private/unwaited.h>

#include "base/clock.h"
#include "openmp/abi/location.h"
#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/device/remains.h"
#include "openmp/device/spare.h"
#include "openmp/run/fault.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

struct kept {
    struct kept *next;
    _Alignas(16) unsigned char bytes[];
};

/* What comes back waits here until all is complete: the host's memory is as it was when the host
 * has to do the work. */
struct arrival {
    struct arrival *next;
    void *to;
    size_t bytes;
    _Alignas(16) unsigned char content[];
};

/* After a failure that was reported. True: the host, or another site, does what this one did not.
 */
static bool work_goes_on(struct work *work)
{
    work->lost = work->spared && (work->struck || site_is_lost(work->site));
    work->failed = work->failed || !work->lost;
    return work->lost;
}

/* A wrong address is the program's: it knows it by the variable's name. */
static bool address_told(const struct work *work)
{
    struct name name = name_of(work->moved);
    return report(work->where, NULL, "\"%.*s\": %s", name.length, name.text, omprma_error());
}

static bool plainly_told(void *work, int status)
{
    return report_status(((const struct work *)work)->where, status);
}

/* Where several sites serve the space, the lost one may be another. */
static bool is_of_loss(struct work *work, int status, bool (*tell)(void *context, int status))
{
    bool is = losses_matter() && losses_explain(work->where, status, work->losses, tell, work);
    work->struck |= is;
    return is;
}

static bool work_told(struct work *work, omprma_status_t status)
{
    if (status == OMPRMA_OK)
        return true;
    if (status == OMPRMA_ERR_ARGUMENT && work->moved)
        return address_told(work);
    if (is_of_loss(work, status, plainly_told))
        return false;
    if (work->exchanges)
        return report_status(work->where, status);
    return loss_status(work->where, work->site, status);
}

static bool work_issued(struct work *work, omprma_status_t status)
{
    return work_told(work, status) || work_goes_on(work);
}

/* ---- begin and end -------------------------------------------------------------------------- */

static bool queue_make(struct work *work, omprma_queue_t **queue)
{
    return *queue || work->lost ||
           work_issued(work, omprma_queue_create(work->site->remote, queue));
}

/* Its own queue, which knows whether anybody waits. */
static bool queue_own(struct work *work, bool unwaited)
{
    if (!queue_make(work, &work->own))
        return false;
    work->queue = work->own;
    if (work->own && work->own_unwaited != unwaited)
        omprma_queue_unwaited(work->own, unwaited);
    work->own_unwaited = unwaited;
    return true;
}

/* The queue of small works in flight whose turn it is. The caller holds the device's lock. */
static bool queue_share(struct work *work)
{
    struct site *site = work->site;
    work->slot = (int)(work->number % (uint64_t)site->shared_count);
    omprma_queue_t **shared = &site->shared[work->slot];
    if (!queue_make(work, shared))
        return false;
    work->queue = *shared;
    return true;
}

static void work_give(struct work *work)
{
    work->number = 0;
    work->next_free = work->device->free_works;
    work->device->free_works = work;
}

/* The caller holds the device's lock. */
static struct work *work_take(struct device *device, const struct location *where)
{
    struct work *work = device->free_works;
    if (work)
        device->free_works = work->next_free;
    else
        work = calloc(1, sizeof(*work));
    if (!work) {
        report(where, &device->site, "no host memory for a target construct");
        return NULL;
    }
    work->device = device;
    work->site = &device->site;
    work->where = where;
    work->number = ++device->space->works;
    work->failed = work->departed = work->computes = work->exchanges = false;
    work->spared = work->lost = work->misplaced = work->restores = false;
    work->repeats = false;
    work->struck = work->leaves = work->idles = work->readied = work->broken = false;
    work->losses = losses_seen();
    work->placed_end = 0;
    work->moved = NULL;
    work->launched = NULL;
    work->begins = NULL;
    work->private_bytes = 0;
    sent_begin(&work->sent, false);
    work->strays.count = 0;
    work->over = work->told = NULL;
    work->stored = 0;
    work->slot = -1;
    return work;
}

struct work *work_begin_locked(struct device *device, const struct location *where,
                               enum work_kind kind)
{
    struct work *work = work_take(device, where);
    bool flies = kind == WORK_FLIGHT || kind == WORK_SMALL;
    if (work && (kind == WORK_SPARED || (flies && losses_matter()))) {
        work->spared = true;
        work->lost = work->idles = site_is_lost(work->site);
    }
    bool right = work && (kind == WORK_SMALL ? queue_share(work) : queue_own(work, flies));
    if (right && (flies || losses_matter()) && !work->end)
        right = report_status(where, omprma_event_create(&work->end));
    if (right)
        work->in_flight = flies;
    if (right)
        ompt_queue(work->queue);
    else if (work)
        work_give(work);
    return right ? work : NULL;
}

struct work *work_begin(struct device *device, const struct location *where, enum work_kind kind)
{
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device, where, kind);
    pthread_mutex_unlock(&device->space->lock);
    return work;
}

static void pointer_restore(struct attached *pointer, void *context)
{
    (void)context;
    memcpy((void *)pointer->pointer, pointer->host_value, pointer->bytes);
}

/* Small ranges stay where they are, for the next construct that maps them, as long as what a
 * construct maps lies side by side. Where constructs map the same variables in other ways, places
 * are given anew, for twice as many constructs each time. */
static bool work_keeps_places(const struct work *work)
{
    enum { FIRST = 16, MOST = 1 << 16 };
    struct suballocator *memory = &work->device->space->memory;
    if (work->misplaced) {
        uint32_t twice = 2 * memory->patience;
        memory->patience = twice < FIRST ? FIRST : twice > MOST ? MOST : twice;
        memory->anew = memory->patience;
        mapping_forget(&work->device->space->mapping);
        return false;
    }
    memory->anew -= memory->anew > 0;
    return memory->anew == 0;
}

static void pinned_end(struct work *work, struct pinned *pinned, bool keep)
{
    struct device *device = work->device;
    struct mapped *mapped = pinned->mapped;
    LIST_REMOVE(pinned, link);
    pinned->next = work->spare;
    work->spare = pinned;
    if (!mapped_is_over(mapped))
        return;
    if (keep && mapped->memory.block) { /* it is small */
        mapping_vacate(&device->space->mapping, mapped);
        return;
    }
    struct suballoc part = mapped->memory;
    mapping_remove(&device->space->mapping, mapped);
    if (!suballoc_give(&device->space->memory, work->where, &part))
        work->failed = true;
}

/* What came back may hold device pointers; and ranges that nobody has mapped or uses any more go.
 */
static void work_unpin(struct work *work, bool arrived)
{
    for (struct pinned *each = work->pinned; each && arrived && work->restores; each = each->next)
        if (each->bytes > 0)
            mapped_each_pointer(each->mapped, each->begin, each->bytes, pointer_restore, NULL);
    bool keep = work_keeps_places(work) && !site_is_lost(work->site);
    for (struct pinned *next, *each = work->pinned; each; each = next) {
        next = each->next;
        pinned_end(work, each, keep);
    }
    work->pinned = NULL;
}

/* Puts what came back for `begin` to `end` where it belongs, or drops it. */
static void arrivals_end(struct work *work, const char *begin, const char *end, bool deliver)
{
    struct arrival *reversed = NULL, **link = &work->arrived;
    for (struct arrival *each; (each = *link);) {
        if ((char *)each->to >= end || (char *)each->to + each->bytes <= begin) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = reversed; /* in the order in which they were asked for */
        reversed = each;
    }
    for (struct arrival *next, *each = reversed; each; each = next) {
        next = each->next;
        if (deliver)
            memcpy(each->to, each->content, each->bytes);
        free(each);
    }
}

static bool has_arrivals(const struct work *work, const struct mapped *mapped)
{
    for (const struct arrival *each = work->arrived; each; each = each->next)
        if ((uintptr_t)each->to < mapped->end && (uintptr_t)each->to + each->bytes > mapped->begin)
            return true;
    return false;
}

/* The first of the works before `number` for which something of the range has come back. */
static struct work *earliest_of(const struct mapped *mapped, uint64_t number)
{
    struct work *earliest = NULL;
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->number < (earliest ? earliest->number : number) && has_arrivals(each->work, mapped))
        earliest = each->work;
    return earliest;
}

/* What came back goes where it belongs, after what earlier works have brought to the same place:
 * they may come here later. The caller holds the device's lock. */
static void work_deliver(struct work *work, bool arrived)
{
    if (!work->arrived)
        return;
    for (const struct pinned *own = work->pinned; own && arrived; own = own->next) {
        struct work *earlier;
        /* Only a range that it has retrieved has waited for what others retrieve. */
        while (own->retrieved && (earlier = earliest_of(own->mapped, work->number)))
            arrivals_end(earlier, (char *)own->mapped->begin, (char *)own->mapped->end, true);
    }
    arrivals_end(work, NULL, (char *)UINTPTR_MAX, arrived);
}

/* How it has ended, in words of the program. */
static bool end_told(void *context, int status)
{
    const struct work *work = context;
    const struct crash crash = {work->where, work->device, &work->strays, work->pinned};
    return fault_report(&crash, status);
}

static bool work_is_spared(const struct work *work)
{
    const struct needs needs = {work->where, work->pinned, work->computes};
    return spare(work->site, &work->device->space->mapping, &needs);
}

static void bringers_end(struct work *work)
{
    struct work *each = work->bringers;
    work->bringers = NULL;
    for (struct work *next; each; each = next) {
        next = each->next_bringer;
        enum work_result result = work_end(each);
        work->lost |= result == WORK_LOST && work->spared;
        work->failed |= result == WORK_FAILED || (result == WORK_LOST && !work->spared);
    }
}

/* ---- losses --------------------------------------------------------------------------------- */

/* Its pin of the range that has this byte. */
static const struct pinned *pinned_at(const struct work *work, uintptr_t at)
{
    for (const struct pinned *each = work->pinned; each; each = each->next)
        if (at >= each->mapped->begin && at < each->mapped->end)
            return each;
    return NULL;
}

/* Behind those that write it or bring it there. */
static bool fetch_follow(struct work *fetch, const struct work *work, const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->work != work && (each->writes || (each->brings && each->work->site == fetch->site)) &&
        !work_wait_for(fetch, each->work))
        return false;
    return true;
}

/* From a site that has it. The caller holds the lock, which is given up meanwhile. */
static enum work_result fetch_once(const struct work *work, const struct mapped *mapped,
                                   struct arrival *arrival)
{
    struct space *space = work->device->space;
    struct device *from = device_of_site(__builtin_ctzll(mapped_present(mapped)));
    struct work *fetch = work_begin_locked(from, work->where, WORK_SPARED);
    omprma_addr_t at = mapped_address(mapped, (uintptr_t)arrival->to);
    bool right = fetch && fetch_follow(fetch, work, mapped) &&
                 work_retrieve_own(fetch, arrival->content, at, arrival->bytes);
    pthread_mutex_unlock(&space->lock);
    enum work_result result = fetch ? work_end(fetch) : WORK_FAILED;
    if (result == WORK_LOST)
        losses_pause();
    pthread_mutex_lock(&space->lock);
    return right ? result : WORK_FAILED;
}

/* What the work was to bring home comes from other sites, which compute it again if they have to,
 * or is there still. False: reported. */
static bool work_fetch(struct work *work)
{
    struct space *space = work->device->space;
    for (struct arrival *each = work->arrived; each; each = each->next) {
        const struct pinned *pinned = pinned_at(work, (uintptr_t)each->to);
        enum work_result result = WORK_LOST;
        while (pinned && result == WORK_LOST) {
            if (space->has_pending && !space->recompute(work->device, work->where))
                return false;
            if (pinned->mapped->lost)
                break;
            result = fetch_once(work, pinned->mapped, each);
            losses_settle(space, work->where);
        }
        if (result == WORK_FAILED)
            return false;
    }
    return true;
}

/* Of what comes home nothing is lost, but what is there still. */
static bool arrivals_are_sound(struct work *work)
{
    for (const struct pinned *each = work->pinned; each; each = each->next) {
        const struct mapped *mapped = each->mapped;
        if (!each->retrieved || !mapped->lost)
            continue;
        if (!remains_at_home(mapped))
            return spare_refused(work->where, NULL, mapped);
        arrivals_end(work, (char *)mapped->begin, (char *)mapped->end, false);
    }
    return true;
}

/* Has any of it been done? */
static bool work_has_begun(const struct work *work)
{
    return !work->idles && (!work->readied || omprma_event_synchronize(work->ready) == OMPRMA_OK);
}

/* What a work on a site that is lost by now has done there is gone; it is done again, unless
 * something is asked once all is complete. */
static void remains_end(struct work *work, bool arrived)
{
    const struct space *space = work->device->space;
    bool news = false;
    const struct remains_end end = {
        .site = work->site,
        .done = arrived && !work->failed,
        .begun = !arrived && !work->site->settled && work_has_begun(work),
        .computes = work->computes,
    };
    for (struct pinned *each = work->pinned; each; each = each->next) {
        remains_over(each, &end);
        news |= mapped_is_pending(each->mapped);
    }
    if (end.done && work->computes && space->region_done)
        space->region_done(work->number);
    if (news)
        losses_tell(work->device->space, work->where);
}

/* How it ends where others go on for a lost site. *arrived: it is done. */
static void work_survive(struct work *work, bool *arrived)
{
    losses_settle(work->device->space, work->where);
    if (work->spared && work->pinned && !(work->over && work->computes) && work->site->settled)
        work->lost = true;
    *arrived = *arrived && !work->lost;
    if (!*arrived)
        remains_end(work, false);
    if (work->lost && work->leaves && device_is_served(work->device) && !work->failed) {
        work->failed = !work_fetch(work);
        work->lost = work->failed;
        *arrived = !work->failed;
    }
    if (*arrived && !work->failed)
        work->failed = !arrivals_are_sound(work);
}

static bool work_ended_well(struct work *work, omprma_status_t status)
{
    if (status == OMPRMA_OK)
        return true;
    if (is_of_loss(work, status, end_told))
        return false;
    return work->exchanges ? end_told(work, status)
                           : loss_status_told(work->where, work->site, status, end_told, work);
}

/* Is it the host's to do what is lost, and can it not? */
static bool host_fails(const struct work *work)
{
    return work->lost && !work->repeats && !(losses_matter() && device_is_served(work->device)) &&
           !work_is_spared(work);
}

/* They are cleaned up now: who follows what they bring follows this work, which has failed with
 * them. */
static void bringers_forget(struct work *work)
{
    if (!work->bringers)
        return;
    pthread_mutex_lock(&work->device->space->lock);
    for (struct pinned *each = work->pinned; each; each = each->next)
        each->bringer = NULL;
    pthread_mutex_unlock(&work->device->space->lock);
}

/* The queue is done. */
static enum work_result work_over(struct work *work, omprma_status_t status)
{
    struct device *device = work->device;
    if (__builtin_expect(work->traced != NULL, 0))
        ompt_arrive_told(work->traced);
    work->traced = NULL;
    if (!work_ended_well(work, status))
        work_goes_on(work);
    bringers_forget(work);
    bringers_end(work);
    bool arrived = status == OMPRMA_OK && !work->lost;
    if (work->over && arrived && !work->over(work))
        work_goes_on(work);
    if (work->told && arrived && !work->lost && !work->told(work))
        work_goes_on(work);
    arrived &= !work->lost;
    for (struct kept *next, *each = work->kept; each; each = next) {
        next = each->next;
        free(each);
    }
    work->kept = NULL;
    if (work->gather) /* what an error has left behind */
        work->gather->end = work->gather->begin;
    if (work->scatter)
        work->scatter->count = 0;
    work->region = NULL;
    pthread_mutex_lock(&device->space->lock);
    bool survives = losses_matter();
    if (survives)
        work_survive(work, &arrived);
    if (work->loaded.usual)
        (arrived ? load_end : load_drop)(&work->site->load, &work->loaded, clock_ns());
    work_deliver(work, arrived && !work->failed);
    if (survives && arrived)
        remains_end(work, true);
    if (host_fails(work))
        work->failed = true;
    work_unpin(work, arrived);
    if (!suballoc_give(&device->space->memory, work->where, &work->privates))
        work->failed = true;
    if (!suballoc_give(&device->space->memory, work->where, &work->search))
        work->failed = true;
    if (!suballoc_give(&device->space->memory, work->where, &work->promised.sums))
        work->failed = true;
    work->privates = work->search = work->promised.sums = (struct suballoc){0};
    work->promised.count = work->promised.changed = 0;
    enum work_result result = work->failed ? WORK_FAILED : work->lost ? WORK_LOST : WORK_DONE;
    if (survives && work->queue && work->queue == work->own)
        omprma_queue_synchronize(work->queue); /* it is done, and clean now */
    work_give(work);
    pthread_mutex_unlock(&device->space->lock);
    return result;
}

bool work_depart(struct work *work)
{
    work->departed = true;
    return work->lost || work_issued(work, omprma_event_record(work->end, work->queue));
}

/* Where others go on for a lost site, who follows a work has to fail with it until it is over. So
 * its queue is not made clean here. */
static omprma_status_t queue_survive(struct work *work)
{
    omprma_status_t status = work->queue ? omprma_event_record(work->end, work->queue) : OMPRMA_OK;
    return work->queue && status == OMPRMA_OK ? omprma_event_synchronize(work->end) : status;
}

/* A queue of its own is clean again afterwards; one that is shared has others' operations, too. */
enum work_result work_end(struct work *work)
{
    if (losses_matter())
        return work_over(work, queue_survive(work));
    if (work->queue == work->own)
        return work_over(work, work->queue ? omprma_queue_synchronize(work->queue) : OMPRMA_OK);
    if (!work->departed)
        work_depart(work);
    return work_over(work, omprma_event_synchronize(work->end));
}

bool work_has_arrived(struct work *work)
{
    bool done;
    return omprma_event_query(work->end, &done) != OMPRMA_OK || done;
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Takes the pending region, with its gathered copies attached. What the copies back have to wait
 * for is in the queue already. */
static omprma_region_t *region_take(struct work *work)
{
    omprma_region_t *region = work->region;
    work->region = NULL;
    if (work->gather)
        gather_give(work->gather, region);
    if (work->scatter && work->scatter->count > 0)
        scatter_give(work->scatter, region);
    return region;
}

static bool region_send(struct work *work)
{
    omprma_region_t *region = region_take(work);
    return work->lost || work_issued(work, omprma_region(work->queue, region));
}

/* What stands before anything that is retrieved. */
static bool work_send_there(struct work *work)
{
    struct gather *gather = work->gather;
    if (work->region)
        return region_send(work);
    return !gather || gather->begin == gather->end || work->lost ||
           work_issued(work, gather_issue(gather, work->queue));
}

static bool send_gathered(struct work *work)
{
    struct scatter *scatter = work->scatter;
    if (work->region)
        return region_send(work);
    return work_send_there(work) && (!scatter || scatter->count == 0 || work->lost ||
                                     work_issued(work, scatter_issue(scatter, work->queue)));
}

bool work_send(struct work *work)
{
    return (work->region && !work->in_flight) || send_gathered(work);
}

static void device_unlock(void *device)
{
    pthread_mutex_unlock(&((struct device *)device)->space->lock);
}

enum work_result work_end_locked(struct work *work)
{
    struct device *device = work->device;
    if (work->region && losses_matter())
        region_send(work);
    if (work->region && !work->lost)
        return work_over(work,
                         omprma_region_wait(work->queue, region_take(work), device_unlock, device));
    device_unlock(device);
    return work_end(work);
}

void work_launch_between(struct work *work, omprma_region_t *region)
{
    work->region = region;
    work->launched = region;
}

bool work_launch(struct work *work, omprma_addr_t kernel, const omprma_geometry_t *geometry,
                 const uint64_t *words, size_t count)
{
    return send_gathered(work) &&
           (work->lost ||
            work_issued(work, omprma_launch(work->queue, kernel, geometry, words, count)));
}

static bool submit(struct work *work, omprma_addr_t to, const void *from, size_t bytes,
                   const omprma_shape_t *shape)
{
    return send_gathered(work) &&
           (work->lost ||
            work_issued(work, shape ? omprma_submit_strided(work->queue, to, from, shape)
                                    : omprma_submit(work->queue, to, from, bytes)));
}

/* Where there is no host memory for it, the piece travels alone. */
bool work_submit_beside(struct work *work, const struct suballoc *part, omprma_addr_t to,
                        const void *from, size_t bytes)
{
    if (work->lost)
        return true;
    sent_add(&work->sent, to, from, bytes);
    if ((work->region || (work->scatter && work->scatter->count > 0)) && !send_gathered(work))
        return false;
    if (!work->gather)
        work->gather = calloc(1, sizeof(*work->gather));
    if (!work->gather)
        return submit(work, to, from, bytes, NULL);
    if (gather_add(work->gather, part, to, from, bytes))
        return true;
    return work_send_there(work) &&
           (gather_add(work->gather, part, to, from, bytes) || submit(work, to, from, bytes, NULL));
}

bool work_submit_part(struct work *work, const struct mapped *mapped, const void *begin,
                      size_t bytes)
{
    omprma_addr_t to = mapped_address(mapped, (uintptr_t)begin);
    return work->lost || ((!mapped->memory.block ||
                           work_issued(work, omprma_memory_check(begin, bytes, false))) &&
                          work_submit_beside(work, &mapped->memory, to, begin, bytes));
}

bool work_submit(struct work *work, omprma_addr_t to, const void *from, size_t bytes,
                 const omprma_shape_t *shape)
{
    sent_add(&work->sent, to, shape ? NULL : from, bytes);
    return submit(work, to, from, bytes, shape);
}

bool work_fill(struct work *work, omprma_addr_t to, unsigned char value, size_t bytes)
{
    return send_gathered(work) &&
           (work->lost || work_issued(work, omprma_fill(work->queue, to, &value, 1, bytes)));
}

/* Where it goes until all is complete. NULL: reported. */
static void *arrival_make(struct work *work, void *to, size_t bytes)
{
    struct arrival *arrival =
        bytes < SIZE_MAX - sizeof(*arrival) ? malloc(sizeof(*arrival) + bytes) : NULL;
    if (!arrival) {
        work->failed = !report(work->where, work->site,
                               "no host memory for %zu bytes on their way back", bytes);
        return NULL;
    }
    *arrival = (struct arrival){work->arrived, to, bytes};
    work->arrived = arrival;
    return arrival->content;
}

static bool retrieve_to(struct work *work, void *place, omprma_addr_t from, size_t bytes)
{
    return place && work_issued(work, omprma_retrieve(work->queue, place, from, bytes));
}

/* Where it goes at first. */
static void *place_of(struct work *work, void *to, size_t bytes)
{
    return work->spared ? arrival_make(work, to, bytes) : to;
}

/* What is to come home is noted all the same, for another site. */
static bool retrieve_lost(struct work *work, void *to, size_t bytes)
{
    return !work->leaves || arrival_make(work, to, bytes);
}

bool work_retrieve(struct work *work, void *to, omprma_addr_t from, size_t bytes,
                   const omprma_shape_t *shape)
{
    if (!work_send_there(work))
        return false;
    if (work->lost)
        return retrieve_lost(work, to, bytes);
    if (shape)
        return work_issued(work, omprma_retrieve_strided(work->queue, to, from, shape));
    return retrieve_to(work, place_of(work, to, bytes), from, bytes);
}

bool work_retrieve_own(struct work *work, void *to, omprma_addr_t from, size_t bytes)
{
    return work->lost || (send_gathered(work) && retrieve_to(work, to, from, bytes));
}

bool work_retrieve_part(struct work *work, const struct mapped *mapped, void *begin, size_t bytes)
{
    omprma_addr_t from = mapped_address(mapped, (uintptr_t)begin);
    if (work->lost)
        return retrieve_lost(work, begin, bytes);
    if ((mapped->memory.block || work->spared) &&
        !work_issued(work, omprma_memory_check(begin, bytes, true)))
        return false;
    if (!mapped->memory.block)
        return work_retrieve(work, begin, from, bytes, NULL);
    if (!work->region && !work_send_there(work))
        return false;
    void *place = place_of(work, begin, bytes);
    if (!work->scatter)
        work->scatter = calloc(1, sizeof(*work->scatter));
    bool gathers = place && work->scatter;
    if (gathers && scatter_add(work->scatter, &mapped->memory, place, from, bytes))
        return true;
    return send_gathered(work) &&
           ((gathers && scatter_add(work->scatter, &mapped->memory, place, from, bytes)) ||
            retrieve_to(work, place, from, bytes));
}

bool work_exchange(struct work *work, omprma_addr_t from, const struct site *to_site,
                   omprma_addr_t to, size_t bytes, const omprma_shape_t *shape)
{
    int remote = to_site->remote;
    work->exchanges = true;
    return work->lost ||
           work_issued(work, shape ? omprma_exchange_strided(work->queue, from, remote, to, shape)
                                   : omprma_exchange(work->queue, from, remote, to, bytes));
}

bool work_alloc(struct work *work, const char *name, uintptr_t host, size_t bytes,
                struct suballoc *part)
{
    *part = (struct suballoc){.device = host};
    if (work->lost ||
        suballoc_take(&work->device->space->memory, work->where, name, host, bytes, part))
        return true;
    *part = (struct suballoc){.device = host};
    return work_goes_on(work);
}

omprma_addr_t work_private(struct work *work, size_t bytes)
{
    enum { ANY = 16 }; /* nobody uses it where the host is the device */
    if (!work_alloc(work, "private variables", 0, bytes, &work->privates))
        return 0;
    work->private_bytes = bytes;
    return work->lost ? ANY : work->privates.device;
}

void *work_grow(const struct work *work, void *list, size_t *room, size_t bytes, const char *what)
{
    enum { FIRST = 16 };
    size_t more = *room ? 2 * *room : FIRST;
    void *longer = reallocarray(list, more, bytes);
    if (longer)
        *room = more;
    else
        report(work->where, work->site, "no host memory for a list of %s", what);
    return longer;
}

void *work_keep(struct work *work, size_t bytes)
{
    struct kept *kept = calloc(1, sizeof(*kept) + bytes);
    if (!kept) {
        work->failed = !report(work->where, work->site,
                               "no host memory for %zu bytes of private variables", bytes);
        return NULL;
    }
    kept->next = work->kept;
    work->kept = kept;
    return kept->bytes;
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* The event is the present end of the other's queue: what matters was appended before the device's
 * lock was released. */
bool work_wait_for(struct work *work, struct work *other)
{
    if (!other->queue || work->lost) /* the host does it, or this one */
        return true;
    if (other->broken && work->spared) {
        work->struck = true;
        return work_goes_on(work);
    }
    if (work->region && !work_send_there(work))
        return false;
    return (other->event || work_issued(work, omprma_event_create(&other->event))) &&
           work_issued(work, omprma_event_record(other->event, other->queue)) &&
           work_issued(work, omprma_event_wait(other->event, work->queue));
}

bool work_await(struct work *work, struct work *bringer)
{
    bringer->next_bringer = work->bringers;
    work->bringers = bringer;
    work->lost |= bringer->lost && work->spared;
    return work->lost || work_issued(work, omprma_event_wait(bringer->end, work->queue));
}

bool work_note_ready(struct work *work)
{
    if (!losses_matter() || !work->spared)
        return true;
    work->idles |= work->lost;
    work->readied = !work->lost;
    return work->lost || ((work->ready || work_issued(work, omprma_event_create(&work->ready))) &&
                          work_issued(work, omprma_event_record(work->ready, work->queue)));
}

bool work_follow(struct work *work, struct mapped *mapped)
{
    return work->lost || !work_has_to_follow(work, mapped) || work_wait_for(work, mapped->writer);
}

bool work_follow_all(struct work *work, struct mapped *mapped)
{
    struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->work != work && !work->lost && !work_wait_for(work, each->work))
        return false;
    return true;
}

void work_write(struct work *work, struct mapped *mapped)
{
    mapped->writer = work;
    mapped->writer_number = work->number;
}

bool work_pin_again(struct work *work, struct mapped *mapped, uintptr_t begin, size_t bytes)
{
    struct pinned *pinned = work->spare;
    if (pinned)
        work->spare = pinned->next;
    else
        pinned = malloc(sizeof(*pinned));
    if (!pinned) {
        work->failed = true;
        return report(work->where, work->site, "no host memory for a list of mapped ranges");
    }
    *pinned = (struct pinned){.next = work->pinned,
                              .work = work,
                              .number = work->number,
                              .site = work->site->index,
                              .mapped = mapped,
                              .begin = begin,
                              .bytes = bytes};
    LIST_INSERT_HEAD(&mapped->pins, pinned, link);
    work->pinned = pinned;
    work->restores |= bytes > 0;
    return true;
}
