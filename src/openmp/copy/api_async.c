/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * api_async.c: omp_* functions that copy as a task of libomp, behind the dependences that they are
 * given. A hidden helper thread runs it. No copying here: see copy.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/abi/exports.h"
#include "openmp/abi/libomp.h"
#include "openmp/copy/copy.h"
#include "openmp/site/report.h"
#include "openmp/task/task.h"

enum { FEW_DEPENDENCES = 16 };

/* What a task has to do, with the lists of the call, which may be gone by then. */
struct job {
    struct copy copy;
    bool fill;
    int value;
    size_t lists[5][RECTANGLE_DIMENSIONS];
};

static int job_run(const struct job *job)
{
    if (job->fill)
        return fill_run(&job->copy, job->value);
    return copy_run(&job->copy);
}

static int32_t job_task(int32_t thread, struct task *task)
{
    (void)thread;
    struct job *job = task->shareds;
    job_run(job);
    free(job);
    return 0;
}

/* A depend object is an array of dependences; the element before the first one holds their number
 * in the place of an address. */
static int dependences_count(int count, depend_object *objects)
{
    int all = 0;
    for (int i = 0; i < count; i++)
        all += objects[i] ? (int)((struct dependence *)objects[i])[-1].address : 0;
    return all;
}

static bool job_enqueue(struct job *job, int count, depend_object *objects)
{
    struct dependence few[FEW_DEPENDENCES], *all = few;
    int total = dependences_count(count, objects), filled = 0;
    int32_t thread = __kmpc_global_thread_num(NULL);
    struct task *task = task_for_helper(thread, sizeof(*task), job_task);
    if (total > FEW_DEPENDENCES)
        all = calloc((size_t)total, sizeof(*all));
    if (!task || !all)
        return false;
    for (int i = 0; i < count; i++) {
        const struct dependence *each = objects[i];
        for (intptr_t j = 0; each && j < each[-1].address; j++)
            all[filled++] = each[j];
    }
    task->shareds = job;
    __kmpc_omp_task_with_deps(NULL, thread, task, total, all, 0, NULL);
    if (all != few)
        free(all);
    return true;
}

/* Without libomp's tasks the copy is done at once. */
static int job_start(const struct job *model, int count, depend_object *objects)
{
    if (count < 0 || (count > 0 && !objects)) {
        report(NULL, NULL, "an asynchronous copy was given %d dependences and no list", count);
        return EINVAL;
    }
    if (!tasks_possible())
        return job_run(model);
    struct job *job = malloc(sizeof(*job));
    if (!job) {
        report(NULL, NULL, "no host memory for an asynchronous copy");
        return ENOMEM;
    }
    *job = *model;
    const size_t **lists[] = {&job->copy.volume, &job->copy.to_offsets, &job->copy.from_offsets,
                              &job->copy.to_dimensions, &job->copy.from_dimensions};
    for (int i = 0; i < 5 && job->copy.dimensions > 0; i++) {
        memcpy(job->lists[i], *lists[i], (size_t)job->copy.dimensions * sizeof(size_t));
        *lists[i] = job->lists[i];
    }
    if (!job_enqueue(job, count, objects)) {
        free(job);
        return ENOMEM;
    }
    return 0;
}

int omp_target_memcpy_async(void *to, const void *from, size_t bytes, size_t to_offset,
                            size_t from_offset, int to_device, int from_device, int depend_count,
                            depend_object *depends)
{
    if (!to || !from)
        return EINVAL;
    const struct job job = {.copy = {.to = (char *)to + to_offset,
                                     .from = (const char *)from + from_offset,
                                     .to_device = to_device,
                                     .from_device = from_device,
                                     .bytes = bytes,
                                     .code = __builtin_return_address(0),
                                     .async = true}};
    return job_start(&job, depend_count, depends);
}

int omp_target_memcpy_rect_async(void *to, const void *from, size_t element_bytes, int dimensions,
                                 const size_t *volume, const size_t *to_offsets,
                                 const size_t *from_offsets, const size_t *to_dimensions,
                                 const size_t *from_dimensions, int to_device, int from_device,
                                 int depend_count, depend_object *depends)
{
    if (!to && !from)
        return RECTANGLE_DIMENSIONS;
    if (!to || !from || dimensions < 1 || dimensions > RECTANGLE_DIMENSIONS || !volume ||
        !to_offsets || !from_offsets || !to_dimensions || !from_dimensions)
        return EINVAL;
    const struct job job = {.copy = {to, from, to_device, from_device, element_bytes, dimensions,
                                     volume, to_offsets, from_offsets, to_dimensions,
                                     from_dimensions, __builtin_return_address(0), true}};
    return job_start(&job, depend_count, depends);
}

void *omp_target_memset_async(void *address, int value, size_t bytes, int device, int depend_count,
                              depend_object *depends)
{
    const struct job job = {.copy = {.to = address,
                                     .to_device = device,
                                     .bytes = bytes,
                                     .code = __builtin_return_address(0),
                                     .async = true},
                            .fill = true,
                            .value = value};
    job_start(&job, depend_count, depends);
    return address;
}
