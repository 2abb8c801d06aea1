/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ompt.c: see ompt.h. libomp calls ours_begin() at once, if the tool has registered for the
 * initialization of devices; else no function of the tool is called for them. It calls ours_end()
 * before the tool ends.
 */
#include "openmp/tool/ompt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "openmp/abi/libomp.h"
#include "openmp/device/devices.h"
#include "openmp/preload/preload.h"
#include "openmp/tool/ompt_trace.h"

atomic_bool ompt_flag, ompt_asked;
static bool wants; /* the tool has said so to libomp */

/* The tool's, NULL: it does not want to know; and libomp's. */
static struct {
    ompt_target_t *target;
    ompt_target_emi_t *target_emi;
    ompt_data_op_t *data_op;
    ompt_data_op_emi_t *data_op_emi;
    ompt_submit_t *submit;
    ompt_submit_emi_t *submit_emi;
    ompt_device_initialize_t *initialize;
    ompt_device_finalize_t *finalize;
    ompt_device_load_t *load;
    ompt_device_unload_t *unload;
    union ompt_data *(*task)(void), *(*target_task)(void);
} tool;

static struct {
    atomic_int initialized; /* devices */
    _Atomic uint64_t ids;
} told;

struct given {
    int device;
    uint64_t there;
};

/* What the thread is in. */
static _Thread_local struct {
    const void *code;
    int kind, device;
    bool in_target, async;
    union ompt_data *task, *target_task, target;
    struct given *gives; /* that end with it */
    size_t gives_count, gives_room;
    struct given privates; /* .there is 0: none */
    struct block_traced *block;
} now;

static uint64_t id_next(void)
{
    return atomic_fetch_add_explicit(&told.ids, 1, memory_order_relaxed) + 1;
}

static int number_of(int device)
{
    return device == OMPT_HOST ? devices_started() : device;
}

/* ---- connection ----------------------------------------------------------------------------- */

static int ours_begin(ompt_lookup_t *lookup, int initial_device, union ompt_data *data)
{
    const struct {
        const char *name;
        void *place; /* a pointer to a function */
    } functions[] = {
        {"ompt_callback_target", &tool.target},
        {"ompt_callback_target_emi", &tool.target_emi},
        {"ompt_callback_target_data_op", &tool.data_op},
        {"ompt_callback_target_data_op_emi", &tool.data_op_emi},
        {"ompt_callback_target_submit", &tool.submit},
        {"ompt_callback_target_submit_emi", &tool.submit_emi},
        {"ompt_callback_device_initialize", &tool.initialize},
        {"ompt_callback_device_finalize", &tool.finalize},
        {"ompt_callback_device_load", &tool.load},
        {"ompt_callback_device_unload", &tool.unload},
        {"ompt_get_task_data", &tool.task},
        {"ompt_get_target_task_data", &tool.target_task},
    };
    (void)initial_device, (void)data; /* 0 whatever the tool is told, which has ours */
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        *(ompt_function_t **)functions[i].place = lookup(functions[i].name);
    wants = true;
    return 1;
}

static void ours_end(union ompt_data *data)
{
    (void)data;
    ompt_devices_end();
}

/* libomp starts when it is asked, so it is only asked where a tool may be: one that is named, or
 * one that is a part of the program. */
static bool tool_may_be(void)
{
    Dl_info libomp, starts;
    const char *named = getenv("OMP_TOOL_LIBRARIES"), *use = getenv("OMP_TOOL");
    if (!ompt_libomp_connect || (use && strcasecmp(use, "disabled") == 0))
        return false;
    if (named && *named && (strchr(named, ':') || !strstr(named, PRELOAD_NAME))) /* that is none */
        return true;
    void *start = dlsym(RTLD_DEFAULT, "ompt_start_tool");
    return start && dladdr(start, &starts) && dladdr((void *)ompt_libomp_connect, &libomp) &&
           starts.dli_fbase != libomp.dli_fbase;
}

void ompt_prepare(void)
{
    if (tool_may_be())
        trace_prepare();
}

/* ---- devices -------------------------------------------------------------------------------- */

static void devices_tell(int count)
{
    static const char words[] =
        "Records of ompt_set_trace_ompt(): target, target_data_op, target_submit. Times are those "
        "of CLOCK_MONOTONIC in the program, in nanoseconds.";
    bool traces = trace_open(count);
    atomic_store(&told.initialized, count);
    for (int i = 0; i < count && tool.initialize; i++) {
        char type[128];
        snprintf(type, sizeof(type), "omprma (%s)", device_at(i)->site.host);
        tool.initialize(i, type, traces ? trace_handle(i) : NULL, traces ? trace_lookup : NULL,
                        words);
    }
}

