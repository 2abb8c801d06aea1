/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tool.c: a tool by OMPT, the interface of profilers, to start your own from: how many regions a
 * program had on each device, and how many bytes went there and back. With clang 16 or newer:
 *   clang-19 -shared -fPIC examples/tool.c -o tool.so
 *   OMP_TOOL_LIBRARIES=$PWD/tool.so omprma-run -n 2 ./saxpy
 */
#include <omp-tools.h>
#include <stdatomic.h>
#include <stdio.h>

enum { DEVICES = 64 };
static struct {
    atomic_long regions, to, from;
} all[DEVICES];

/* Before and after each region of a device. Threads of the program call it at the same time. */
static void on_submit(ompt_scope_endpoint_t end, ompt_data_t *target, ompt_id_t *id, unsigned teams)
{
    (void)id, (void)teams;
    if (end == ompt_scope_begin && target->value < DEVICES)
        all[target->value].regions++;
}

/* Before and after each construct: what is put into `target` comes along with all that it does. */
static void on_target(ompt_target_t kind, ompt_scope_endpoint_t end, int device, ompt_data_t *task,
                      ompt_data_t *target_task, ompt_data_t *target, const void *code)
{
    (void)kind, (void)task, (void)target_task, (void)code;
    if (end == ompt_scope_begin)
        target->value = device < 0 ? DEVICES : (uint64_t)device;
}

static void on_data(ompt_scope_endpoint_t end, ompt_data_t *task, ompt_data_t *target,
                    ompt_id_t *id, ompt_target_data_op_t kind, void *from, int from_device,
                    void *to, int to_device, size_t bytes, const void *code)
{
    (void)task, (void)target, (void)id, (void)from, (void)to, (void)code;
    if (end != ompt_scope_begin)
        return;
    if (kind == ompt_target_data_transfer_to_device && to_device >= 0 && to_device < DEVICES)
        all[to_device].to += (long)bytes;
    if (kind == ompt_target_data_transfer_from_device && from_device >= 0 && from_device < DEVICES)
        all[from_device].from += (long)bytes;
}

/* libomp 16 tells of devices only those tools that have asked for this. */
static void on_device(int device, const char *type, ompt_device_t *handle,
                      ompt_function_lookup_t lookup, const char *documentation)
{
    (void)device, (void)type, (void)handle, (void)lookup, (void)documentation;
}

static int begin(ompt_function_lookup_t lookup, int host, ompt_data_t *data)
{
    (void)host, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_target_emi, (ompt_callback_t)on_target);
    set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
    set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data);
    set(ompt_callback_device_initialize, (ompt_callback_t)on_device);
    return 1; /* the tool stays */
}

static void finish(ompt_data_t *data)
{
    (void)data;
    for (int i = 0; i < DEVICES; i++)
        if (all[i].regions)
            fprintf(stderr, "device %d: %ld regions, %ld bytes there, %ld back\n", i,
                    all[i].regions, all[i].to, all[i].from);
}

/* libomp calls it at the start. */
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {begin, finish, {0}};
    (void)version, (void)runtime;
    return &result;
}
