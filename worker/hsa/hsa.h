/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hsa.h: devices that are AMD GPUs of this machine, by the HSA runtime: what worker/gpu does not
 * know of them.
 *
 * - runtime.c: the runtime: opened at run time, errors in words
 * - fault.c: what the runtime tells of GPUs and queues that are lost
 * - range.c: which addresses are memory of a GPU, and who else may reach it
 * - block.c: small memory of the host that GPUs reach; and what of this process they reach, too
 * - stream.c: streams and events, which the runtime does not have, out of signals
 * - copy.c: copies and fills
 * - launch.c: queues and packets
 * - module.c, isa.c: images, modules, what is in them, and the GPU that they are for
 * - question.c, facts.c: what omprma_device_ask() asks, see base/hsa_questions.h
 * - hsa.c: opening, closing, description
 *
 * Thread: with the server's lock held, but for what runs on the helper thread. Both may copy at
 * once, each in streams of its own.
 */
#ifndef OMPRMA_WORKER_HSA_HSA_H
#define OMPRMA_WORKER_HSA_HSA_H

#include <pthread.h>
#include <stdatomic.h>

#include "worker/gpu/gpu.h"
#include "worker/gpu/kind.h"
#include "worker/hsa/runtime.h"

struct hsa_module;
struct hsa_step;

/* How many queues of the runtime the streams of a GPU share: they take memory of the GPU, and the
 * hardware has few. */
enum { HSA_LANES = 8, HSA_WORDS_BYTES = 512, HSA_BUS_BYTES = 16, HSA_ISA_BYTES = 64 };

struct hsa_range {
    uint64_t base, bytes;
    const void *owner; /* a module; NULL: memory of its own */
};

/* The GPU is lost. All but `code` is written before that. */
struct hsa_fault {
    _Atomic int code; /* of the runtime; 0: it is well */
    uint64_t address; /* that was no memory; 0: not known */
    char words[HSA_WORDS_BYTES];
};

struct hsa {
    struct gpu gpu;
    const struct rocr *rocr;
    hsa_agent_t agent;
    hsa_amd_memory_pool_t pool; /* of its memory */
    uint64_t pool_bytes;
    char isa[HSA_ISA_BYTES]; /* "gfx90a:sramecc+:xnack-"; "": not known */
    char bus[HSA_BUS_BYTES]; /* "0000:c1:00.0" */
    uint32_t units;          /* compute units */
    uint32_t threads_most;   /* of a team */
    uint32_t group_most;     /* bytes of a team; 0: not known */
    uint32_t queue_packets;
    struct hsa_fault fault;

    pthread_mutex_t lock; /* around what follows, up to the next empty line */
    struct hsa_step *spare_steps;
    struct hsa_range *ranges;
    uint32_t range_count, range_room;

    struct hsa *peers[ROCR_GPUS_MOST]; /* that reach its memory, and whose memory it reaches */
    uint32_t peer_count;
    hsa_queue_t *lanes[HSA_LANES];
    _Atomic uint32_t streams_made;

    struct hsa_module *modules; /* the helper thread's */
    void *facts;                /* the helper thread's, see facts.c; NULL: nobody has asked */
    size_t facts_bytes;
};

static inline struct hsa *hsa_of(const struct gpu *gpu)
{
    return (struct hsa *)gpu;
}

/* ---- hsa.c */

extern const struct gpu_kind hsa_kind;

/* ---- fault.c */

/* Once after the runtime's start. Returns the runtime's code. */
int rocr_faults_begin(struct rocr *rocr);

/* From here on the GPU hears of its faults; to there. */
void rocr_faults_add(struct hsa *hsa);
void rocr_faults_remove(const struct hsa *hsa);

/* A copy of the GPU has gone wrong; see gpu_driver.is_fatal. Returns the code. */
int rocr_fault_of_copy(struct hsa *hsa);

/* The runtime's callback for what goes wrong in a queue; `data` is the GPU. On its own thread. */
void rocr_fault_of_queue(hsa_status_t status, hsa_queue_t *queue, void *data);

/* 0: the GPU is well. Else the runtime's code. */
static inline int rocr_fault_code(const struct hsa *hsa)
{
    return atomic_load_explicit(&hsa->fault.code, memory_order_acquire);
}

/* ---- range.c */

int rocr_memory_alloc(const struct gpu *gpu, uint64_t *address, uint64_t bytes);
int rocr_memory_free(const struct gpu *gpu, uint64_t address);

/* Variables of a module. Errors: HOST_MEMORY. */
omprma_status_t rocr_range_add(struct hsa *hsa, uint64_t base, uint64_t bytes, const void *owner);
void rocr_ranges_forget(struct hsa *hsa, const void *owner);

/* All of it is memory of the GPU. *own: which can be made known to peers, and is. */
bool rocr_range_is(struct hsa *hsa, uint64_t address, uint64_t bytes, bool *own);

void rocr_reach(const struct gpu *gpu, const struct gpu *other);
bool rocr_reaches(const struct hsa *hsa, const struct hsa *other);

