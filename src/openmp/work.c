/* work.c: see work.h. The only place where the runtime uses queues and events. */
#include "openmp/work.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/report.h"

struct kept {
    struct kept *next;
    _Alignas(16) unsigned char bytes[];
};

static bool work_issued(struct work *work, omprma_status_t status)
{
    if (report_status(work->where, work->device, status))
        return true;
    work->failed = true;
    return false;
}

/* ---- begin and end -------------------------------------------------------------------------- */

static bool queue_make(struct work *work, omprma_queue_t **queue)
{
    return *queue || report_status(work->where, work->device,
                                   omprma_queue_create(work->device->remote, queue));
}

/* The queue of small works in flight whose turn it is. The caller holds the device's lock. */
static bool queue_share(struct work *work)
{
    struct device *device = work->device;
    omprma_queue_t **shared = &device->shared[device->works % (uint64_t)device->shared_count];
    if (!queue_make(work, shared))
        return false;
    work->queue = *shared;
    return true;
}

static void work_give(struct work *work)
{
    work->number = 0;
    work->next_free = work->device->free_works;
    work->device->free_works = work;
}

/* The caller holds the device's lock. */
static struct work *work_take(struct device *device, const struct location *where)
{
    struct work *work = device->free_works;
    if (work)
        device->free_works = work->next_free;
    else
        work = calloc(1, sizeof(*work));
    if (!work) {
        report(where, device, "no host memory for a target construct");
        return NULL;
    }
    work->device = device;
    work->where = where;
    work->number = ++device->works;
    work->failed = work->departed = false;
    return work;
}

struct work *work_begin(struct device *device, const struct location *where, enum work_kind kind)
{
    pthread_mutex_lock(&device->lock);
    struct work *work = work_take(device, where);
    bool right = work && (kind == WORK_SMALL ? queue_share(work) : queue_make(work, &work->own));
    if (right && kind != WORK_SMALL)
        work->queue = work->own;
    if (right && kind != WORK_WAITED && !work->end)
        right = report_status(where, device, omprma_event_create(&work->end));
    if (right)
        work->in_flight = kind != WORK_WAITED;
    else if (work)
        work_give(work);
    pthread_mutex_unlock(&device->lock);
    return right ? work : NULL;
}

static void pointer_restore(const struct attached *pointer, void *context)
{
    (void)context;
    memcpy((void *)pointer->pointer, pointer->host_value, pointer->bytes);
}

/* What came back may hold device pointers; and ranges that nobody has mapped any more go. */
static void pinned_end(struct work *work, struct pinned *pinned)
{
    struct device *device = work->device;
    struct mapped *mapped = pinned->mapped;
    LIST_REMOVE(pinned, link);
    pinned->next = work->spare;
    work->spare = pinned;
    if (!mapped_is_over(mapped))
        return;
    omprma_addr_t block = mapped->block;
    mapping_remove(&device->mapping, mapped);
    if (block && !report_status(work->where, device, omprma_free(device->remote, block)))
        work->failed = true;
}

/* What came back may hold device pointers; and ranges that nobody has mapped or uses any more go.
 */
static void work_unpin(struct work *work, bool arrived)
{
    for (struct pinned *each = work->pinned; each && arrived; each = each->next)
        if (each->bytes > 0)
            mapped_each_pointer(each->mapped, each->begin, each->bytes, pointer_restore, NULL);
    for (struct pinned *next, *each = work->pinned; each; each = next) {
        next = each->next;
        pinned_end(work, each);
    }
    work->pinned = NULL;
}

/* The queue is done. */
static bool work_end(struct work *work, omprma_status_t status)
{
    struct device *device = work->device;
    if (!report_status(work->where, device, status))
        work->failed = true;
    for (struct kept *next, *each = work->kept; each; each = next) {
        next = each->next;
        free(each);
    }
    work->kept = NULL;
    if (work->block &&
        !report_status(work->where, device, omprma_free(device->remote, work->block)))
        work->failed = true;
    work->block = 0;
    pthread_mutex_lock(&device->lock);
    work_unpin(work, status == OMPRMA_OK);
    bool right = !work->failed;
    work_give(work);
    pthread_mutex_unlock(&device->lock);
    return right;
}

