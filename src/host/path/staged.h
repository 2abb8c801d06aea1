/*
 * staged.h: moves data piece by piece through memory in between (slots.h): the staging memory of
 * devices that cannot be touched, and, where two workers cannot reach each other, memory of the
 * program. Every piece goes from place to place:
 *
 * - submit: program -> staging memory -> device
 * - retrieve: device -> staging memory -> program
 * - exchange: device [-> staging memory] -> [staging memory ->] device, or device [-> staging
 *   memory] -> program [-> staging memory] -> device
 *
 * Between a device and its staging memory its worker copies (`store`, `fetch`). All other steps are
 * what they would be for a device that can be touched: a put, a get, or both halves of a two-sided
 * transfer. Some pieces are under way at a time, so that all links are busy.
 *
 * The steps of one piece are appended at once, to queues of our own on the two devices, which hold
 * nothing else; so the rules of order.c keep them in order, and no order between users' queues can
 * hold them up. The whole is one operation of the user's queue: a submit or retrieve is ordered
 * like a put or get, an exchange is a task. It has slots only for pieces that are under way.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_PATH_STAGED_H
#define OMPRMA_HOST_PATH_STAGED_H

#include "host/path/path.h"

/* Appends an exchange between workers that goes put (one-sided, both ends can be reached), sent, or
 * through the application. *arrived: a reference to the operation in its queue. Errors:
 * HOST_MEMORY. */
omprma_status_t staged_append_exchange(const struct hop *hop, enum config_exchange way,
                                       struct operation **arrived);

#endif
