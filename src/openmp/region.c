/* region.c: see region.h. */
#include "openmp/region.h"

#include "openmp/registry.h"
#include "openmp/report.h"

bool region_issue(struct work *work, const struct region_call *call, const struct maps *maps)
{
    struct device *device = work->device;
    struct arguments arguments;
    omprma_addr_t kernel;
    const char *name;
    if (!registry_kernel(device, call->host_id, work->where, &kernel, &name))
        return false;
    if (info_wants(INFO_ARGUMENTS))
        info_arguments(work->where, device->number, "Entering OpenMP kernel", maps->count,
                       maps->sizes, maps->types, maps->names);
    pthread_mutex_lock(&device->lock);
    bool right = maps_enter(work, maps);
    arguments.words = arguments.few;
    right = right && arguments_build(work, maps, call->leading, &arguments);
    pthread_mutex_unlock(&device->lock);
    if (right && info_wants(INFO_KERNEL))
        info_print(device->number, "Launching kernel %s with %zu arguments\n", name,
                   arguments.count);
    right = right && work_launch(work, kernel, &call->geometry, arguments.words, arguments.count);
    arguments_clear(&arguments);
    if (!right)
        return false;
    pthread_mutex_lock(&device->lock);
    right = maps_leave(work, maps);
    pthread_mutex_unlock(&device->lock);
    return right;
}
