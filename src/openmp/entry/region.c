/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * region.c: maps are entered, arguments are built from what was entered, and the launch goes
 * between what comes and what leaves, in one work: it waits for what is gathered on both sides of
 * it. What clauses leave open the worker chooses.
 */
#include "openmp/entry/region.h"

#include <limits.h>
#include <stdlib.h>

#include "device/launch.h"
#include <omprma_private/check.h>

#include "openmp/abi/libomp.h"
#include "openmp/device/info.h"
#include "openmp/device/losses.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    int number = text ? atoi(text) : 0;
    return number > 0 ? (unsigned)number : otherwise;
}

/* What clauses leave open is the environment's, and then the worker's to choose. */
static void info_kernel(const struct work *work, const struct region_call *call)
{
    omprma_device_info_t info = {.cores = 1};
    omprma_device_info(work->site->remote, &info);
    info_launch(work->device->number, call->plan->name,
                call->teams > 0 ? (unsigned)call->teams : setting("OMP_NUM_TEAMS", 1),
                call->threads > 0 ? (unsigned)call->threads
                                  : setting("OMP_TEAMS_THREAD_LIMIT", (unsigned)info.cores));
}

/* A thread limit of a region without teams. clang's code tells libomp of it before the call, and
 * the region asks libomp; of teams it tells the region. OMP_THREAD_LIMIT is the worker's, too. */
static uint32_t region_limit(const struct region_call *call)
{
    int limit = call->threads > 0 && omp_get_thread_limit ? omp_get_thread_limit() : INT_MAX;
    bool is_clause =
        limit > 0 && limit < INT_MAX && (unsigned)limit != setting("OMP_THREAD_LIMIT", 0);
    return is_clause ? (uint32_t)limit : 0;
}

void launch_clear_made(struct launch *launch)
{
    if (launch->arguments.names)
        omprma_check_begins(NULL, NULL, 0);
    arguments_clear(&launch->arguments);
}

static bool has_leading(const struct region_call *call)
{
    return call->form == FORM_LEADING ||
           (call->form == FORM_UNSAID && call->plan && call->plan->has_leading);
}

static void limit_threads(const struct region_call *call, struct arguments *arguments)
{
    size_t at = has_leading(call) ? 0 : arguments->count - 1;
    if ((has_leading(call) || call->form == FORM_CONTEXT) && at < arguments->count)
        arguments->words[at] = launch_word((uint32_t)call->threads);
}

/* Whether the kernel takes its words as an array: flang's take them as parameters all the same. */
static bool takes_array(const struct region_call *call)
{
    return call->form == FORM_CONTEXT && call->plan && !call->plan->as_on_gpus;
}

/* Between the region's maps and what comes back. The core looks at what arguments stand for when it
 * launches, which is when the first of that leaves, or all together. */
static bool region_launch(struct work *work, const struct region_call *call,
                          const struct maps *maps, struct launch *launch)
{
    struct arguments *arguments = &launch->arguments;
    if (!arguments_build(work, maps, has_leading(call), arguments))
        return false;
    limit_threads(call, arguments);
    if (!work->lost && info_wants(INFO_KERNEL))
        info_kernel(work, call);
    launch->geometry = (omprma_geometry_t){.threads = {region_limit(call)}};
    launch->region = (omprma_region_t){.kernel = call->plan ? call->plan->kernel : 0,
                                       .geometry = &launch->geometry,
                                       .arguments = arguments->words,
                                       .count = arguments->count,
                                       .context = takes_array(call)};
    if (arguments->names)
        omprma_check_begins(arguments->begins, arguments->names, arguments->count);
    work_launch_between(work, &launch->region);
    work->begins = arguments->begins;
    ompt_submit(call->teams);
    return maps_settle(work, maps);
}

bool region_issue(struct work *work, const struct region_call *call, const struct maps *list,
                  struct launch *launch)
{
    struct maps planned = *list;
    const struct maps *maps = &planned;
    if (call->plan && list->count <= PLAN_RANGES)
        planned.entered = call->plan->entered;
    if (info_wants(INFO_ARGUMENTS))
        info_arguments(work->where, work->device->number, "Entering OpenMP kernel", maps->count,
                       maps->sizes, maps->types, maps->names);
    work->computes = true;
    sent_begin(&work->sent, losses_matter());
    bool right = maps_resolve(work, maps);
    right = moves_issue(work) && right;
    if (!right) {
        echo_print("Call to targetDataBegin failed, abort target.");
        echo_print("Failed to process data before launching the kernel.");
    }
    return right && region_launch(work, call, maps, launch);
}
