/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * standin.h: a stand-in for AMD's HSA runtime (ROCr), for tests where no GPU is:
 * libhsa-runtime64.so.1 by name, with devices whose memory is memory of the process and whose
 * kernels are functions of the host. It is compiled against the real runtime's headers. It shows
 * that calls, packets, their order and the data are right; it executes no GPU code.
 *
 * Where the real runtime or a GPU would go wrong, it goes wrong: memory of a GPU cannot be touched
 * at its address but by kernels, while they run; copies and packets happen later than they are
 * asked for, in any order that their dependencies allow; a copy that touches memory that its GPU
 * may not touch, and a packet with a wrong number in it, lose that GPU.
 *
 * - settings.c: what it is told by the environment; what is left over at the end
 * - agent.c: start and end, agents, ISAs, pools, and what can be asked of them
 * - memory.c: memory of GPUs and of the host, who may touch it, copies and fills that are waited
 * for
 * - signal.c: signals, waits, handlers
 * - copy.c: copies that depend on signals
 * - queue.c: queues and their packets
 * - kernel.c: kernels are run; faults
 * - object.c: what code objects say: kernels, variables, arguments
 * - executable.c: code objects are loaded, their symbols
 * - refused.c: what the real one has and nobody can do here
 * - tests/standin: failing calls, and the host functions behind kernels
 *
 * Environment, read by hsa_init():
 * - STANDIN_DEVICES: how many GPUs (1); 0: hsa_init says 0x1008, as where there is no driver
 * - STANDIN_MEMORY: MiB of each (4096)
 * - STANDIN_PLACE: where memory of GPUs is, see tests/standin/place.h
 * - STANDIN_ISA: "gfx90a:sramecc+:xnack-", with commas between the ones of several GPUs; the last
 * is that of all further ones
 * - STANDIN_DELAY: most microseconds by which something is done too late (200)
 * - STANDIN_TAKES: microseconds that each kernel and each copy takes (0)
 * - STANDIN_SPEED: GB/s of a GPU's copies in and out; then copies from 32 KiB on, after the first
 * 32 MiB, move nothing and, without delay, all else is done by whoever rings, asks or waits, at
 * once: for measurements
 * - STANDIN_FAIL: NUMBER or FUNCTION:NUMBER, and :CODE: that call returns CODE (0x1000)
 * - STANDIN_REFUSE: attributes that nobody has, with commas between:
 * agent:a011,isa:1,pool:7,system:202, region:1,symbol:f; numbers are hexadecimal
 * - STANDIN_CODE: files with x86-64 code for kernels, with colons between: shared objects, or
 *   programs with x86-64 offload images in them
 * - STANDIN_POINTERS: kernels of that code take one parameter, an array of pointers to their
 *   arguments, as those of clang 23 do
 * - STANDIN_REPORT: a file that gets the number of calls, and a line per kind of thing that was not
 *   given back
 */
#ifndef OMPRMA_TESTS_HSA_STANDIN_H
#define OMPRMA_TESTS_HSA_STANDIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The real ones; what they declare is exported. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define HSA_EXPORT 1
#define HSA_EXPORT_IMAGES 1
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>
#pragma GCC diagnostic pop

#include "tests/hsa/counts.h"
#include "tests/standin/calls.h"
#include "tests/standin/code.h"
#include "tests/standin/place.h"

#define EXPORT __attribute__((visibility("default")))

enum { DEVICES_MOST = 16 };

/* ---- settings.c */

struct settings {
    int devices;
    size_t memory_bytes;
    int takes_us;
    int gbps; /* 0: copies are made */
    _Atomic unsigned delay_us;
    const char *isas, *refused, *code; /* "" if there is none */
};

extern struct settings settings;
extern struct standin_counts counts; /* by counts_add() */

/* Somebody measures what others add: a GPU takes no processor of the host's. */
static inline bool settings_measure(void)
{
    return settings.gbps && !settings.delay_us;
}

void settings_read(void);
void counts_add(int *count, int more);

/* Nobody is told an attribute of "agent", "isa" and so on. */
bool is_refused(const char *what, unsigned attribute);

/* What is done too late sleeps as long; seed: of the calling thread. */
void be_late(unsigned *seed);

#define ENTER                                                                                      \
    do {                                                                                           \
        int code_ = call_begin(__func__);                                                          \
        if (code_)                                                                                 \
            return (hsa_status_t)code_;                                                            \
        if (!is_started())                                                                         \
            return HSA_STATUS_ERROR_NOT_INITIALIZED;                                               \
    } while (0)

/* ---- agent.c */

/* The headers leave it open what they take. */
hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

struct agent {
    int device; /* -1: the processor */
    char name[64], isa[128];
    _Atomic bool lost;       /* nothing is done on it any more */
    pthread_mutex_t kernels; /* one runs at a time */
};

struct pool {
    struct agent *agent;
    hsa_amd_segment_t segment;
    uint32_t flags;
};

bool is_started(void);

