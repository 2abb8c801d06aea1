/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.h: queues of packets in host memory, each with a lane (lanes.h): their life, their waits
 * and their failures. What packets have done is in packets.h, when they are taken in ring.c.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HSA_QUEUE_H
#define OMPRMA_HSA_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/hsa_abi.h"
#include "hsa/lanes.h"

struct gpu;

/* All kinds of packets have their header and their completion signal at the same places. */
union packet {
    struct {
        uint16_t header;
        uint16_t words[27];
        hsa_signal_t completion_signal;
    };
    hsa_kernel_dispatch_packet_t dispatch;
    hsa_barrier_and_packet_t barrier;
    hsa_amd_barrier_value_packet_t value;
};

/* A packet that had to wait, or came behind such a one. */
struct taken {
    STAILQ_ENTRY(taken) link;
    union packet packet;
};

struct queue {
    amd_queue_t amd; /* first: the program's handle is the address of its first part */
    LIST_ENTRY(queue) link;
    atomic_int references; /* the list's, and those of what has to come back to it */
    struct gpu *gpu;
    struct lane *lane;
    struct signal *doorbell;
    hsa_queue_callback_t callback;
    void *data;
    void (*go_on)(struct queue *queue);   /* with the lock: the wait of the first packet is over */
    pthread_mutex_t lock;                 /* guards what follows, and the order of packets */
    STAILQ_HEAD(taken_list, taken) taken; /* that are not in the lane yet */
    struct needs needs;                   /* of the first of them */
    int next;                             /* its first dependency that has not been looked at */
    uint64_t turn;                        /* counts waits, so that each ends once */
    bool waits, stopped;
};

struct queue *queue_of(const hsa_queue_t *handle);

/* NULL: no memory. It has no lane, and is not listed. */
struct queue *queue_make(uint32_t size);

/* From now on it is told of failures of its GPU, until queue_unlist(). */
void queue_list(struct queue *queue);
void queue_unlist(struct queue *queue);

/* Drops a reference; the last one frees it. */
void queue_drop(struct queue *queue);

/* Under the lock. The queue goes on when the signal's value meets the condition. Several calls for
 * one packet: when the first of them does. */
void queue_waits_for(struct queue *queue, struct signal *signal, hsa_signal_condition_t condition,
                     hsa_signal_value_t compare, hsa_signal_value_t mask);

/* The queue executes nothing any more, and its callback is called with the status. */
void queue_fail(struct queue *queue, hsa_status_t status);

/* On the caller (attendant.h): calls the callbacks of all queues of the GPU. False: there is none.
 */
bool queues_tell(struct gpu *gpu, hsa_status_t status);

#endif
