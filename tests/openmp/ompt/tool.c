/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tool.c: a tool for OMP_TOOL_LIBRARIES. It prints what it is told of target constructs, a line
 * each, into the file OMPT_TOOL_OUT, so that two runtimes can be compared: addresses as the order
 * in which they were first seen, return addresses from where the program was loaded. What it can
 * check by itself it checks at once: nesting, task data, device numbers, threads, records. A line
 * "WRONG" is a failure.
 *
 * OMPT_TOOL: emi (default), plain: the callbacks without EMI; trace: emi, and what the device
 * records; fewest: device_initialize alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp-tools.h>
#include <omp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What tasks are, libomp tells since 17. */
#define LIBOMP_TELLS_TASKS (__clang_major__ >= 17)

enum { DEVICES = 16, ADDRESSES = 4096, OPS = 1 << 16, BUFFER = 4000 };

static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool plain, traces;
static ompt_get_task_info_t get_task_info;
static uint64_t last_id;

/* Of the thread. */
static _Thread_local struct {
    bool in_target, in_op, in_submit;
    ompt_target_t kind;
    int device;
    ompt_data_t *task_data, *target_data;
    const void *code;
    ompt_id_t op, target;
    ompt_target_data_op_t optype;
    void *from;
    size_t bytes;
} now;

/* What the host was told of, by host_op_id or target id, for the device's records. */
static struct known {
    int kind; /* 0: none; 1: target, 2: data operation, 3: submit */
    int optype, device;
    void *from, *to;
    size_t bytes;
    const void *code;
    uint64_t target;
    unsigned teams;
    double begin, end; /* of the target construct, host time */
    int records;
    bool nowait;
} * known;

