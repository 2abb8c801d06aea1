/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * late_gpus.h: libomprma for tests of what the HSA library does: devices that are AMD GPUs with
 * memory of their own, of which the program knows only numbers. Nothing of a queue is done before
 * somebody makes progress: then all that can be (a round trip), or, after late_draw(), something at
 * random. Large sources are read, and what is retrieved is written, only then.
 *
 * Kernels: LATE_ADD adds a word to `count` words at an address; LATE_COPY copies words; LATE_FAULT
 * loses the device.
 */
#ifndef OMPRMA_TESTS_LATE_GPUS_H
#define OMPRMA_TESTS_LATE_GPUS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma/omprma.h>
#include <omprma_private/in_turn.h>
#include <omprma_private/owner.h>
#include <omprma_private/say.h>
#include <omprma_private/unwaited.h>

#include "base/hsa_abi.h"
#include "base/hsa_questions.h"
#include "tests/unit/draw.h"
#include "tests/unit/fake/parts.h"

enum { LATE_DEVICES = 2, LATE_BYTES = 64 << 20 };
enum late_kernel { LATE_ADD = 0x100, LATE_COPY = 0x140, LATE_FAULT = 0x180, LATE_GCC = 0x1c0 };
#define LATE_BEGIN UINT64_C(0x7e9000000000) /* nothing is there, with sanitizers, too */
#define LATE_VARIABLE (LATE_BEGIN + 64)     /* of the code: the first words of a device's memory */

struct late_operation {
    struct late_operation *next;
    enum { LATE_MOVE, LATE_LAUNCH, LATE_WAIT, LATE_NOTIFY } what;
    int to_device, from_device; /* -1: the host */
    uint64_t to, from;
    size_t bytes;
    void *owned; /* what is moved or given to a kernel */
    omprma_queue_t *queue;
    uint64_t place;
    void (*callback)(void *data, omprma_status_t status);
    void *data;
};

struct omprma_queue {
    omprma_queue_t *next;
    int device;
    struct late_operation *first, **last;
    uint64_t issued, done;
    omprma_status_t error;
};

struct omprma_event {
    omprma_queue_t *queue;
    uint64_t place;
};

static struct late {
    pthread_mutex_t lock;
    char *memory[LATE_DEVICES];
    size_t used[LATE_DEVICES];
    omprma_queue_t *queues;
    struct draw draw; /* state 0: no drawing */
    int round_trips;  /* progress that did something */
    int blocks;       /* that are allocated */
    int unloaded;
    int clashes; /* code that is loaded so often has variables where those of GPU 0 are */
    bool drives; /* who waits makes progress: until all is done */
    int driven;  /* so often */
    bool rpc;    /* the code has a symbol for calls of the host */
    omprma_geometry_t geometry;
    char line[1024]; /* the last one that was said */
} late = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static inline void late_draw(uint64_t seed)
{
    late.draw.state = seed;
}

/* Device memory as the host sees it. Addresses tell the device: they are unique. */
static inline int late_device(uint64_t address)
{
    uint64_t device = (address - LATE_BEGIN) / LATE_BYTES;
    return address >= LATE_BEGIN && device < LATE_DEVICES ? (int)device : -1;
}

static inline char *late_reach(uint64_t address, size_t bytes)
{
    int device = late_device(address);

    if (device < 0)
        return (char *)(uintptr_t)address;
    if (bytes > 0 && late_device(address + bytes - 1) != device)
        abort();
    return late.memory[device] + (address - LATE_BEGIN) % LATE_BYTES;
}

/* ---- what is done --------------------------------------------------------------------------- */

static inline void late_gcc(const uint64_t *words)
{
    /* Two words of arguments, of which the second points to the output. */
    uint32_t output;

    memcpy(&output, late_reach(words[1], 4), 4);
    output += (uint32_t)words[0];
    memcpy(late_reach(words[1], 4), &output, 4);
}

static inline void late_run_kernel(omprma_queue_t *queue, const struct late_operation *operation)
{
    const uint64_t *words = operation->owned;

    switch (operation->from) {
    case LATE_ADD:
        for (uint64_t i = 0; i < words[1]; i++)
            ((uint64_t *)(void *)late_reach(words[0], 8 * words[1]))[i] += words[2];
        break;
    case LATE_COPY:
        memcpy(late_reach(words[0], 8 * words[2]), late_reach(words[1], 8 * words[2]),
               8 * words[2]);
        break;
    case LATE_GCC:
        late_gcc(words);
        break;
    default:
        queue->error = OMPRMA_ERR_KERNEL;
    }
}