void ompt_connect_first(void)
{
    static struct ompt_result ours = {ours_begin, ours_end, {0}};
    if (atomic_exchange(&ompt_asked, true) || !tool_may_be())
        return;
    ompt_libomp_connect(&ours);
    if (wants && devices_started() > 0)
        devices_tell(devices_started());
    atomic_store(&ompt_flag, wants); /* what other threads do meanwhile is not told */
}

void ompt_devices_end(void)
{
    int count = atomic_exchange(&told.initialized, 0);
    if (!ompt_is_on())
        return;
    trace_flush(); /* no record comes after the end of its device */
    for (int i = 0; i < count && tool.finalize; i++)
        tool.finalize(i);
    trace_close();
    atomic_store(&ompt_flag, false);
}

bool ompt_is_telling(void)
{
    return ompt_is_on() && tool_is_called();
}

void ompt_load(int device, const void *image, size_t bytes, uint64_t module)
{
    if (!ompt_is_on() || !tool.load)
        return;
    tool_call(+1);
    tool.load(device, NULL, 0, NULL, bytes, (void *)image, NULL, module);
    tool_call(-1);
}

void ompt_unload(int device, uint64_t module)
{
    if (!ompt_is_on() || !tool.unload)
        return;
    tool_call(+1);
    tool.unload(device, module);
    tool_call(-1);
}

/* ---- records -------------------------------------------------------------------------------- */

static struct ompt_record record_make(int type)
{
    return (struct ompt_record){
        .type = type, .thread = (uint64_t)gettid(), .target = now.target.value};
}

static struct ompt_record record_of_target(int endpoint)
{
    struct ompt_record record = record_make(OMPT_TARGET);
    record.record.target = (struct ompt_record_target){.kind = now.kind,
                                                       .endpoint = endpoint,
                                                       .device = now.device,
                                                       .task = now.task ? now.task->value : 0,
                                                       .target = now.target.value,
                                                       .code = now.code};
    return record;
}

static int type_of(const struct ompt_op *op)
{
    bool moves = op->type != OMPT_ASSOCIATE && op->type != OMPT_DISASSOCIATE;
    return (int)op->type + (now.async && moves ? OMPT_ASYNC : 0);
}

static struct ompt_record record_of_op(const struct ompt_op *op)
{
    struct ompt_record record = record_make(OMPT_DATA_OP);
    record.record.data_op = (struct ompt_record_data_op){.op = op->id,
                                                         .type = type_of(op),
                                                         .from = (void *)op->from,
                                                         .from_device = number_of(op->from_device),
                                                         .to = (void *)op->to,
                                                         .to_device = number_of(op->to_device),
                                                         .bytes = op->bytes,
                                                         .code = now.code};
    return record;
}

/* ---- operations ----------------------------------------------------------------------------- */

static void op_tell(struct ompt_op *op, int endpoint)
{
    int from = number_of(op->from_device);
    int to = op->type == OMPT_DELETE ? -1 : number_of(op->to_device);
    tool_call(+1);
    if (tool.data_op_emi)
        tool.data_op_emi(endpoint, now.target_task, &now.target, &op->id, type_of(op),
                         (void *)op->from, from, (void *)op->to, to, op->bytes, now.code);
    else if (tool.data_op && endpoint == OMPT_END)
        tool.data_op(now.target.value, op->id, type_of(op), (void *)op->from, from, (void *)op->to,
                     to, op->bytes, now.code);
    tool_call(-1);
}

static void op_begin(struct ompt_op *op)
{
    op->id = tool.data_op_emi ? 0 : id_next();
    op_tell(op, OMPT_BEGIN);
}

void ompt_op_begin_told(struct ompt_op *op)
{
    op_begin(op);
    op->traced = SIZE_MAX;
    if (now.block) {
        struct ompt_record record = record_of_op(op);
        op->traced = block_add(now.block, &record);
    }
}

void ompt_op_end_told(struct ompt_op *op)
{
    if (now.block) {
        struct ompt_record record = record_of_op(op);
        block_added(now.block, op->traced, &record);
    }
    op_tell(op, OMPT_END);
}

static void op_note(struct ompt_op *op)
{
    if (now.block) {
        struct ompt_record record = record_of_op(op);
        block_note(now.block, &record);
    }
}

void ompt_memory_told(enum ompt_op_type type, int device, const void *host, uint64_t there,
                      size_t bytes)
{
    const void *address = (const void *)(uintptr_t)there;
    struct ompt_op op = {.type = type,
                         .from = host,
                         .to = type == OMPT_ALLOC ? NULL : address,
                         .from_device = OMPT_HOST,
                         .to_device = device,
                         .bytes = bytes};
    if (type == OMPT_DELETE)
        op = (struct ompt_op){
            .type = type, .from = address, .from_device = device, .to_device = OMPT_HOST};
    op_begin(&op);
    if (type == OMPT_ALLOC) /* known by now */
        op.to = address;
    op_note(&op);
    op_tell(&op, OMPT_END);
}