static void print(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(out, format, list);
    va_end(list);
    fflush(out);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            print("WRONG line %d: %s\n", __LINE__, #condition);                                    \
    } while (0)

/* ---- words ---- */

/* A memory range, by the order in which they were first seen; of the device's, until it is freed.
 */
static struct range {
    const char *begin;
    size_t bytes;
    int device, number;
} ranges[ADDRESSES];
static int range_count, device_ranges, host_ranges;

static struct range *range_of(int device, const void *address)
{
    for (int i = range_count - 1; i >= 0; i--)
        if (ranges[i].device == device &&
            (address == ranges[i].begin ||
             ((const char *)address >= ranges[i].begin &&
              (const char *)address < ranges[i].begin + ranges[i].bytes)))
            return &ranges[i];
    return NULL;
}

static struct range *range_add(int device, const void *address, size_t bytes)
{
    if (range_count == ADDRESSES) {
        print("WRONG: too many addresses\n");
        return &ranges[0];
    }
    struct range *range = &ranges[range_count++];
    *range = (struct range){address, bytes, device, device < 0 ? host_ranges++ : device_ranges++};
    return range;
}

static void range_drop(int device, const void *address)
{
    struct range *range = range_of(device, address);
    if (range)
        *range = ranges[--range_count];
}

static int host_number; /* that libomp has told at the beginning */

/* -1: the host, which has the number after all devices. */
static int place_of(int device)
{
    static int count;
    int (*count_all)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_num_devices");
    if (!count) {
        count = count_all();
        CHECK(!traces || host_number == count); /* LLVM's runtime tells 0 */
    }
    return device == count ? -1 : device;
}

static const char *words(int device, const void *address, size_t bytes, char text[64])
{
    int place = place_of(device);
    struct range *range = range_of(place, address);
    if (!address)
        return "null";
    if (!range && place < 0)
        range = range_add(place, address, bytes);
    if (!range)
        snprintf(text, 64, "device %d unknown", place);
    else
        snprintf(text, 64, "%s%d+%zu", place < 0 ? "h" : "d", range->number,
                 (size_t)((const char *)address - range->begin));
    return text;
}

static const char *code_words(const void *code, char text[64])
{
    Dl_info info;
    if (!code)
        return "nowhere";
    if (!dladdr(code, &info))
        return "unknown";
    const char *name = strrchr(info.dli_fname, '/');
    snprintf(text, 64, "%s+0x%zx", name ? name + 1 : info.dli_fname,
             (size_t)((const char *)code - (const char *)info.dli_fbase));
    return text;
}

static const char *kind_words(ompt_target_t kind)
{
    static const char *const names[] = {[1] = "target",
                                        [2] = "enter data",
                                        [3] = "exit data",
                                        [4] = "update",
                                        [9] = "target nowait",
                                        [10] = "enter data nowait",
                                        [11] = "exit data nowait",
                                        [12] = "update nowait"};
    return (unsigned)kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "?";
}

static const char *op_words(ompt_target_data_op_t op)
{
    static const char *const names[] = {
        [1] = "alloc",       [2] = "to",           [3] = "from",         [4] = "delete",
        [5] = "associate",   [6] = "disassociate", [17] = "alloc async", [18] = "to async",
        [19] = "from async", [20] = "delete async"};
    return (unsigned)op < sizeof(names) / sizeof(names[0]) && names[op] ? names[op] : "?";
}

static const char *end_words(ompt_scope_endpoint_t endpoint)
{
    return endpoint == ompt_scope_begin ? "begin" : endpoint == ompt_scope_end ? "end" : "beginend";
}

/* ---- host events ---- */

static double now_seconds(void)
{
    struct timespec time; /* omp_get_wtime()'s clock */
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct known *known_new(int kind)
{
    if (last_id + 1 >= OPS)
        return &known[0];
    known[++last_id] = (struct known){.kind = kind};
    return &known[last_id];
}

static void target_event(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
                         ompt_data_t *task_data, ompt_data_t *target_task_data,
                         ompt_data_t *target_data, uint64_t target_id, const void *code)
{
    char text[64];
    pthread_mutex_lock(&lock);
    print("%s %s device %d at %s\n", kind_words(kind), end_words(endpoint), device,
          code_words(code, text));
    CHECK(endpoint == ompt_scope_begin || endpoint == ompt_scope_end);
    CHECK(device >= 0 && place_of(device) >= 0);
    CHECK(code);
    if (endpoint == ompt_scope_begin) {
        CHECK(!now.in_target && !now.in_op && !now.in_submit);
        now.in_target = true;
        now.kind = kind;
        now.device = device;
        now.task_data = task_data;
        now.target_data = target_data;
        now.code = code;
        struct known *made = known_new(1);
        made->device = device;
        made->code = code;
        made->begin = now_seconds();
        made->nowait = kind >= ompt_target_nowait;
        made->optype = (int)kind;
        if (target_data) {
            CHECK(target_data->value == 0);
            target_data->value = last_id;
            target_id = last_id;
        } else {
            CHECK(target_id != 0);
        }
        now.target = target_id;
    } else {
        CHECK(now.in_target && !now.in_op && !now.in_submit);
        CHECK(now.kind == kind && now.device == device && now.code == code);
        CHECK(now.task_data == task_data && now.target_data == target_data);
        if (target_data) {
            CHECK(target_data->value == now.target);
            known[now.target].end = now_seconds();
        } else {
            CHECK(target_id == now.target);
        }
        now.in_target = false;
    }
    if (!plain) {
        ompt_data_t *present = NULL;
        int flags;
        get_task_info(0, &flags, &present, NULL, NULL, NULL);
        bool told = task_data || target_task_data || LIBOMP_TELLS_TASKS;
        CHECK(!told || (present && (task_data == present || target_task_data == present)));
        CHECK(!told || kind < ompt_target_nowait || target_task_data);
    }
    pthread_mutex_unlock(&lock);
}

static void on_target_emi(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
                          ompt_data_t *task_data, ompt_data_t *target_task_data,
                          ompt_data_t *target_data, const void *code)
{
    target_event(kind, endpoint, device, task_data, target_task_data, target_data, 0, code);
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
                      ompt_data_t *task_data, ompt_id_t target_id, const void *code)
{
    target_event(kind, endpoint, device, task_data, NULL, NULL, target_id, code);
}

static void op_print(const char *when, ompt_target_data_op_t op, void *from, int from_device,
                     void *to, int to_device, size_t bytes, const void *code)
{
    char first[64], second[64], third[64];
    print("  %s %s: %s on %d -> %s on %d, %zu bytes at %s\n", op_words(op), when,
          words(from_device, from, bytes, first), place_of(from_device),
          words(to_device, to, bytes, second), place_of(to_device), bytes, code_words(code, third));
    /* -1 is the host as LLVM 23 tells it; others have the number behind those of devices. */
    CHECK(from_device >= -1 && to_device >= -1);
    CHECK(!now.in_submit);
    CHECK(!now.in_target || code == now.code);
}

static void op_ended(ompt_target_data_op_t op, void *to, int to_device, size_t bytes)
{
    if (op == ompt_target_data_alloc || op == ompt_target_data_alloc_async ||
        op == ompt_target_data_associate)
        range_add(place_of(to_device), to, bytes);
}

static void op_deleted(ompt_target_data_op_t op, void *from, int from_device)
{
    if (op == ompt_target_data_delete || op == ompt_target_data_delete_async ||
        op == ompt_target_data_disassociate)
        range_drop(place_of(from_device), from);
}

static void on_data_op_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target_task_data,
                           ompt_data_t *target_data, ompt_id_t *host_op_id,
                           ompt_target_data_op_t op, void *from, int from_device, void *to,
                           int to_device, size_t bytes, const void *code)
{
    (void)target_task_data;
    pthread_mutex_lock(&lock);
    if (endpoint == ompt_scope_end && !now.in_op)
        print("WRONG: end without begin\n");
    if (endpoint == ompt_scope_end)
        op_ended(op, to, to_device, bytes);
    bool makes = op == ompt_target_data_alloc || op == ompt_target_data_alloc_async;
    /* before, the address is not known */
    op_print(end_words(endpoint), op, from, from_device,
             makes && endpoint == ompt_scope_begin ? NULL : to, to_device, bytes, code);
    if (endpoint == ompt_scope_end)
        op_deleted(op, from, from_device);
    CHECK(!now.in_target || target_data == now.target_data);
    if (endpoint == ompt_scope_begin) {
        CHECK(!now.in_op);
        struct known *made = known_new(2);
        *made = (struct known){.kind = 2,
                               .optype = (int)op,
                               .device = place_of(to_device) < 0 ? from_device : to_device,
                               .from = from,
                               .to = makes ? NULL : to,
                               .bytes = bytes,
                               .code = code,
                               .target = now.in_target ? now.target : 0};
        made->begin = now_seconds();
        *host_op_id = last_id;
        now.in_op = true;
        now.op = last_id;
        now.optype = op;
        now.from = from;
        now.bytes = bytes;
    } else {
        CHECK(now.in_op && *host_op_id == now.op);
        CHECK(now.optype == op && now.from == from && now.bytes == bytes);
        known[now.op].end = now_seconds();
        known[now.op].to = to;
        now.in_op = false;
    }
    pthread_mutex_unlock(&lock);
}

static void on_data_op(ompt_id_t target_id, ompt_id_t host_op_id, ompt_target_data_op_t op,
                       void *from, int from_device, void *to, int to_device, size_t bytes,
                       const void *code)
{
    pthread_mutex_lock(&lock);
    op_ended(op, to, to_device, bytes);
    op_print("done", op, from, from_device, to, to_device, bytes, code);
    op_deleted(op, from, from_device);
    CHECK(!now.in_target || target_id == now.target);
    CHECK(host_op_id != 0 && host_op_id != now.op);
    now.op = host_op_id;
    pthread_mutex_unlock(&lock);
}

static void on_submit_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target_data,
                          ompt_id_t *host_op_id, unsigned teams)
{
    pthread_mutex_lock(&lock);
    print("  submit %s: %u teams\n", end_words(endpoint), teams);
    CHECK(now.in_target && !now.in_op && target_data == now.target_data);
    CHECK(now.kind == ompt_target || now.kind == ompt_target_nowait);
    if (endpoint == ompt_scope_begin) {
        CHECK(!now.in_submit);
        struct known *made = known_new(3);
        made->device = now.device;
        made->target = now.target;
        made->teams = teams;
        made->begin = now_seconds();
        *host_op_id = last_id;
        now.op = last_id;
        now.in_submit = true;
    } else {
        CHECK(now.in_submit && *host_op_id == now.op);
        now.in_submit = false;
    }
    pthread_mutex_unlock(&lock);
}