/* ---- block.c: of all GPUs of the process */

/* Memory of the host that all GPUs reach, at a multiple of 256 (from 4096 bytes on, of 4096). NULL:
 * there is none, and *code says why. */
void *rocr_block_take(const struct rocr *rocr, size_t bytes, int *code);
void rocr_block_give(const struct rocr *rocr, void *block, size_t bytes);
void rocr_blocks_end(const struct rocr *rocr);

int rocr_host_lock(const struct gpu *gpu, void *memory, size_t bytes);
int rocr_host_unlock(const struct gpu *gpu, void *memory);

/* Where GPUs see memory of this process that is locked; NULL: not all of it is. */
void *rocr_host_at(const void *memory, size_t bytes);

/* ---- stream.c */

/* One thing in a stream: a copy or a kernel. */
struct hsa_step {
    struct hsa_step *next;
    hsa_signal_t signal; /* it is over when this is 0 */
    bool kernel;
    const struct hsa *other; /* to whose memory it copies, if that is another GPU; or NULL */
    bool astray; /* that one is lost, and may still use signal and block, which nobody gets again */
    void *block; /* goes with it, see rocr_block_take(); or NULL */
    size_t block_bytes;
    void *to; /* where what came into the block belongs; or NULL */
    size_t to_bytes;
};

struct gpu_stream_s {
    struct hsa_step *first, *last; /* that are not known to be over */
    struct hsa_step *held;         /* is over, but `first` may not have seen that yet */
    hsa_queue_t *queue;            /* for its kernels; NULL: it had none so far */
    uint32_t number;
    uint64_t begun, ended; /* how many steps */
};

/* A step for that stream, of which nobody knows yet. Afterwards either of the other two. */
int rocr_step_take(struct hsa *hsa, struct hsa_step **step);
void rocr_step_drop(struct hsa *hsa, struct hsa_step *step);
void rocr_step_append(gpu_stream stream, struct hsa_step *step);

/* The step that the next one of the stream has to wait for; NULL: there is none. *code: what went
 * wrong with the GPU. */
struct hsa_step *rocr_stream_last(struct hsa *hsa, gpu_stream stream, int *code);

void rocr_steps_free(struct hsa *hsa);

int rocr_stream_create(const struct gpu *gpu, gpu_stream *stream);
int rocr_stream_destroy(const struct gpu *gpu, gpu_stream stream);
int rocr_stream_query(const struct gpu *gpu, gpu_stream stream);
int rocr_stream_wait(const struct gpu *gpu, gpu_stream stream);
void rocr_stream_let_go(const struct gpu *gpu, gpu_stream stream);
int rocr_event_record(const struct gpu *gpu, gpu_event *event, gpu_stream stream);
int rocr_event_destroy(const struct gpu *gpu, gpu_event event);
int rocr_event_query(const struct gpu *gpu, gpu_event event);
int rocr_event_wait(const struct gpu *gpu, gpu_event event);

enum { ROCR_NOT_READY = HSA_STATUS_INFO_BREAK /* no call of ours returns it */ };

/* ---- copy.c */

int rocr_copy(const struct gpu *gpu, const struct backend_copy *copy, gpu_stream stream);
int rocr_fill(const struct gpu *gpu, const struct backend_fill *fill, gpu_stream stream);

/* ---- launch.c */

int rocr_launch(const struct gpu *gpu, const struct gpu_kernel *kernel,
                const struct wire_launch *with, const unsigned size[6], gpu_stream stream);
void rocr_lanes_free(struct hsa *hsa);

/* ---- module.c, on the helper thread */

/* What an image or module holds. */
struct hsa_content {
    char *name; /* as the runtime calls it: kernels end with ".kd" */
    bool kernel, constant, dynamic_stack;
    uint64_t address, bytes; /* of a kernel: its descriptor */
    uint32_t argument_bytes, argument_alignment, group_bytes, private_bytes;
};

omprma_status_t rocr_load(struct gpu *gpu, const struct backend_load *load, uint64_t *value);

/* Errors: ARGUMENT (no such module). */
omprma_status_t rocr_module_contents(struct hsa *hsa, uint64_t module,
                                     const struct hsa_content **contents, uint32_t *count);
omprma_status_t rocr_module_unload(struct hsa *hsa, uint64_t module);
void rocr_modules_unload(struct hsa *hsa);

/* ---- isa.c */

/* The processor that a code object is for, by its ELF flags: "gfx90a"; NULL: not known. */
const char *rocr_isa_name(uint32_t elf_flags);

/* ---- question.c, facts.c, on the helper thread */

omprma_status_t rocr_answer(struct gpu *gpu, struct backend_ask *ask);

/* Puts struct hsa_facts together, from number `first` on, as far as there is room. Errors:
 * HOST_MEMORY. */
omprma_status_t rocr_facts(struct hsa *hsa, uint32_t first, struct backend_ask *ask);

#endif
