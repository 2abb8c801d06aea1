/* construct.c: see construct.h. */
#include "openmp/construct.h"

#include "openmp/report.h"

static bool construct_move(struct work *work, const struct construct *construct)
{
    static const char *const titles[] = {
        /* LLVM's, letter by letter */
        [CONSTRUCT_ENTER] = "Entering OpenMP data region with being_mapper",
        [CONSTRUCT_LEAVE] = "Exiting OpenMP data region with end_mapper",
        [CONSTRUCT_UPDATE] = "Updating data within the OpenMP data region with update_mapper",
    };
    struct device *device = work->device;
    const struct maps *maps = &construct->maps;
    bool right;
    if (info_wants(INFO_ARGUMENTS))
        info_arguments(construct->where, device->number, titles[construct->kind], maps->count,
                       maps->sizes, maps->types, maps->names);
    pthread_mutex_lock(&device->lock);
    if (construct->kind == CONSTRUCT_ENTER)
        right = maps_enter(work, maps);
    else if (construct->kind == CONSTRUCT_LEAVE)
        right = maps_leave(work, maps);
    else
        right = maps_update(work, maps);
    pthread_mutex_unlock(&device->lock);
    return right;
}

static bool construct_issue(struct work *work, const struct construct *construct)
{
    if (construct->kind == CONSTRUCT_REGION)
        return region_issue(work, &construct->call, &construct->maps);
    return construct_move(work, construct);
}

static bool construct_on(struct device *device, const struct construct *construct)
{
    struct work *work = work_begin(device, construct->where);
    if (!work)
        return false;
    bool right = construct_issue(work, construct);

    return work_finish(work) && right;
}

int construct_run(const struct construct *construct)
{
    struct device *device = NULL;
    enum choice choice = device_choose(construct->device, construct->where, &device);
    if (choice == CHOICE_HOST)
        return ABI_FAIL;
    bool right = false;
    if (choice == CHOICE_DEVICE) {
        right = construct_on(device, construct);
        device_leave();
    }
    return outcome(right, construct->where, device);
}

omprma_geometry_t geometry_of(int32_t teams, int32_t threads)
{
    return (omprma_geometry_t){
        .teams = {teams > 0 ? (uint32_t)teams : 0},
        .threads = {threads > 0 ? (uint32_t)threads : 0},
    };
}