static void on_submit(ompt_id_t target_id, ompt_id_t host_op_id, unsigned teams)
{
    pthread_mutex_lock(&lock);
    print("  submit done: %u teams\n", teams);
    CHECK(now.in_target && target_id == now.target && host_op_id != 0);
    pthread_mutex_unlock(&lock);
}

/* ---- devices ---- */

static struct {
    bool known;
    ompt_device_t *handle;
    ompt_set_trace_ompt_t set;
    ompt_flush_trace_t flush;
    ompt_start_trace_t start;
    ompt_stop_trace_t stop;
    ompt_advance_buffer_cursor_t advance;
    ompt_get_record_type_t type;
    ompt_get_record_ompt_t get;
    ompt_translate_time_t translate;
    ompt_get_device_time_t time;
    double last; /* end of the latest record of a kernel */
} device[DEVICES];

static int buffers; /* that have not come back */

static void on_request(int number, ompt_buffer_t **buffer, size_t *bytes)
{
    /* The tool may do all that it can. */
    ompt_device_t *handle = device[number].handle;
    device[number].flush(handle);
    device[number].set(handle, 1, 0);
    *bytes = BUFFER;
    *buffer = malloc(BUFFER);
    __atomic_add_fetch(&buffers, *buffer != NULL, __ATOMIC_RELAXED);
}

