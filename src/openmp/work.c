/* work.c: see work.h. The only place where the runtime uses queues and events. */
#include "openmp/work.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/report.h"

struct pinned {
    struct mapped *mapped;
    uintptr_t begin;
    size_t bytes;
    bool restore;
};

struct kept {
    struct kept *next;
    _Alignas(16) unsigned char bytes[];
};

/* ---- begin and end -------------------------------------------------------------------------- */

static struct work *work_make(struct device *device, const struct location *where)
{
    struct work *work = calloc(1, sizeof(*work));
    if (!work) {
        report(where, device, "no host memory for a target construct");
        return NULL;
    }
    if (!report_status(where, device, omprma_queue_create(device->number, &work->queue))) {
        free(work);
        return NULL;
    }
    work->device = device;
    return work;
}

struct work *work_begin(struct device *device, const struct location *where)
{
    pthread_mutex_lock(&device->lock);
    struct work *work = device->free_works;
    if (work)
        device->free_works = work->next_free;
    uint64_t number = ++device->works;
    if (work)
        work->number = number;
    pthread_mutex_unlock(&device->lock);
    if (!work) {
        work = work_make(device, where);
        if (!work)
            return NULL;
        work->number = number;
    }
    work->where = where;
    work->failed = false;
    return work;
}

static void pointer_restore(const struct attached *pointer, void *context)
{
    (void)context;
    memcpy((void *)pointer->pointer, pointer->host_value, pointer->bytes);
}

/* What came back may hold device pointers; and ranges that nobody has mapped any more go. */
static void work_unpin(struct work *work, bool arrived)
{
    struct device *device = work->device;
    for (size_t i = 0; i < work->pinned_count; i++) {
        struct pinned *pinned = &work->pinned[i];
        if (pinned->restore && arrived)
            mapped_each_pointer(pinned->mapped, pinned->begin, pinned->bytes, pointer_restore,
                                NULL);
    }
    for (size_t i = 0; i < work->pinned_count; i++) {
        struct mapped *mapped = work->pinned[i].mapped;
        mapped->pins--;
        if (!mapped_is_over(mapped))
            continue;
        omprma_addr_t block = mapped->block;
        mapping_remove(&device->mapping, mapped);
        if (block && omprma_free(device->number, block) != OMPRMA_OK)
            work->failed = !report_status(work->where, device, OMPRMA_ERR_ADDRESS);
    }
    work->pinned_count = 0;
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
        !report_status(work->where, device, omprma_free(device->number, work->block)))
        work->failed = true;
    work->block = 0;
    pthread_mutex_lock(&device->lock);
    work_unpin(work, status == OMPRMA_OK);
    bool right = !work->failed;
    work->number = 0;
    work->next_free = device->free_works;
    device->free_works = work;
    pthread_mutex_unlock(&device->lock);
    return right;
}

bool work_finish(struct work *work)
{
    return work_end(work, omprma_queue_synchronize(work->queue));
}

void work_poll(struct work *work, bool *done, bool *right)
{
    *done = true;
    omprma_status_t status = omprma_queue_query(work->queue, done);
    if (status != OMPRMA_OK)
        *done = true;
    if (*done)
        *right = work_finish(work);
}

/* ---- operations ----------------------------------------------------------------------------- */

static bool work_issued(struct work *work, omprma_status_t status)
{
    if (report_status(work->where, work->device, status))
        return true;
    work->failed = true;
    return false;
}

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
    return work_issued(work, omprma_exchange(work->queue, from, to_device, to, bytes));
}

bool work_launch(struct work *work, omprma_addr_t kernel, const uint64_t *words, size_t count)
{
    return work_issued(work, omprma_launch(work->queue, kernel, words, count));
}

omprma_addr_t work_private(struct work *work, size_t bytes)
{
    omprma_addr_t block = 0;
    if (work_issued(work, omprma_alloc(work->device->number, bytes, &block)))
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

/* The event is the present end of the other's queue: what moves the data was appended before the
 * device's lock was released. */
bool work_follow(struct work *work, struct mapped *mapped)
{
    struct work *writer = mapped->writer;
    if (!writer || writer == work)
        return true;
    if (writer->number != mapped->writer_number) { /* it is over */
        mapped->writer = NULL;
        return true;
    }
    return (writer->event || work_issued(work, omprma_event_create(&writer->event))) &&
           work_issued(work, omprma_event_record(writer->event, writer->queue)) &&
           work_issued(work, omprma_event_wait(writer->event, work->queue));
}

void work_write(struct work *work, struct mapped *mapped)
{
    mapped->writer = work;
    mapped->writer_number = work->number;
}

bool work_pin(struct work *work, struct mapped *mapped, uintptr_t begin, size_t bytes, bool restore)
{
    if (work->pinned_count == work->pinned_room) {
        size_t room = work->pinned_room ? 2 * work->pinned_room : 8;
        struct pinned *longer = reallocarray(work->pinned, room, sizeof(*longer));
        if (!longer) {
            work->failed = true;
            return report(work->where, work->device, "no host memory for a list of mapped ranges");
        }
        work->pinned = longer;
        work->pinned_room = room;
    }
    work->pinned[work->pinned_count++] = (struct pinned){mapped, begin, bytes, restore};
    mapped->pins++;
    return true;
}
