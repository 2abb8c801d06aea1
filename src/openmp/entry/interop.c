/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * interop.c: the interop construct. There is no foreign runtime behind a worker, so an object knows
 * its device and who made it, and has no native handles to give.
 */
#include <stdlib.h>

#include "openmp/abi/exports.h"
#include "openmp/abi/libomp.h"
#include "openmp/device/device.h"
#include "openmp/image/choice.h"
#include "openmp/site/report.h"
#include "openmp/task/task.h"

struct interop {
    int device;
};

/* Properties and results as the specification numbers them. */
enum {
    PROPERTY_FIRST = -9,
    PROPERTY_FR_ID = -1,
    PROPERTY_FR_NAME = -2,
    PROPERTY_VENDOR = -3,
    PROPERTY_VENDOR_NAME = -4,
    PROPERTY_DEVICE_NUM = -5,
    PROPERTY_PLATFORM = -6,
    PROPERTY_DEVICE = -7,
    PROPERTY_CONTEXT = -8,
    PROPERTY_TARGETSYNC = -9
};
enum {
    RESULT_NO_VALUE = 1,
    RESULT_SUCCESS = 0,
    RESULT_EMPTY = -1,
    RESULT_RANGE = -2,
    RESULT_TYPE_INT = -3,
    RESULT_TYPE_PTR = -4,
    RESULT_TYPE_STR = -5
};

static const char *const names[] = {"fr_id",       "fr_name",        "vendor",
                                    "vendor_name", "device_num",     "platform",
                                    "device",      "device_context", "targetsync"};
static const char *const types[] = {"int",    "const char *", "int",    "const char *", "int",
                                    "void *", "void *",       "void *", "void *"};

static void result_set(int *result, int value)
{
    if (result)
        *result = value;
}

/* The result for a property that is asked for with the wrong type, or has no value. */
static int result_other(const struct interop *interop, int property)
{
    if (!interop)
        return RESULT_EMPTY;
    switch (property) {
    case PROPERTY_DEVICE_NUM:
        return RESULT_TYPE_INT;
    case PROPERTY_VENDOR_NAME:
        return RESULT_TYPE_STR;
    default:
        return property >= PROPERTY_FIRST && property < 0 ? RESULT_NO_VALUE : RESULT_RANGE;
    }
}

int omp_get_num_interop_properties(const struct interop *interop)
{
    (void)interop;
    return 0; /* beyond those of the specification */
}

intptr_t omp_get_interop_int(const struct interop *interop, int property, int *result)
{
    bool known = interop && property == PROPERTY_DEVICE_NUM;
    result_set(result, known ? RESULT_SUCCESS : result_other(interop, property));
    return known ? interop->device : 0;
}

void *omp_get_interop_ptr(const struct interop *interop, int property, int *result)
{
    result_set(result, result_other(interop, property));
    return NULL;
}

const char *omp_get_interop_str(const struct interop *interop, int property, int *result)
{
    bool known = interop && property == PROPERTY_VENDOR_NAME;
    result_set(result, known ? RESULT_SUCCESS : result_other(interop, property));
    return known ? "omprma" : NULL;
}

const char *omp_get_interop_name(const struct interop *interop, int property)
{
    (void)interop;
    return property >= PROPERTY_FIRST && property < 0 ? names[-property - 1] : NULL;
}

const char *omp_get_interop_type_desc(const struct interop *interop, int property)
{
    (void)interop;
    return property >= PROPERTY_FIRST && property < 0 ? types[-property - 1] : NULL;
}

static const char *const results[] = {"successful",
                                      "parameters are empty",
                                      "property is out of range",
                                      "property is an integer, not a pointer or string",
                                      "property is a pointer, not an integer or string",
                                      "property is a string, not an integer or pointer"};

const char *omp_get_interop_rc_desc(const struct interop *interop, int result)
{
    (void)interop;
    if (result == RESULT_NO_VALUE)
        return "there is no value";
    return result <= RESULT_SUCCESS && result >= RESULT_TYPE_STR ? results[-result] : "other error";
}

const char *omp_get_interop_rec_desc(const struct interop *interop, int result)
{
    return omp_get_interop_rc_desc(interop, result);
}

/* ---- constructs ----------------------------------------------------------------------------- */

/* Nothing is ever under way behind an interop object, so all that is to be waited for is what
 * dependences say. */
static void wait_for(struct location *where, int32_t thread, const struct dependence_pack *pack)
{
    if (pack && (pack->count > 0 || pack->alias_free_count > 0) && tasks_possible())
        __kmpc_omp_wait_deps(where, thread, pack->count, pack->list, pack->alias_free_count,
                             pack->alias_free);
}

struct interop *__tgt_interop_get(struct location *where, int32_t type, int64_t id,
                                  int32_t preference_count, void *preferences,
                                  struct interop_context *context, struct dependence_pack *pack)
{
    struct device *device;
    (void)type, (void)preference_count, (void)preferences;
    wait_for(where, context->thread, pack);
    if (device_choose_bare(id, where, &device) != CHOICE_DEVICE)
        return NULL;
    struct interop *made = malloc(sizeof(*made));
    if (made)
        made->device = device->number;
    else
        report(where, &device->site, "no host memory for an interop object");
    device_leave();
    return made;
}

int __tgt_interop_use60(struct location *where, struct interop *interop,
                        struct interop_context *context, struct dependence_pack *pack)
{
    wait_for(where, context->thread, pack);
    return interop ? ABI_OK : ABI_FAIL;
}

int __tgt_interop_release(struct location *where, struct interop *interop,
                          struct interop_context *context, struct dependence_pack *pack)
{
    wait_for(where, context->thread, pack);
    free(interop);
    return interop ? ABI_OK : ABI_FAIL;
}

void __tgt_target_sync(struct location *where, int32_t thread, void *task, void *event)
{
    (void)where, (void)thread, (void)task, (void)event;
}

/* ---- constructs of clang 14 to 23 ---- */

void __tgt_interop_init(struct location *where, int32_t thread, struct interop **interop,
                        int32_t type, int32_t device, int32_t count, void *dependences,
                        int32_t nowait)
{
    struct interop_context context = {.thread = thread};
    struct dependence_pack pack = {.count = count, .list = dependences};
    (void)nowait;
    *interop = __tgt_interop_get(where, type, device, 0, NULL, &context, &pack);
}

void __tgt_interop_use(struct location *where, int32_t thread, struct interop **interop,
                       int32_t device, int32_t count, void *dependences, int32_t nowait)
{
    struct interop_context context = {.thread = thread};
    struct dependence_pack pack = {.count = count, .list = dependences};
    (void)device, (void)nowait;
    __tgt_interop_use60(where, *interop, &context, &pack);
}

void __tgt_interop_destroy(struct location *where, int32_t thread, struct interop **interop,
                           int32_t device, int32_t count, void *dependences, int32_t nowait)
{
    struct interop_context context = {.thread = thread};
    struct dependence_pack pack = {.count = count, .list = dependences};
    (void)device, (void)nowait;
    __tgt_interop_release(where, *interop, &context, &pack);
    *interop = NULL;
}