static void record_check(int number, const ompt_record_ompt_t *record)
{
    ompt_device_t *handle = device[number].handle;
    double time = device[number].translate(handle, record->time), end = 0;
    const struct known *target = record->target_id < OPS ? &known[record->target_id] : &known[0];
    const double apart = 2e-6; /* wall clocks have microseconds */
    uint64_t id = 0;
    int kind = 0;
    switch (record->type) {
    case ompt_callback_target:
    case ompt_callback_target_emi:
        CHECK(target->kind == 1 && (int)record->record.target.kind == target->optype);
        CHECK(record->record.target.device_num == number);
        CHECK(record->record.target.codeptr_ra == target->code);
        CHECK(time >= target->begin - apart);
        CHECK(target->nowait || target->end == 0 || time <= target->end + apart);
        print("  record %s %s device %d\n", kind_words(record->record.target.kind),
              end_words(record->record.target.endpoint), number);
        return;
    case ompt_callback_target_data_op:
    case ompt_callback_target_data_op_emi:
        id = record->record.target_data_op.host_op_id;
        end = device[number].translate(handle, record->record.target_data_op.end_time);
        kind = 2;
        break;
    case ompt_callback_target_submit:
    case ompt_callback_target_submit_emi:
        id = record->record.target_kernel.host_op_id;
        end = device[number].translate(handle, record->record.target_kernel.end_time);
        kind = 3;
        break;
    default:
        print("WRONG record of type %d\n", (int)record->type);
        return;
    }
    if (id == 0 || id > last_id) {
        print("WRONG record of an operation %llu\n", (unsigned long long)id);
        return;
    }
    struct known *op = &known[id];
    CHECK(op->kind == kind && op->target == record->target_id);
    CHECK(op->records++ == 0);
    CHECK(time <= end && time >= op->begin - apart);
    CHECK(!op->target || target->nowait || target->end == 0 || end <= target->end + apart);
    CHECK(end <= now_seconds() + apart);
    if (kind == 3) {
        CHECK(op->teams == record->record.target_kernel.requested_num_teams);
        CHECK(record->record.target_kernel.granted_num_teams > 0);
        print("  record kernel device %d, %.3f s\n", number, end - time);
        return;
    }
    CHECK((int)record->record.target_data_op.optype == op->optype);
    CHECK(record->record.target_data_op.src_addr == op->from);
    CHECK(record->record.target_data_op.dest_addr == op->to);
    CHECK(record->record.target_data_op.bytes == op->bytes);
    CHECK(record->record.target_data_op.codeptr_ra == op->code);
    print("  record %s device %d\n", op_words(record->record.target_data_op.optype), number);
}

static void on_complete(int number, ompt_buffer_t *buffer, size_t bytes, ompt_buffer_cursor_t begin,
                        int owned)
{
    ompt_buffer_cursor_t at = begin;
    pthread_mutex_lock(&lock);
    for (int more = bytes > 0; more;
         more = device[number].advance(device[number].handle, buffer, bytes, at, &at)) {
        CHECK(device[number].type(buffer, at) == ompt_record_ompt);
        record_check(number, device[number].get(buffer, at));
    }
    pthread_mutex_unlock(&lock);
    if (owned)
        free(buffer);
    __atomic_sub_fetch(&buffers, owned, __ATOMIC_RELAXED);
}

