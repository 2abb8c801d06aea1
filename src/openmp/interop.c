/*
 * interop.c: the interop construct. There is no foreign runtime behind a worker, so an object knows
 * its device and who made it, and has no native handles to give.
 */
#include <stdlib.h>

#include "openmp/device.h"
#include "openmp/exports.h"
#include "openmp/report.h"

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

void __tgt_interop_init(struct location *where, int32_t thread, struct interop **interop,
                        int32_t type, int32_t id, int32_t count, void *dependences, int32_t nowait)
{
    struct device *device;
    (void)thread, (void)type, (void)count, (void)dependences, (void)nowait;
    *interop = NULL;
    enum choice choice = device_choose_bare(id, where, &device);
    if (choice != CHOICE_DEVICE)
        return;
    struct interop *made = malloc(sizeof(*made));
    if (made)
        made->device = device->number;
    else
        report(where, device, "no host memory for an interop object");
    *interop = made;
    device_leave();
}

/* Nothing is ever under way behind an interop object. */
void __tgt_interop_use(struct location *where, int32_t thread, struct interop **interop,
                       int32_t device, int32_t count, void *dependences, int32_t nowait)
{
    (void)where, (void)thread, (void)interop, (void)device, (void)count, (void)dependences;
    (void)nowait;
}

void __tgt_interop_destroy(struct location *where, int32_t thread, struct interop **interop,
                           int32_t device, int32_t count, void *dependences, int32_t nowait)
{
    (void)where, (void)thread, (void)device, (void)count, (void)dependences, (void)nowait;
    free(*interop);
    *interop = NULL;
}
