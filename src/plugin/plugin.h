/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * plugin.h: what the entry points of all LLVM generations share: start and end, queues behind
 * AsyncInfo, tables of loaded images, and one way to report errors. The entry points themselves are
 * in rtl_*.c and hold no logic of their own.
 * Knows only include/omprma and the types of libomptarget; nothing of MPI or of omprma's inside.
 *
 * Thread: any function from any thread, as libomptarget does. Blocks: as said by the omprma
 * function behind each.
 */
#ifndef OMPRMA_PLUGIN_PLUGIN_H
#define OMPRMA_PLUGIN_PLUGIN_H

#include <stdbool.h>
#include <omprma/omprma.h>
#include "plugin/types.h"

/* ---- start and end (plugin.c) ---- */

/* Starts omprma on the first call. Returns the number of devices; 0, after one line that says why,
 * when there are none. */
int plugin_start(void);

/* omprma's number of one of them: workers may have devices of other kinds too, which are not for
 * this plugin. */
int plugin_number(int device);

/* Every entry point that uses a device runs between these two. False: omprma is not running, or the
 * process is ending, or there is no such device; return a failure, there is nothing to report. */
bool plugin_enter(int device);
void plugin_leave(void);

/* True from the moment the process has begun to end. */
bool plugin_ended(void);

/* ---- errors (plugin.c) ---- */

/* Prints "omprma: error: device N: ..." with one write; the same line twice in a row only once. A
 * negative device leaves it out. Always returns RTL_FAIL. */
int32_t plugin_fail(int device, const char *text);

/* RTL_SUCCESS for OMPRMA_OK, else plugin_fail() with the thread's omprma_error(). */
int32_t plugin_result(omprma_status_t status);

/* ---- queues (queue.c) ---- */

/* Room for the free queues of so many devices. False when malloc fails. */
bool queue_pool_create(int devices);

/* The queue of `async`, taken from the pool if it has none. NULL after plugin_fail(). */
omprma_queue_t *queue_of(int device, struct tgt_async *async);

/* Waits for the queue of `async`, gives it back and clears the pointer. */
int32_t queue_finish(int device, struct tgt_async *async);

/* Ends an entry point that issued `status` on `async`. `wait`: finish it here, because the
 * caller had no AsyncInfo and `async` is a local one, or because the caller relies on it. */
int32_t queue_issued(int device, struct tgt_async *async, bool wait, omprma_status_t status);

/* ---- operations (operate.c); `async` may be NULL: then they are synchronous ---- */

int32_t plugin_submit(int device, void *to, const void *from, int64_t bytes,
                      struct tgt_async *async);
int32_t plugin_retrieve(int device, void *to, const void *from, int64_t bytes,
                        struct tgt_async *async);
int32_t plugin_exchange(int device, const void *from, int to_device, void *to, int64_t bytes,
                        struct tgt_async *async);

/* libomptarget is of LLVM 15 or newer; said once, before anything else. Until then retrieves are
 * done in a way that older ones can live with, see operate.c. */
void operate_from_15(void);

/* Launches with arguments[i] + offsets[i], behind `leading` NULL pointers. */
int32_t plugin_launch(int device, void *kernel, void **arguments, const ptrdiff_t *offsets,
                      uint32_t count, uint32_t leading, struct tgt_async *async);

/* `host`: what it is a copy of, or NULL. */
void *plugin_alloc(int device, int64_t bytes, const void *host, int32_t kind);
int32_t plugin_delete(int device, void *address);

/* ---- programs for several kinds of devices (mixed.c) ---- */

/* The program has an image that is not for this plugin. */
void mixed_note(void);

/* True if it has, and libomptarget confuses what plugins put into AsyncInfo: then submits do not
 * leave a queue there. */
bool mixed_is(void);

/* Waits for what another plugin has put there. Blocks: yes. */
int32_t mixed_synchronize(void *stream);

/* ---- images (image.c) ---- */

/* 1 if this plugin can run the image, else 0; a damaged one is reported. */
int32_t image_accept(const struct tgt_image *image);

/* Loads an image on a device. The table is as long as the image's entries, holds device addresses,
 * and lives as long as the plugin. NULL after plugin_fail(). */
struct tgt_table *image_place(int device, const struct tgt_image *image);

/* The device address of a table's entry by its name, NULL if there is none. */
void *image_find(const struct tgt_table *table, const char *name);

#endif