/* NULL: it is none. */
struct agent *agent_of(hsa_agent_t handle);
struct agent *agent_of_device(int device);
hsa_agent_t agent_handle(const struct agent *agent);
struct pool *pool_of(uint64_t handle);

/* ---- memory.c */

enum block_kind { BLOCK_HOST, BLOCK_DEVICE, BLOCK_LOCKED, BLOCK_CODE };

/* Memory of a GPU, which may be touched at its address by GPUs only: memory_takes_part() opens it
 * to kernels; `memory` is where the stand-in itself reaches it. */
hsa_status_t memory_allocate(struct agent *agent, size_t bytes, bool all_may, void **address);
void memory_free_code(void *address);

/* Names a variable that lies in host code: it is memory of a GPU that the host can touch. */
void memory_note(void *address, size_t bytes, struct agent *agent);
void memory_forget(void *address);

/* Where the stand-in reaches these bytes if that GPU may touch them; NULL: it may not. A NULL
 * agent: if anybody may. `host_too`: any memory of the process will do that is no GPU's. */
void *memory_reach(const void *address, size_t bytes, const struct agent *agent, bool host_too);

/* From begin to end, kernels of that GPU touch what it may touch. */
void memory_begin(const struct agent *agent);
void memory_end(const struct agent *agent);

/* Everything is given back; at the end of the runtime. */
void memory_forget_all(void);

/* ---- signal.c */

/* Something has changed that somebody waits for: signals, queues, copies. */
extern pthread_mutex_t world_lock;
void world_changed(void);          /* with the lock */
void world_wait(unsigned most_us); /* with the lock: until something changes, or so long */

/* For who measures: does what can be done now, if nobody is at it. */
void world_advance(void);

int64_t signal_load(hsa_signal_t signal);
void signal_subtract(hsa_signal_t signal, int64_t value); /* 0: none */
void signal_times(hsa_signal_t signal, uint64_t start, uint64_t end);
uint64_t now_ns(void);

/* Has the thread that calls handlers call it. */
void handlers_call(void (*function)(void *data), void *data);

void signals_begin(void);
void signals_end(void);

/* ---- copy.c */

/* With world_lock, which it gives up meanwhile: does one that may begin; false: there is none. */
bool copies_step(unsigned *seed);

void copies_begin(void);
void copies_end(void);

/* Waits for copies that move at the moment, and has the GPU lost. True: it was. */
bool copies_lose(struct agent *agent);

/* ---- queue.c */

struct queue {
    amd_queue_t amd; /* what programs see is its first member */
    struct queue *next;
    struct agent *agent;
    pthread_t thread;
    amd_signal_t *doorbell;
    pthread_cond_t rung;
    void (*on_error)(hsa_status_t status, hsa_queue_t *queue, void *data);
    void *data;
    bool stop, inactive;
    struct pending *pending;
    int pending_count;
    unsigned seed;
};

/* Its doorbell has another value. */
void queue_rung(struct queue *queue);

/* With world_lock, which it gives up meanwhile: does one thing of any queue; false: there is none.
 */
bool queues_step(void);

/* What is not destroyed stops. */
void queues_end(void);

/* ---- kernel.c */

void handlers_forget(void);

/* Runs a dispatch packet. */
void kernel_run(struct queue *queue, const hsa_kernel_dispatch_packet_t *packet);

/* The GPU has touched what it may not, in words and at an address: it is lost, and handlers hear of
 * it. */
void agent_fault(struct agent *agent, uint64_t address, const char *words);

/* The same for what else went wrong in a queue. */
void queue_fault(struct queue *queue, hsa_status_t status, const char *words);

/* ---- object.c */

struct object_symbol {
    char *name;
    bool kernel, constant;
    uint64_t value; /* in the loaded code object */
    size_t bytes;   /* of a variable */
    /* Of a kernel: */
    uint32_t group_bytes, private_bytes, argument_bytes;
    bool dynamic_stack;
    bool described; /* the code object says what its arguments are */
    uint32_t count; /* of its arguments, without hidden ones */
    struct object_argument {
        uint32_t offset, bytes;
    } * arguments;
};

struct object {
    char *bytes;
    size_t size;
    size_t loaded_bytes; /* in memory */
    struct object_symbol *symbols;
    size_t count;
};

/* Reads it: a copy is made. `size` is 0 where that is not known. */
hsa_status_t object_read(struct object *object, const void *data, size_t size);
bool object_is_for(const struct object *object, const char *isa);
/* Its segments, to memory of loaded_bytes. */
void object_place(const struct object *object, void *memory);
void object_free(struct object *object);

/* ---- executable.c */

/* A kernel that is loaded, by its kernel object; NULL: there is none. */
struct kernel {
    const struct object_symbol *symbol;
    struct agent *agent;
    char name[512]; /* without .kd */
    void *function; /* NULL: there is no host code for it */
};
const struct kernel *kernel_find(uint64_t kernel_object);

#endif