static void on_initialize(int number, const char *type, ompt_device_t *handle,
                          ompt_function_lookup_t lookup, const char *documentation)
{
    (void)documentation;
    print("initialize device %d, %s\n", number, type ? "with a type" : "without a type");
    CHECK(number >= 0 && number < DEVICES && !device[number].known);
    device[number].known = true;
    device[number].handle = handle;
    if (!traces || !lookup)
        return;
    device[number].set = (ompt_set_trace_ompt_t)lookup("ompt_set_trace_ompt");
    device[number].flush = (ompt_flush_trace_t)lookup("ompt_flush_trace");
    device[number].start = (ompt_start_trace_t)lookup("ompt_start_trace");
    device[number].stop = (ompt_stop_trace_t)lookup("ompt_stop_trace");
    device[number].advance = (ompt_advance_buffer_cursor_t)lookup("ompt_advance_buffer_cursor");
    device[number].type = (ompt_get_record_type_t)lookup("ompt_get_record_type");
    device[number].get = (ompt_get_record_ompt_t)lookup("ompt_get_record_ompt");
    device[number].translate = (ompt_translate_time_t)lookup("ompt_translate_time");
    device[number].time = (ompt_get_device_time_t)lookup("ompt_get_device_time");
    CHECK(!lookup("ompt_no_such_function"));
    if (!device[number].set || !device[number].start || !device[number].stop) {
        print("WRONG: device %d has no tracing\n", number);
        return;
    }
    double before = now_seconds();
    double told = device[number].translate(handle, device[number].time(handle));
    CHECK(told > before - 1e-3 && told < now_seconds() + 1e-3);
    CHECK(device[number].set(handle, 1, 0) == ompt_set_always ||
          device[number].set(handle, 1, 0) == ompt_set_sometimes);
    CHECK(device[number].start(handle, on_request, on_complete) == 1);
}

static void on_finalize(int number)
{
    print("finalize device %d\n", number);
    CHECK(device[number].known);
    if (traces && device[number].stop)
        CHECK(device[number].stop(device[number].handle) == 1);
    device[number].known = false;
}

static void on_load(int number, const char *filename, int64_t offset, void *vma, size_t bytes,
                    void *host, void *there, uint64_t module)
{
    (void)filename, (void)offset, (void)vma, (void)there, (void)module;
    print("load device %d, %s\n", number, host && bytes ? "from memory" : "from nowhere");
    CHECK(device[number].known);
}

static void on_unload(int number, uint64_t module)
{
    (void)module;
    print("unload device %d\n", number);
    CHECK(device[number].known);
}

/* ---- begin and end ---- */

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *data)
{
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    const char *mode = getenv("OMPT_TOOL");
    (void)data;
    host_number = initial_device;
    get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
    set(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
    set(ompt_callback_device_load, (ompt_callback_t)on_load);
    set(ompt_callback_device_unload, (ompt_callback_t)on_unload);
    if (mode && strcmp(mode, "fewest") == 0)
        return 1;
    if (plain) {
        set(ompt_callback_target, (ompt_callback_t)on_target);
        set(ompt_callback_target_data_op, (ompt_callback_t)on_data_op);
        set(ompt_callback_target_submit, (ompt_callback_t)on_submit);
        return 1;
    }
    set(ompt_callback_target_emi, (ompt_callback_t)on_target_emi);
    set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data_op_emi);
    set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit_emi);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    CHECK(buffers == 0);
    print("the end\n");
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    const char *path = getenv("OMPT_TOOL_OUT"), *mode = getenv("OMPT_TOOL");
    (void)version, (void)runtime;
    CHECK(omp_get_num_devices() >= 0); /* libomp has not started yet */
    out = path ? fopen(path, "a") : stderr;
    known = calloc(OPS, sizeof(*known));
    plain = mode && strcmp(mode, "plain") == 0;
    traces = mode && strcmp(mode, "trace") == 0;
    return out && known ? &result : NULL;
}
