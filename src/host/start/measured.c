/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * measured.c: It comes from a process of the same user, by an agent that does not look at it. So
 * what does not fit is not taken, and nothing but times follows from it: any of them is safe.
 */
#include "host/start/measured.h"

#include <math.h>
#include <string.h>

#include "control/transport.h"

struct measured {
    uint32_t bytes; /* of this structure: of another build it would be others */
    uint8_t one_sided, staged, shares, two_sided_only; /* 0 or 1; others are others */
    char backend[sizeof(((struct device *)0)->about.backend)];
    char model[sizeof(((struct device *)0)->about.model)];
    double round_trip_us;
    struct cost cost[PATHS_DIRECTIONS][PATH_COUNT];
    double exchange_us[EXCHANGE_WAYS]; /* 0: not measured */
    float exchange_spread[EXCHANGE_WAYS];
};
_Static_assert(sizeof(struct measured) <= WORLD_MEASURED_BYTES, "what programs are told");

static void describe(const struct device *device, struct measured *measured)
{
    *measured = (struct measured){.bytes = sizeof(*measured),
                                  .one_sided = device_is_one_sided(device),
                                  .staged = device_is_staged(device),
                                  .shares = device->peer->shares};
    memcpy(measured->backend, device->about.backend, sizeof(measured->backend));
    memcpy(measured->model, device->about.model, sizeof(measured->model));
}

static bool is_time(double us)
{
    return isfinite(us) && us >= 0;
}

static bool are_times(const struct measured *measured)
{
    bool all = is_time(measured->round_trip_us);

    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        for (int path = 0; path < PATH_COUNT; path++) {
            const struct cost *cost = &measured->cost[direction][path];

            all &= is_time(cost->us) && isfinite(cost->us_per_kib) && is_time(cost->spread) &&
                   cost->samples >= 0;
        }
    for (int way = 0; way < EXCHANGE_WAYS; way++)
        all &= is_time(measured->exchange_us[way]) && is_time(measured->exchange_spread[way]);
    return all;
}

/* For devices like this one. */
static bool find(const struct device *device, struct measured *told)
{
    const struct world_measured *measured = &device->runtime->world.measured;
    struct measured mine;

    if (measured->bytes != sizeof(*told) || !device->peer->is_near)
        return false;
    memcpy(told, measured->data, sizeof(*told));
    describe(device, &mine);
    return told->bytes == mine.bytes && told->one_sided == mine.one_sided &&
           told->staged == mine.staged && told->shares == mine.shares &&
           memcmp(told->backend, mine.backend, sizeof(mine.backend)) == 0 &&
           memcmp(told->model, mine.model, sizeof(mine.model)) == 0 && are_times(told);
}

bool measured_take(struct device *device)
{
    struct measured told;

    if (!find(device, &told))
        return false;
    memcpy(device->paths.cost, told.cost, sizeof(told.cost));
    device->paths.round_trip_us = told.round_trip_us;
    device->paths.two_sided_only = told.two_sided_only;
    return true;
}

static const struct device *first_near(const struct runtime *runtime)
{
    for (int i = 0; i < runtime->device_count; i++)
        if (runtime->devices[i]->peer->is_near && device_is_well(runtime->devices[i]))
            return runtime->devices[i];
    return NULL;
}

static bool has_exchange(const double *us)
{
    bool any = false;

    for (int way = 0; way < EXCHANGE_WAYS; way++)
        any |= us[way] > 0;
    return any;
}

bool measured_take_exchange(const struct runtime *runtime, struct exchange_paths *paths)
{
    const struct device *device = first_near(runtime);
    struct measured told;

    if (!device || !find(device, &told) || !has_exchange(told.exchange_us))
        return false;
    memcpy(paths->us, told.exchange_us, sizeof(told.exchange_us));
    memcpy(paths->spread, told.exchange_spread, sizeof(told.exchange_spread));
    return true;
}

void measured_tell(const struct runtime *runtime)
{
    const struct world *world = &runtime->world;
    const struct device *device = first_near(runtime);
    struct measured mine;
    bool is_told = device && find(device, &mine);

    if (!world->transport || !world->transport->tell_measured || !device ||
        (is_told && (has_exchange(mine.exchange_us) || !has_exchange(runtime->exchange[0].us))))
        return;
    describe(device, &mine);
    memcpy(mine.cost, device->paths.cost, sizeof(mine.cost));
    mine.round_trip_us = device->paths.round_trip_us;
    mine.two_sided_only = device->paths.two_sided_only;
    memcpy(mine.exchange_us, runtime->exchange[0].us, sizeof(mine.exchange_us));
    memcpy(mine.exchange_spread, runtime->exchange[0].spread, sizeof(mine.exchange_spread));
    world->transport->tell_measured(world, &mine, sizeof(mine));
}