bool work_depart(struct work *work)
{
    work->departed = true;
    return work_issued(work, omprma_event_record(work->end, work->queue));
}

/* A queue of its own is clean again afterwards; one that is shared has others' operations, too. */
bool work_finish(struct work *work)
{
    if (work->queue == work->own)
        return work_end(work, omprma_queue_synchronize(work->queue));
    if (!work->departed)
        work_depart(work);
    return work_end(work, omprma_event_synchronize(work->end));
}

bool work_has_arrived(struct work *work)
{
    bool done;
    return omprma_event_query(work->end, &done) != OMPRMA_OK || done;
}

/* ---- operations ----------------------------------------------------------------------------- */

bool work_submit(struct work *work, omprma_addr_t to, const void *from, size_t bytes)
{
    return work_issued(work, omprma_submit(work->queue, to, from, bytes));
}

bool work_retrieve(struct work *work, void *to, omprma_addr_t from, size_t bytes)
{
    return work_issued(work, omprma_retrieve(work->queue, to, from, bytes));
}

bool work_exchange(struct work *work, omprma_addr_t from, int to_device, omprma_addr_t to,
                   size_t bytes)
{
    return work_issued(work,
                       omprma_exchange(work->queue, from, device_at(to_device)->remote, to, bytes));
}

bool work_launch(struct work *work, omprma_addr_t kernel, const omprma_geometry_t *geometry,
                 const uint64_t *words, size_t count)
{
    return work_issued(work, omprma_launch(work->queue, kernel, geometry, words, count));
}

omprma_addr_t work_private(struct work *work, size_t bytes)
{
    omprma_addr_t block = 0;
    if (work_issued(work, omprma_alloc(work->device->remote, bytes, &block)))
        work->block = block;
    return block;
}

void *work_keep(struct work *work, size_t bytes)
{
    struct kept *kept = calloc(1, sizeof(*kept) + bytes);
    if (!kept) {
        work->failed = !report(work->where, work->device,
                               "no host memory for %zu bytes of private variables", bytes);
        return NULL;
    }
    kept->next = work->kept;
    work->kept = kept;
    return kept->bytes;
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* The event is the present end of the other's queue: what matters was appended before the device's
 * lock was released. */
static bool work_wait_for(struct work *work, struct work *other)
{
    return (other->event || work_issued(work, omprma_event_create(&other->event))) &&
           work_issued(work, omprma_event_record(other->event, other->queue)) &&
           work_issued(work, omprma_event_wait(other->event, work->queue));
}

bool work_follow(struct work *work, struct mapped *mapped)
{
    struct work *writer = mapped->writer;
    if (!writer || writer == work)
        return true;
    if (writer->number != mapped->writer_number) { /* it is over */
        mapped->writer = NULL;
        return true;
    }
    return work_wait_for(work, writer);
}

bool work_follow_all(struct work *work, struct mapped *mapped)
{
    struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->work != work && !work_wait_for(work, each->work))
        return false;
    return true;
}

void work_write(struct work *work, struct mapped *mapped)
{
    mapped->writer = work;
    mapped->writer_number = work->number;
}

bool work_pin(struct work *work, struct mapped *mapped, uintptr_t begin, size_t bytes)
{
    struct pinned *pinned = work->spare;
    if (pinned)
        work->spare = pinned->next;
    else
        pinned = malloc(sizeof(*pinned));
    if (!pinned) {
        work->failed = true;
        return report(work->where, work->device, "no host memory for a list of mapped ranges");
    }
    *pinned = (struct pinned){
        .next = work->pinned, .work = work, .mapped = mapped, .begin = begin, .bytes = bytes};
    LIST_INSERT_HEAD(&mapped->pins, pinned, link);
    work->pinned = pinned;
    return true;
}