/* False: it has to wait. */
static inline bool late_step(omprma_queue_t *queue)
{
    struct late_operation *first = queue->first;

    if (!first || (first->what == LATE_WAIT && first->queue->done < first->place))
        return false;
    queue->first = first->next;
    if (!queue->first)
        queue->last = &queue->first;
    if (first->what == LATE_MOVE && queue->error == OMPRMA_OK)
        memmove(late_reach(first->to, first->bytes),
                first->owned ? first->owned : late_reach(first->from, first->bytes), first->bytes);
    if (first->what == LATE_LAUNCH && queue->error == OMPRMA_OK)
        late_run_kernel(queue, first);
    queue->done++;
    if (first->what == LATE_NOTIFY)
        first->callback(first->data, queue->error);
    free(first->owned);
    free(first);
    return true;
}

static inline bool late_pass(void)
{
    bool any = false;

    for (omprma_queue_t *queue = late.queues; queue; queue = queue->next) {
        int most = late.draw.state ? (int)draw_below(&late.draw, 3) : 1 << 20;
        while (most-- > 0 && late_step(queue))
            any = true;
    }
    return any;
}

omprma_status_t omprma_progress(void)
{
    bool any;

    pthread_mutex_lock(&late.lock);
    any = late_pass();
    late.round_trips += any;
    while (!late.draw.state && any)
        any = late_pass();
    pthread_mutex_unlock(&late.lock);
    return OMPRMA_OK;
}

bool omprma_rest(int64_t ns)
{
    (void)ns;
    return false;
}

/* Counted for those that have to be driven again. */
bool omprma_wait_until(bool (*done)(const void *data), const void *data)
{
    (void)done, (void)data;
    if (!late.drives)
        return false;
    late.driven++;
    omprma_progress();
    return true;
}

void omprma_look_again(void)
{
}

/* ---- queues --------------------------------------------------------------------------------- */

omprma_status_t omprma_queue_create(int device, omprma_queue_t **queue)
{
    *queue = calloc(1, sizeof(**queue));
    (*queue)->device = device;
    (*queue)->last = &(*queue)->first;
    pthread_mutex_lock(&late.lock);
    (*queue)->next = late.queues;
    late.queues = *queue;
    pthread_mutex_unlock(&late.lock);
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_synchronize(omprma_queue_t *queue)
{
    omprma_status_t status;

    pthread_mutex_lock(&late.lock);
    while (queue->first)
        late_pass();
    status = queue->error;
    queue->error = OMPRMA_OK;
    pthread_mutex_unlock(&late.lock);
    return status;
}

/* Stays in memory, because waits of others look at it. */
omprma_status_t omprma_queue_destroy(omprma_queue_t *queue)
{
    return omprma_queue_synchronize(queue);
}

static inline omprma_status_t late_append(omprma_queue_t *queue, struct late_operation operation)
{
    struct late_operation *made = malloc(sizeof(*made));

    *made = operation;
    pthread_mutex_lock(&late.lock);
    *queue->last = made;
    queue->last = &made->next;
    queue->issued++;
    pthread_mutex_unlock(&late.lock);
    return OMPRMA_OK;
}

static inline void *late_copy(const void *from, size_t bytes)
{
    return memcpy(malloc(bytes + 1), from, bytes);
}

static inline omprma_status_t late_move(omprma_queue_t *queue, uint64_t to, uint64_t from,
                                        size_t bytes, bool now)
{
    return late_append(queue, (struct late_operation){
                                  .what = LATE_MOVE,
                                  .to = to,
                                  .from = from,
                                  .bytes = bytes,
                                  .owned = now ? late_copy(late_reach(from, bytes), bytes) : NULL});
}

omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                              size_t bytes)
{
    return late_move(queue, to, (uintptr_t)from, bytes, bytes <= OMPRMA_COPIED_SUBMIT);
}

omprma_status_t omprma_submit_in_turn(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                      size_t bytes)
{
    return late_move(queue, to, (uintptr_t)from, bytes, false);
}

omprma_status_t omprma_submit_copied(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                     size_t bytes)
{
    return late_move(queue, to, (uintptr_t)from, bytes, true);
}

omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from, size_t bytes)
{
    return late_move(queue, (uintptr_t)to, from, bytes, false);
}

omprma_status_t omprma_exchange(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                omprma_addr_t to, size_t bytes)
{
    if (late_device(from) != queue->device || late_device(to) != to_device)
        abort();
    return late_move(queue, to, from, bytes, false);
}

