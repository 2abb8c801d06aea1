/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* entry_14.c: what programs of clang 14 and before call instead. No logic here: see construct.h. */
#include "openmp/abi/exports.h"
#include "openmp/entry/construct.h"

static int region_run(struct location *where, int64_t device, void *host_id, int32_t teams,
                      int32_t threads, const struct maps *maps, bool nowait, const void *code)
{
    struct construct construct = {.kind = CONSTRUCT_REGION,
                                  .where = where,
                                  .device = device,
                                  .nowait = nowait,
                                  .code = code,
                                  .maps = *maps,
                                  .call = {.host_id = host_id, .teams = teams, .threads = threads}};
    return construct_run(&construct);
}

int __tgt_target_mapper(struct location *where, int64_t device, void *host_id, int32_t count,
                        void **bases, void **begins, int64_t *sizes, int64_t *types, void **names,
                        void **mappers)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    return region_run(where, device, host_id, 0, 0, &maps, false, __builtin_return_address(0));
}

int __tgt_target_nowait_mapper(struct location *where, int64_t device, void *host_id, int32_t count,
                               void **bases, void **begins, int64_t *sizes, int64_t *types,
                               void **names, void **mappers, int32_t dependence_count,
                               void *dependences, int32_t alias_free_count, void *alias_free)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    (void)dependence_count, (void)dependences, (void)alias_free_count, (void)alias_free;
    return region_run(where, device, host_id, 0, 0, &maps, true, __builtin_return_address(0));
}

int __tgt_target_teams_mapper(struct location *where, int64_t device, void *host_id, int32_t count,
                              void **bases, void **begins, int64_t *sizes, int64_t *types,
                              void **names, void **mappers, int32_t teams, int32_t threads)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    return region_run(where, device, host_id, teams, threads, &maps, false,
                      __builtin_return_address(0));
}

int __tgt_target_teams_nowait_mapper(struct location *where, int64_t device, void *host_id,
                                     int32_t count, void **bases, void **begins, int64_t *sizes,
                                     int64_t *types, void **names, void **mappers, int32_t teams,
                                     int32_t threads, int32_t dependence_count, void *dependences,
                                     int32_t alias_free_count, void *alias_free)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    (void)dependence_count, (void)dependences, (void)alias_free_count, (void)alias_free;
    return region_run(where, device, host_id, teams, threads, &maps, true,
                      __builtin_return_address(0));
}

void __kmpc_push_target_tripcount(int64_t device, uint64_t count)
{
    (void)device, (void)count; /* for devices that have to choose their number of threads */
}

void __kmpc_push_target_tripcount_mapper(struct location *where, int64_t device, uint64_t count)
{
    (void)where, (void)device, (void)count;
}
