/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * construct.c: the device is chosen, then a work is made and given all of the construct, with the
 * device's lock held: maps, the region, what comes back. It is waited for, or, of a nowait
 * construct that libomp runs as a task, left in flight. A region that is waited for goes into the
 * queue with the wait. Where the run goes on after a loss, the list of maps is kept, so that the
 * host finds it as it was. A construct that takes part in a reduction over tasks waits, and is
 * alone where it maps what is shared.
 */
#include "openmp/entry/construct.h"

#include <stdlib.h>
#include <string.h>

#include <omprma_private/notes.h>

#include "openmp/device/devices.h"
#include "openmp/device/info.h"
#include "openmp/device/losses.h"
#include "openmp/image/choice.h"
#include "openmp/image/registry.h"
#include "openmp/place/placement.h"
#include "openmp/place/recompute.h"
#include "openmp/place/variables.h"
#include "openmp/site/loss.h"
#include "openmp/site/origin.h"
#include "openmp/site/report.h"
#include "openmp/task/reduction.h"
#include "openmp/task/task.h"
#include "openmp/tool/ompt.h"

static bool construct_move(struct work *work, const struct construct *construct)
{
    static const char *const titles[] = {
        /* LLVM's, letter by letter */
        [CONSTRUCT_ENTER] = "Entering OpenMP data region with being_mapper",
        [CONSTRUCT_LEAVE] = "Exiting OpenMP data region with end_mapper",
        [CONSTRUCT_UPDATE] = "Updating data within the OpenMP data region with update_mapper",
    };
    const struct device *device = work->device;
    const struct maps *maps = &construct->maps;
    if (info_wants(INFO_ARGUMENTS))
        info_arguments(construct->where, device->number, titles[construct->kind], maps->count,
                       maps->sizes, maps->types, maps->names);
    if (construct->kind == CONSTRUCT_ENTER)
        return maps_enter(work, maps);
    if (construct->kind == CONSTRUCT_LEAVE)
        return maps_settle(work, maps);
    return maps_update(work, maps);
}

static struct placed construct_placed(const struct construct *construct)
{
    return (struct placed){construct->kind, &construct->maps,
                           construct->kind == CONSTRUCT_REGION ? construct->call.host_id : NULL,
                           task_names};
}

/* Begins a work and issues all of the construct; true in *right: it went well. The caller holds the
 * lock of the device's space. */
static struct work *construct_issue(struct device *device, struct construct *construct,
                                    enum work_kind kind, struct launch *launch, bool *right)
{
    const struct placed placed = construct_placed(construct);
    if (!recompute_lost(device, construct->where))
        return NULL;
    device = placement_choose(device, &placed);
    bool region = construct->kind == CONSTRUCT_REGION, lost = device_is_lost(device);
    struct work *work = NULL;
    if (region && !lost)
        construct->call.plan = registry_plan(device, construct->call.host_id, construct->where);
    if (!region || lost || construct->call.plan)
        work = work_begin_locked(device, construct->where, kind);
    if (work)
        work->leaves = construct->kind == CONSTRUCT_LEAVE;
    if (work)
        *right = maps_are_valid(work, &construct->maps) && placement_bring(work, &placed) &&
                 (region ? region_issue(work, &construct->call, &construct->maps, launch)
                         : construct_move(work, construct));
    if (work)
        *right = placement_pin(work, &placed) && *right;
    return work;
}

/* What small works in flight share a queue for: nothing that others would have to wait for. */
static bool maps_are_small(const struct maps *maps)
{
    enum { MOST_MAPS = 32, MOST_BYTES = 2048 };
    size_t bytes = 0;
    if (maps->count > MOST_MAPS)
        return false;
    for (int i = 0; i < maps->count; i++) {
        if ((maps->mappers && maps->mappers[i]) || (maps->types[i] & MAP_NON_CONTIG) ||
            maps_bytes(maps, i) > MOST_BYTES)
            return false;
        bytes += maps_bytes(maps, i);
    }
    return bytes <= MOST_BYTES;
}

/* Issues it, and leaves it in flight. */
static bool construct_fly(struct device *device, struct construct *construct)
{
    enum work_kind kind = maps_are_small(&construct->maps) ? WORK_SMALL : WORK_FLIGHT;
    struct launch launch;
    bool right;
    ompt_fly();
    launch_begin(&launch);
    pthread_mutex_lock(&device->space->lock);
    struct work *work = construct_issue(device, construct, kind, &launch, &right);
    pthread_mutex_unlock(&device->space->lock);
    launch_clear(&launch);
    if (!work)
        return false;
    work->traced = ompt_depart();
    if (!right || !work_depart(work)) {
        work_finish(work);
        return false;
    }
    task_leave(work);
    return true;
}

static enum work_result construct_wait(struct device *device, struct construct *construct)
{
    enum work_kind kind = loss_goes_on() ? WORK_SPARED : WORK_WAITED;
    enum work_result result = WORK_FAILED;
    struct launch launch;
    bool right = false;
    launch_begin(&launch);
    pthread_mutex_lock(&device->space->lock);
    struct work *work = construct_issue(device, construct, kind, &launch, &right);
    if (work)
        result = work_end_locked(work);
    else
        pthread_mutex_unlock(&device->space->lock);
    launch_clear(&launch);
    return right ? result : WORK_FAILED;
}

/* The thread's own copies of variables that it has asked for, in place of these. */
static void maps_take_copies(struct maps *maps)
{
    for (int i = 0; i < maps->count; i++)
        if (maps->bases[i] == maps->begins[i])
            maps->bases[i] = maps->begins[i] = reduction_copy(maps->begins[i]);
}

