/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* trees.c: a tool that calls all functions that a device gives it from within each callback, also
 * from callbacks that these lead to. A device must refuse what OpenMP forbids there. Records must
 * not end before they begin, nor in the future. It prints which callbacks came; "WRONG" is a
 * failure. */
#include <omp-tools.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEVICES = 16, DEEPEST = 3, BUFFER = 700 };
enum callback {
    INITIALIZE,
    LOAD,
    TARGET,
    OP,
    SUBMIT,
    REQUEST,
    COMPLETE,
    UNLOAD,
    FINALIZE,
    CALLBACKS
};

static FILE *out;
static atomic_int came[CALLBACKS], buffers;
static _Atomic uint64_t ids;
static ompt_device_t *devices[DEVICES];
static ompt_function_lookup_t find;
static _Thread_local int depth, present;

#define DEVICE_FUNCTION(name) ((ompt_##name##_t)find("ompt_" #name))
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fprintf(out, "WRONG line %d: %s\n", __LINE__, #condition);                             \
    } while (0)

static void on_request(int device, ompt_buffer_t **buffer, size_t *bytes);
static void on_complete(int device, ompt_buffer_t *buffer, size_t bytes, ompt_buffer_cursor_t at,
                        int owned);

static void call_all(enum callback callback, int device)
{
    ompt_device_t *handle = devices[device];
    atomic_fetch_add(&came[callback], 1);
    if (depth == DEEPEST)
        return;
    depth++;
    DEVICE_FUNCTION(flush_trace)(handle);
    DEVICE_FUNCTION(pause_trace)(handle, 1);
    DEVICE_FUNCTION(set_trace_ompt)(handle, 0, ompt_callback_target);
    DEVICE_FUNCTION(set_trace_ompt)(handle, 1, 0);
    DEVICE_FUNCTION(set_trace_native)(handle, 1, 0);
    DEVICE_FUNCTION(pause_trace)(handle, 0);
    DEVICE_FUNCTION(translate_time)(handle, DEVICE_FUNCTION(get_device_time)(handle));
    CHECK(DEVICE_FUNCTION(get_device_num_procs)(handle) > 0);
    CHECK(callback == FINALIZE || omp_get_num_devices() > 0);
    DEVICE_FUNCTION(stop_trace)(handle);
    DEVICE_FUNCTION(start_trace)(handle, on_request, on_complete);
    if (callback != INITIALIZE && callback != FINALIZE)
        CHECK(!omp_target_alloc(100, device) && !omp_target_is_present(&out, device));
    depth--;
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
                      ompt_data_t *task, ompt_data_t *target_task, ompt_data_t *target,
                      const void *code)
{
    present = device;
    call_all(TARGET, device);
}

static void on_op(ompt_scope_endpoint_t endpoint, ompt_data_t *target_task, ompt_data_t *target,
                  ompt_id_t *op, ompt_target_data_op_t type, void *from, int from_device, void *to,
                  int to_device, size_t bytes, const void *code)
{
    *op = endpoint == ompt_scope_begin ? ++ids : *op;
    call_all(OP, present);
}

static void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t *target, ompt_id_t *op,
                      unsigned teams)
{
    *op = endpoint == ompt_scope_begin ? ++ids : *op;
    call_all(SUBMIT, present);
}

static void on_request(int device, ompt_buffer_t **buffer, size_t *bytes)
{
    *bytes = BUFFER;
    *buffer = malloc(BUFFER);
    atomic_fetch_add(&buffers, 1);
    call_all(REQUEST, device);
}

static void record_check(int device, const ompt_record_ompt_t *record)
{
    ompt_device_time_t end = record->time;
    if (record->type == ompt_callback_target_data_op)
        end = record->record.target_data_op.end_time;
    if (record->type == ompt_callback_target_submit)
        end = record->record.target_kernel.end_time;
    CHECK(record->time > 0 && record->time <= end);
    CHECK(end <= DEVICE_FUNCTION(get_device_time)(devices[device]));
}

static void on_complete(int device, ompt_buffer_t *buffer, size_t bytes, ompt_buffer_cursor_t at,
                        int owned)
{
    for (int more = bytes > 0; more;
         more = DEVICE_FUNCTION(advance_buffer_cursor)(devices[device], buffer, bytes, at, &at))
        record_check(device, DEVICE_FUNCTION(get_record_ompt)(buffer, at));
    free(buffer);
    atomic_fetch_sub(&buffers, 1);
    call_all(COMPLETE, device);
}

static void on_initialize(int device, const char *type, ompt_device_t *handle,
                          ompt_function_lookup_t lookup, const char *documentation)
{
    devices[device] = handle;
    find = lookup;
    DEVICE_FUNCTION(set_trace_ompt)(handle, 1, 0);
    call_all(INITIALIZE, device);
}

static void on_finalize(int device)
{
    call_all(FINALIZE, device);
}

static void on_load(int device, const char *file, int64_t offset, void *vma, size_t bytes,
                    void *host, void *there, uint64_t module)
{
    call_all(LOAD, device);
}

static void on_unload(int device, uint64_t module)
{
    call_all(UNLOAD, device);
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *data)
{
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
    set(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
    set(ompt_callback_device_load, (ompt_callback_t)on_load);
    set(ompt_callback_device_unload, (ompt_callback_t)on_unload);
    set(ompt_callback_target_emi, (ompt_callback_t)on_target);
    set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_op);
    set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    for (int i = 0; i < CALLBACKS; i++)
        CHECK(came[i] > 0);
    CHECK(buffers == 0);
    fprintf(out, "the end\n");
    fclose(out);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    const char *path = getenv("OMPT_TOOL_OUT");
    out = path ? fopen(path, "a") : stderr;
    return out ? &result : NULL;
}