void ompt_gives_told(int device, uint64_t there, bool is_private)
{
    struct given given = {device, there};
    if (is_private) {
        now.privates = given;
        return;
    }
    if (now.gives_count == now.gives_room) {
        size_t room = now.gives_room ? 2 * now.gives_room : 16;
        struct given *longer = reallocarray(now.gives, room, sizeof(*longer));
        if (!longer) /* earlier than it is */
            ompt_memory_told(OMPT_DELETE, device, NULL, there, 0);
        if (!longer)
            return;
        now.gives = longer;
        now.gives_room = room;
    }
    now.gives[now.gives_count++] = given;
}

static void gives_tell(void)
{
    for (size_t i = 0; i < now.gives_count; i++)
        ompt_memory_told(OMPT_DELETE, now.gives[i].device, NULL, now.gives[i].there, 0);
    if (now.privates.there)
        ompt_memory_told(OMPT_DELETE, now.privates.device, NULL, now.privates.there, 0);
    now.gives_count = 0;
    now.privates.there = 0;
    free(now.gives);
    now.gives = NULL;
    now.gives_room = 0;
}

static void submit_tell(int endpoint, uint64_t *id, unsigned teams)
{
    tool_call(+1);
    if (tool.submit_emi)
        tool.submit_emi(endpoint, &now.target, id, teams);
    else if (tool.submit && endpoint == OMPT_END)
        tool.submit(now.target.value, *id, teams);
    tool_call(-1);
}

void ompt_submit_told(int teams)
{
    unsigned count = teams < 0 ? 1 : (unsigned)teams; /* -1: a region without teams */
    uint64_t id = tool.submit_emi ? 0 : id_next();
    submit_tell(OMPT_BEGIN, &id, count);
    if (now.block) {
        struct ompt_record record = record_make(OMPT_SUBMIT);
        record.record.kernel = (struct ompt_record_kernel){
            .op = id, .teams_requested = count, .teams_granted = count ? count : 1};
        block_added(now.block, block_add(now.block, &record), &record);
    }
    submit_tell(OMPT_END, &id, count);
}

/* ---- constructs ----------------------------------------------------------------------------- */

static void target_tell(int endpoint)
{
    tool_call(+1);
    if (tool.target_emi)
        tool.target_emi(now.kind, endpoint, now.device, now.task, now.target_task, &now.target,
                        now.code);
    else if (tool.target)
        tool.target(now.kind, endpoint, now.device, now.task, now.target.value, now.code);
    tool_call(-1);
}

static void tasks_look(void)
{
    now.task = tool.task ? tool.task() : NULL;
    now.target_task = tool.target_task ? tool.target_task() : NULL;
}

/* Of a construct with nowait the task that the thread is in is the construct's. */
void ompt_begin_told(int kind, int device, const void *code)
{
    bool deferred = kind & OMPT_KIND_NOWAIT;
    now.code = code;
    now.kind = kind;
    now.device = device;
    now.in_target = true;
    now.async = false;
    tasks_look();
    if (deferred && !now.target_task)
        now.target_task = now.task;
    now.target.value = tool.target_emi ? 0 : id_next();
    target_tell(OMPT_BEGIN);
    now.block = block_begin(device);
    if (now.block) {
        struct ompt_record record = record_of_target(OMPT_BEGIN);
        block_note(now.block, &record);
    }
}

void ompt_call_told(int device, const void *code, bool async)
{
    now.code = code;
    now.in_target = false;
    now.async = async;
    now.device = device;
    tasks_look();
    now.target.value = 0;
    now.block = block_begin(device);
}

/* What comes last is known already, but for its time. */
static struct block_traced *block_take(void)
{
    struct block_traced *block = block_leave();
    struct ompt_record record = record_of_target(OMPT_END);
    if (block && now.in_target)
        block_last(block, &record);
    now.block = NULL;
    return block;
}

void ompt_end_told(void)
{
    gives_tell();
    struct block_traced *block = block_take();
    if (block)
        block_end(block);
    if (now.in_target)
        target_tell(OMPT_END);
    now.in_target = now.async = false;
}

void ompt_queue_told(omprma_queue_t *queue)
{
    if (now.block)
        block_queue(now.block, queue);
}

void ompt_fly_told(void)
{
    now.async = true;
}

struct block_traced *ompt_depart_told(void)
{
    gives_tell();
    return block_take();
}

void ompt_arrive_told(struct block_traced *block)
{
    block_end(block);
}