static bool maps_share(const struct maps *maps)
{
    for (int i = 0; i < maps->count; i++)
        if (reduction_shares(maps->begins[i], maps_bytes(maps, i)))
            return true;
    return false;
}

static enum work_result construct_on(struct device *device, struct construct *construct)
{
    bool takes_part = reduction_takes_part();
    if (takes_part && task_is_waited())
        maps_take_copies(&construct->maps);
    bool alone = takes_part && maps_share(&construct->maps);
    if (construct->nowait && !takes_part && task_may_leave())
        return construct_fly(device, construct) ? WORK_DONE : WORK_FAILED;
    if (takes_part)
        reduction_forget();
    if (alone)
        reduction_enter();
    enum work_result result = construct_wait(device, construct);
    if (alone)
        reduction_leave();
    return result;
}

/* What the device was to give addresses for keeps the host's. */
static void construct_restore(const struct construct *construct, void *const *bases)
{
    const struct maps *maps = &construct->maps;
    for (int i = 0; i < maps->count; i++)
        if (maps->types[i] & MAP_RETURN_PARAM)
            maps->bases[i] = maps->types[i] & MAP_PTR_AND_OBJ ? *(void **)bases[i] : bases[i];
}

/* It was counted in the table, and another site is to do it: as if it had never come. */
static bool construct_undo(struct device *device, struct construct *construct)
{
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device, construct->where, WORK_SPARED);
    if (work)
        work->lost = work->idles = true;
    bool right = work && maps_settle(work, &construct->maps);
    pthread_mutex_unlock(&device->space->lock);
    return work && work_end(work) != WORK_FAILED && right;
}

/* Until a site has done it, or none is left that could. A data region that ends is done by then:
 * what was to come home has come from another site. */
static enum work_result construct_survive(struct device *device, struct construct *construct,
                                          void *const *bases)
{
    size_t bytes = (size_t)construct->maps.count * sizeof(void *);
    for (int round = 0;; round++) {
        bool served = device_is_served(device);
        uint64_t began = variables_time(device->space);
        enum work_result result = construct_on(device, construct);
        if (result != WORK_LOST || !served)
            return result;
        if (bytes > 0)
            memcpy(construct->maps.bases, bases, bytes);
        if ((construct->kind == CONSTRUCT_ENTER && !construct_undo(device, construct)) ||
            (construct->kind == CONSTRUCT_REGION && !variables_may_repeat(began, construct->where)))
            return WORK_FAILED;
        if (construct->kind == CONSTRUCT_REGION && device_is_served(device))
            omprma_note_repeated(1);
        if (round > 0)
            losses_pause();
    }
}

static enum work_result construct_spare(struct device *device, struct construct *construct)
{
    size_t bytes = (size_t)construct->maps.count * sizeof(void *);
    void **bases = bytes > 0 ? malloc(bytes) : NULL;
    if (bytes > 0 && !bases) {
        report(construct->where, &device->site, "no host memory for a list of maps");
        return WORK_FAILED;
    }
    if (bases)
        memcpy(bases, construct->maps.bases, bytes);
    enum work_result result = losses_matter() ? construct_survive(device, construct, bases)
                                              : construct_on(device, construct);
    if (result == WORK_LOST)
        construct_restore(construct, bases);
    free(bases);
    return result;
}

/* Variables of the program on devices are watched, or placement ends. */
static bool variables_are_ready(const struct construct *construct)
{
    const char *why;
    if (!variables_prepare(&why))
        return false;
    if (!why && variables_are_pointed_to(device_of_site(0)->space, &construct->maps))
        why = "a pointer in mapped data leads to a variable on devices";
    return !why || placement_end(why);
}

/* With placement a construct may go to any worker, so all have the images. */
static bool construct_prepare(const struct construct *construct)
{
    const struct maps *maps = &construct->maps;
    bool right = true;
    if (!devices_are_placed())
        return true;
    for (int i = 1; i < devices_sites() && right; i++) {
        struct device *device = device_of_site(i);
        right = device_is_lost(device) || registry_prepare(device, construct->where) ||
                device_is_lost(device);
    }
    if (right && registry_has_variables() && placement_is_on())
        right = variables_are_ready(construct);
    for (int i = 0; i < maps->count && right; i++)
        if (maps->types[i] & MAP_RETURN_PARAM)
            right = variables_give(device_of_site(0)->space, maps->begins[i], "use_device_ptr");
    return right;
}

int construct_run(struct construct *construct)
{
    static const enum ompt_kind kinds[] = {[CONSTRUCT_REGION] = OMPT_KIND_REGION,
                                           [CONSTRUCT_ENTER] = OMPT_KIND_ENTER,
                                           [CONSTRUCT_LEAVE] = OMPT_KIND_LEAVE,
                                           [CONSTRUCT_UPDATE] = OMPT_KIND_UPDATE};
    struct device *device = NULL;
    enum choice choice = device_choose(task_device(construct->device), construct->where, &device);
    if (choice == CHOICE_HOST)
        return ABI_FAIL;
    enum work_result result = WORK_FAILED;
    if (choice == CHOICE_DEVICE && !construct_prepare(construct)) {
        device_leave();
        choice = CHOICE_FAILED;
    }
    if (choice == CHOICE_DEVICE) {
        ompt_begin(kinds[construct->kind], construct->nowait, device->number, construct->code);
        origin_call(construct->code);
        result =
            loss_goes_on() ? construct_spare(device, construct) : construct_on(device, construct);
        origin_call(NULL);
        ompt_end();
        device_leave();
    }
    if (result == WORK_LOST)
        return ABI_FAIL; /* the program goes on to the host */
    return outcome(result == WORK_DONE, construct->where, device);
}
