/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * devices.h: which of omprma's devices are GPUs of one kind, and questions to them. Knows nothing
 * of any driver interface.
 *
 * Thread: any. Blocks: device_ask() for one round trip.
 */
#ifndef OMPRMA_FACE_DRIVER_DEVICES_H
#define OMPRMA_FACE_DRIVER_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

/* Numbers of omprma's devices of this kind ("cuda"), in their order, malloced; `*count` of them.
 * NULL: no memory. */
int *devices_find(const char *kind, int *count);

/* omprma_device_ask() for an answer of known size; a shorter one leaves zeros. */
omprma_status_t device_ask(int device, uint32_t what, const void *question, size_t bytes,
                           void *answer, size_t room);

#endif