omprma_status_t omprma_fill(omprma_queue_t *queue, omprma_addr_t to, const void *pattern,
                            size_t pattern_bytes, size_t count)
{
    char *content = malloc(pattern_bytes * count + 1);

    for (size_t i = 0; i < count; i++)
        memcpy(content + i * pattern_bytes, pattern, pattern_bytes);
    return late_append(
        queue, (struct late_operation){
                   .what = LATE_MOVE, .to = to, .bytes = pattern_bytes * count, .owned = content});
}

omprma_status_t omprma_launch_packed(omprma_queue_t *queue, omprma_addr_t kernel,
                                     const omprma_geometry_t *geometry, const void *parameters,
                                     size_t bytes)
{
    pthread_mutex_lock(&late.lock);
    late.geometry = *geometry;
    pthread_mutex_unlock(&late.lock);
    return late_append(queue, (struct late_operation){.what = LATE_LAUNCH,
                                                      .from = kernel,
                                                      .owned = late_copy(parameters, bytes)});
}

omprma_status_t omprma_queue_notify(omprma_queue_t *queue,
                                    void (*callback)(void *data, omprma_status_t status),
                                    void *data)
{
    return late_append(
        queue, (struct late_operation){.what = LATE_NOTIFY, .callback = callback, .data = data});
}

omprma_status_t omprma_event_create(omprma_event_t **event)
{
    *event = calloc(1, sizeof(**event));
    return OMPRMA_OK;
}

omprma_status_t omprma_event_record(omprma_event_t *event, omprma_queue_t *queue)
{
    *event = (omprma_event_t){queue, queue->issued};
    return OMPRMA_OK;
}

omprma_status_t omprma_event_wait(omprma_event_t *event, omprma_queue_t *queue)
{
    return late_append(queue, (struct late_operation){
                                  .what = LATE_WAIT, .queue = event->queue, .place = event->place});
}

void omprma_event_destroy(omprma_event_t *event)
{
    free(event);
}

/* ---- devices and memory --------------------------------------------------------------------- */

omprma_status_t omprma_init(void)
{
    for (int i = 0; i < LATE_DEVICES; i++) {
        late.memory[i] = calloc(1, LATE_BYTES);
        late.used[i] = 4096;
    }
    return OMPRMA_OK;
}

void omprma_finalize(void)
{
}

const char *omprma_error(void)
{
    return "the stand-in has failed";
}

int omprma_error_code(void)
{
    return 0;
}

int omprma_device_count(void)
{
    return LATE_DEVICES;
}

omprma_status_t omprma_device_info(int device, omprma_device_info_t *info)
{
    (void)device;
    *info = (omprma_device_info_t){.backend = "hsa"};
    return OMPRMA_OK;
}

omprma_status_t omprma_alloc(int device, size_t bytes, omprma_addr_t *address)
{
    pthread_mutex_lock(&late.lock);
    size_t at = late.used[device];
    late.used[device] += (bytes + 63) / 64 * 64;
    if (late.used[device] > LATE_BYTES)
        abort();
    late.blocks++;
    pthread_mutex_unlock(&late.lock);
    *address = LATE_BEGIN + (uint64_t)device * LATE_BYTES + at;
    return OMPRMA_OK;
}

omprma_status_t omprma_free(int device, omprma_addr_t address)
{
    if (late_device(address) != device)
        abort();
    pthread_mutex_lock(&late.lock);
    late.blocks--;
    pthread_mutex_unlock(&late.lock);
    return OMPRMA_OK;
}

int omprma_owner(omprma_addr_t address, omprma_addr_t *block, uint64_t *bytes)
{
    *block = *bytes = 0;
    return late_device(address);
}

omprma_addr_t omprma_addresses_taken(omprma_addr_t address, uint64_t bytes, uint64_t *length)
{
    (void)address, (void)bytes;
    *length = 0;
    return 0;
}

omprma_status_t omprma_fault_address(int device, omprma_addr_t *address)
{
    *address = 0x1000 + (omprma_addr_t)device;
    return OMPRMA_OK;
}

static inline size_t late_fact(uint64_t *at, enum hsa_subject subject, uint32_t attribute,
                               const void *value, size_t bytes)
{
    struct hsa_fact *fact = (struct hsa_fact *)at;

    *fact = (struct hsa_fact){
        .subject = (uint16_t)subject, .attribute = attribute, .bytes = (uint32_t)bytes};
    memcpy(fact->value, value, bytes);
    return (sizeof(*fact) + bytes + 7) / 8;
}

