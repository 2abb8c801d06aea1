/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * entry.c: what compiled programs call, clang 15 to 23. No logic here: see construct.h, registry.h.
 */
#include "openmp/abi/exports.h"
#include "openmp/device/devices.h"
#include "openmp/entry/begin.h"
#include "openmp/entry/construct.h"
#include "openmp/image/choice.h"
#include "openmp/image/registry.h"
#include "openmp/image/start.h"
#include "openmp/site/report.h"
#include "openmp/task/handle.h"
#include "openmp/task/task.h"

void __tgt_register_lib(const struct abi_library *library)
{
    if (registry_add(library))
        begin_wanted();
}

void __tgt_unregister_lib(const struct abi_library *library)
{
    if (devices_forked())
        return;
    tasks_end();
    registry_remove(library);
}

void __tgt_register_requires(int64_t clauses)
{
    registry_require(clauses);
}

void __tgt_init_all_rtls(void)
{
    devices_start();
}

static bool version_is_known(uint32_t version)
{
    return (version >= 1 && version <= ARGUMENTS_VERSION_DYN_PTR) ||
           version == ARGUMENTS_VERSION_CONTEXT;
}

static enum region_form form_of(uint32_t version)
{
    if (version == ARGUMENTS_VERSION_CONTEXT)
        return FORM_CONTEXT;
    if (version == ARGUMENTS_VERSION_FLAGS)
        return FORM_UNSAID;
    return version == ARGUMENTS_VERSION_DYN_PTR ? FORM_LEADING : FORM_PLAIN;
}

/* What is left to the device is 0 or, of a region without teams, -1. */
static int region_run(struct location *where, int64_t device, int32_t teams, int32_t threads,
                      void *host_id, const struct kernel_arguments *arguments, bool nowait,
                      const void *code)
{
    bool newer = arguments->version >= ARGUMENTS_VERSION_FLAGS;
    struct construct construct = {
        .kind = CONSTRUCT_REGION,
        .where = where,
        .device = device,
        .nowait = nowait || (newer && (arguments->flags & ARGUMENTS_NOWAIT)),
        .code = code,
        .maps = maps_make((int32_t)arguments->count, arguments->bases, arguments->begins,
                          arguments->sizes, arguments->types, arguments->names, arguments->mappers),
        .call = {.host_id = host_id,
                 .teams = newer ? (int32_t)arguments->teams[0] : teams,
                 .threads = newer ? (int32_t)arguments->thread_limit[0] : threads,
                 .form = form_of(arguments->version)}};
    if (version_is_known(arguments->version))
        return construct_run(&construct);
    report(where, NULL,
           "the compiler passes version %u of the arguments of target regions, and omprma knows 1 "
           "to 3 and 5: compile the program again with clang 14 to 23, or take a newer omprma",
           arguments->version);
    return outcome(false, where, NULL);
}

int __tgt_target_kernel(struct location *where, int64_t device, int32_t teams, int32_t threads,
                        void *host_id, struct kernel_arguments *arguments)
{
    return region_run(where, device, teams, threads, host_id, arguments, false,
                      __builtin_return_address(0));
}

/* Dependences belong to libomp's task. */
int __tgt_target_kernel_nowait(struct location *where, int64_t device, int32_t teams,
                               int32_t threads, void *host_id, struct kernel_arguments *arguments,
                               int32_t count, void *dependences, int32_t alias_free_count,
                               void *alias_free)
{
    (void)count, (void)dependences, (void)alias_free_count, (void)alias_free;
    return region_run(where, device, teams, threads, host_id, arguments, true,
                      __builtin_return_address(0));
}

static void data_run(enum construct_kind kind, struct location *where, int64_t device,
                     const struct maps *maps, bool nowait, const void *code)
{
    struct construct construct = {.kind = kind,
                                  .where = where,
                                  .device = device,
                                  .nowait = nowait,
                                  .code = code,
                                  .maps = *maps};
    construct_run(&construct);
}

void __tgt_target_data_begin_mapper(struct location *where, int64_t device, int32_t count,
                                    void **bases, void **begins, int64_t *sizes, int64_t *types,
                                    void **names, void **mappers)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    data_run(CONSTRUCT_ENTER, where, device, &maps, false, __builtin_return_address(0));
}

void __tgt_target_data_end_mapper(struct location *where, int64_t device, int32_t count,
                                  void **bases, void **begins, int64_t *sizes, int64_t *types,
                                  void **names, void **mappers)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    data_run(CONSTRUCT_LEAVE, where, device, &maps, false, __builtin_return_address(0));
}

void __tgt_target_data_update_mapper(struct location *where, int64_t device, int32_t count,
                                     void **bases, void **begins, int64_t *sizes, int64_t *types,
                                     void **names, void **mappers)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    data_run(CONSTRUCT_UPDATE, where, device, &maps, false, __builtin_return_address(0));
}

/* Dependences of the nowait forms belong to libomp's task. */

void __tgt_target_data_begin_nowait_mapper(struct location *where, int64_t device, int32_t count,
                                           void **bases, void **begins, int64_t *sizes,
                                           int64_t *types, void **names, void **mappers,
                                           int32_t dependence_count, void *dependences,
                                           int32_t alias_free_count, void *alias_free)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    (void)dependence_count, (void)dependences, (void)alias_free_count, (void)alias_free;
    data_run(CONSTRUCT_ENTER, where, device, &maps, true, __builtin_return_address(0));
}

void __tgt_target_data_end_nowait_mapper(struct location *where, int64_t device, int32_t count,
                                         void **bases, void **begins, int64_t *sizes,
                                         int64_t *types, void **names, void **mappers,
                                         int32_t dependence_count, void *dependences,
                                         int32_t alias_free_count, void *alias_free)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    (void)dependence_count, (void)dependences, (void)alias_free_count, (void)alias_free;
    data_run(CONSTRUCT_LEAVE, where, device, &maps, true, __builtin_return_address(0));
}

void __tgt_target_data_update_nowait_mapper(struct location *where, int64_t device, int32_t count,
                                            void **bases, void **begins, int64_t *sizes,
                                            int64_t *types, void **names, void **mappers,
                                            int32_t dependence_count, void *dependences,
                                            int32_t alias_free_count, void *alias_free)
{
    const struct maps maps = maps_make(count, bases, begins, sizes, types, names, mappers);
    (void)dependence_count, (void)dependences, (void)alias_free_count, (void)alias_free;
    data_run(CONSTRUCT_UPDATE, where, device, &maps, true, __builtin_return_address(0));
}

void __tgt_target_nowait_query(void **place)
{
    if (*place)
        handle_query(place);
}
