/*
 * device.h: one worker as the application sees it: its memory, its queues, what was sent to it and
 * what it has acknowledged, and which way its data goes.
 *
 * Thread: see runtime.h.
 */
#ifndef OMPRMA_HOST_DEVICE_H
#define OMPRMA_HOST_DEVICE_H

#include "base/spinlock.h"
#include "host/allocator.h"
#include "host/paths.h"
#include "host/runtime.h"
#include "host/stats.h"

struct image_record;

enum {
    DEVICE_WINDOW = 64,  /* messages that may be unacknowledged */
    DEVICE_ASK_EACH = 16 /* one in so many asks for an acknowledgement */
};

struct device {
    struct runtime *runtime;
    int number, rank;
    struct world_hello hello;
    bool can_ring; /* same host: it is woken by its doorbell */

    struct spinlock memory_lock; /* allocator */
    struct allocator *allocator;
    uint64_t attached_bytes;
    _Atomic bool keeps_memory; /* a lost device may still read or write it: nothing is reused */

    struct omprma_queue **queues; /* queue number -> queue; never freed before the device */
    uint32_t queue_count, queue_capacity;
    struct omprma_queue *free_queues;
    struct omprma_queue *control; /* number 0: grow, release, load */
    bool commanding;              /* a command is under way on it */

    uint32_t sent, acked;  /* message serials */
    uint32_t received;     /* serial of the last message from it */
    int64_t heard_ns;      /* when it last sent anything */
    int64_t awake_sent_ns; /* when it was last told to stay awake */
    int64_t probed_ns;     /* when it was last asked for a sign of life */
    int64_t died_ns;       /* when its process was found to have died */

    struct omprma_queue *dirty; /* queues with small submits not known to be executed */

    struct paths paths;
    struct stats stats;
    struct image_record *images;

    bool lost;           /* given up: it or its connection is dead, or nobody hears of its data */
    char lost_text[512]; /* why; alone: a kernel crashed, and it refuses everything */
};

/* Makes a device from what its worker said. Errors: HOST_MEMORY. */
omprma_status_t device_create(struct runtime *runtime, int number, int rank,
                              const struct world_hello *hello, struct device **device);
void device_destroy(struct device *device);

/* Device by number, or ARGUMENT. */
omprma_status_t device_find(struct runtime *runtime, int number, struct device **device);

/* The same for a public function, which may be called when omprma is not running: CLOSED. */
omprma_status_t device_require(int number, struct device **device);

/* allocator_classify() for the device's memory. */
enum allocator_range device_classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                     omprma_addr_t *block, uint64_t *block_bytes);

/* Runs one command on the control queue and waits for its result. `tail` (NULL allowed) receives up
 * to `capacity` bytes of the result. Errors: what the worker says, DEVICE_LOST. */
omprma_status_t device_command(struct device *device, const struct wire_record *record,
                               uint64_t *value, void *tail, uint32_t capacity);

/* Sends a sealed message of a queue. Ownership of `message` passes. `ask`: wants an answer soon. On
 * an error the device is lost. */
omprma_status_t device_send(struct device *device, struct channel_message *message, bool ask);

/* Sends a message of one record, outside the order of its queue's items; of none for NULL. `ask` as
 * above. Errors: HOST_MEMORY (nothing was sent), MPI, DEVICE_LOST. */
omprma_status_t device_send_record(struct device *device, const struct wire_record *record,
                                   bool ask);

/* True while another message may be sent without passing the window. */
bool device_may_send(const struct device *device);

/* Handles a message from the worker; keeps nothing of it. */
void device_accept(struct device *device, const struct channel_message *message);

/* Marks the device lost and fails its queues. */
void device_lose(struct device *device, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A queue of the device has failed because a kernel crashed there. */
void device_note_crash(struct device *device, const char *text);

/* DEVICE_LOST, and why, if the device is lost or a kernel is known to have crashed there. */
omprma_status_t device_check_alive(const struct device *device);

/* Remembers a small submit that travels in a message of `queue`, whose writes have room for it. */
void device_remember_write(struct omprma_queue *queue, omprma_addr_t begin, uint64_t bytes,
                           uint64_t op);

/* The next queue after `after` (NULL: the first) with a small submit to [begin, end) that was sent
 * and is not known to be executed, or NULL. */
struct omprma_queue *device_next_write(struct device *device, omprma_addr_t begin,
                                       omprma_addr_t end, struct omprma_queue *after);

/* Loses the device some seconds after its process was seen to have died. */
void device_watch_death(struct device *device, int64_t now);

/* A few messages' worth of life: asks a silent worker, gives up on one that stays silent, or of
 * which its doorbell says that it has died. */
void device_watch(struct device *device, int64_t now_ns);

/* Keeps a worker polling while one-sided transfers to it are under way, where that helps. */
void device_keep_awake(struct device *device);

/* Sends exit. */
omprma_status_t device_exit(struct device *device);

/* "device 2 (node7)" in static storage of the calling thread. */
const char *device_name(const struct device *device);

#endif