static inline size_t late_facts(struct hsa_facts *answer)
{
    static const char isa[] = "amdgcn-amd-amdhsa--gfx90a";
    static const uint32_t segment = HSA_AMD_SEGMENT_GLOBAL,
                          flags = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
    static const uint64_t size = LATE_BYTES;
    size_t words = 0;

    *answer = (struct hsa_facts){.count = 4, .total = 4};
    words += late_fact(answer->facts, HSA_OF_ISA, HSA_ISA_INFO_NAME, isa, sizeof(isa) - 1);
    words += late_fact(&answer->facts[words], HSA_OF_POOL, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
                       &segment, sizeof(segment));
    words += late_fact(&answer->facts[words], HSA_OF_POOL, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                       &flags, sizeof(flags));
    words += late_fact(&answer->facts[words], HSA_OF_POOL, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size,
                       sizeof(size));
    return sizeof(*answer) + 8 * words;
}

static inline size_t late_symbol(uint64_t *at, const char *name, struct hsa_symbol about)
{
    struct hsa_symbol *symbol = (struct hsa_symbol *)at;

    *symbol = about;
    symbol->name_bytes = (uint32_t)strlen(name);
    memcpy(symbol + 1, name, strlen(name));
    return (sizeof(*symbol) + strlen(name) + 7) / 8;
}

static inline size_t late_symbols(struct hsa_symbols *answer, int device)
{
    static const struct {
        const char *name;
        struct hsa_symbol about;
    } all[] = {
        {"add.kd", {LATE_ADD, .kind = 1, .argument_bytes = 24, .group_bytes = 16}},
        {"copy.kd", {LATE_COPY, .kind = 1, .argument_bytes = 24}},
        {"fault.kd", {LATE_FAULT, .kind = 1, .argument_bytes = 24}},
        {"gcc.kd", {LATE_GCC, .kind = 1}},
        {"counter", {LATE_VARIABLE, .bytes = 8}},
        {"__llvm_rpc_client", {LATE_VARIABLE + 8, .bytes = 8}},
    };
    bool clash = late.clashes > 0;
    size_t words = 0;

    late.clashes -= clash;
    *answer = (struct hsa_symbols){.count = late.rpc ? 6 : 5, .total = late.rpc ? 6 : 5};
    for (uint32_t i = 0; i < answer->count; i++) {
        struct hsa_symbol about = all[i].about;
        if (about.kind == 0 && !clash)
            about.address += (uint64_t)device * LATE_BYTES;
        words += late_symbol(&answer->symbols[words], all[i].name, about);
    }
    return sizeof(*answer) + 8 * words;
}

omprma_status_t omprma_device_ask(int device, uint32_t what, const void *question, size_t bytes,
                                  void *answer, size_t room, size_t *answered)
{
    (void)question, (void)bytes, (void)room;
    switch (what) {
    case HSA_ASK_FACTS:
        *answered = late_facts(answer);
        return OMPRMA_OK;
    case HSA_ASK_SYMBOLS:
        *answered = late_symbols(answer, device);
        return OMPRMA_OK;
    case HSA_ASK_UNLOAD:
        late.unloaded++;
        return OMPRMA_OK;
    default:
        return OMPRMA_ERR_UNSUPPORTED;
    }
}

omprma_status_t omprma_module_load(int device, const void *image, size_t bytes, uint64_t *module)
{
    (void)device;
    (void)device;
    *module = 7;
    return bytes == 4 && memcmp(image, "code", 4) == 0 ? OMPRMA_OK : OMPRMA_ERR_IMAGE;
}

void omprma_say(int severity, const char *text)
{
    (void)severity;
    snprintf(late.line, sizeof(late.line), "%s", text);
}

omprma_status_t omprma_progress_thread(int change)
{
    (void)change;
    return OMPRMA_OK;
}

/* For the parts that nobody uses here. */
omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const omprma_geometry_t *geometry, const uint64_t *arguments,
                              size_t count)
{
    (void)queue, (void)kernel, (void)geometry, (void)arguments, (void)count;
    return OMPRMA_ERR_UNSUPPORTED;
}

omprma_status_t omprma_launch_context(omprma_queue_t *queue, omprma_addr_t kernel,
                                      const omprma_geometry_t *geometry, const uint64_t *arguments,
                                      size_t count)
{
    return omprma_launch(queue, kernel, geometry, arguments, count);
}

omprma_status_t omprma_queue_hold(omprma_queue_t *queue,
                                  void (*reached)(omprma_hold_t *hold, void *data,
                                                  omprma_status_t status),
                                  void *data)
{
    (void)queue, (void)reached, (void)data;
    return OMPRMA_ERR_UNSUPPORTED;
}

void omprma_hold_end(omprma_hold_t *hold)
{
    (void)hold;
}

#endif
