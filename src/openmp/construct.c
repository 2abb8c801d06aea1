/* construct.c: see construct.h. */
#include "openmp/construct.h"

#include "openmp/flight.h"
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

/* What small works in flight share a queue for: nothing that others would have to wait for. */
static bool maps_are_small(const struct maps *maps)
{
    enum { MOST_MAPS = 32, MOST_BYTES = 2048 };
    int64_t bytes = 0;
    if (maps->count > MOST_MAPS)
        return false;
    for (int i = 0; i < maps->count; i++) {
        if ((maps->mappers && maps->mappers[i]) || (maps->types[i] & MAP_NON_CONTIG) ||
            maps->sizes[i] > MOST_BYTES)
            return false;
        bytes += maps->sizes[i];
    }
    return bytes <= MOST_BYTES;
}

/* Issues it, and leaves it in flight. */
static bool construct_fly(struct device *device, const struct construct *construct, void **flight)
{
    enum work_kind kind = maps_are_small(&construct->maps) ? WORK_SMALL : WORK_FLIGHT;
    struct work *work = work_begin(device, construct->where, kind);
    if (!work)
        return false;
    bool right = construct_issue(work, construct) && work_depart(work);
    if (!right)
        return work_finish(work) && right;
    flight_begin(work, flight);
    return true;
}

static bool construct_on(struct device *device, const struct construct *construct)
{
    void **flight = construct->nowait ? flight_place() : NULL;
    if (flight)
        return construct_fly(device, construct, flight);
    struct work *work = work_begin(device, construct->where, WORK_WAITED);
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
