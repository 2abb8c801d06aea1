/* device.c: see device.h. */
#include "host/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "host/image.h"
#include "host/queue.h"

enum {
    QUEUES_MOST = 65536,
    AWAKE_US = 5000, /* how long a worker is asked to keep polling at a time */
    DIED_S = 3,      /* how long whoever started this process has to end it when a worker died */
    PAGE = 4096
};

const char *device_name(const struct device *device)
{
    static _Thread_local char text[96];

    snprintf(text, sizeof(text), "device %d (%s)", device->number, device->hello.host);
    return text;
}

omprma_status_t device_create(struct runtime *runtime, int number, int rank,
                              const struct world_hello *hello, struct device **out)
{
    struct device *device = calloc(1, sizeof(*device));
    omprma_status_t status = OMPRMA_OK;

    if (!device)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for device %d", number);
    device->runtime = runtime;
    device->number = number;
    device->rank = rank;
    device->hello = *hello;
    device->can_ring = runtime->bells && runtime->bells[rank];
    device->heard_ns = clock_ns();
    spinlock_init(&device->memory_lock);
    device->allocator = allocator_create();
    if (!device->allocator)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for device %d", number);
    if (status == OMPRMA_OK)
        status = allocator_add_arena(device->allocator, hello->arena, hello->arena_bytes);
    device->attached_bytes = hello->arena_bytes;
    if (status == OMPRMA_OK)
        status = queue_take(device, &device->control); /* the first one gets number 0 */
    if (status != OMPRMA_OK) {
        device_destroy(device);
        return status;
    }
    *out = device;
    return OMPRMA_OK;
}

void device_destroy(struct device *device)
{
    if (!device)
        return;
    for (uint32_t i = 0; i < device->queue_count; i++)
        queue_free(device->queues[i]);
    free(device->queues);
    image_forget_all(device);
    allocator_destroy(device->allocator);
    free(device);
}

omprma_status_t device_find(struct runtime *runtime, int number, struct device **device)
{
    if (number < 0 || number >= runtime->device_count)
        return error_set(OMPRMA_ERR_ARGUMENT, "no device %d: there are %d, counted from 0", number,
                         runtime->device_count);
    *device = runtime->devices[number];
    return OMPRMA_OK;
}

omprma_status_t device_require(int number, struct device **device)
{
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    return status == OMPRMA_OK ? device_find(runtime, number, device) : status;
}

enum allocator_range device_classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                     omprma_addr_t *block, uint64_t *block_bytes)
{
    enum allocator_range range;

    spinlock_lock(&device->memory_lock);
    range = allocator_classify(device->allocator, address, bytes, block, block_bytes);
    spinlock_unlock(&device->memory_lock);
    return range;
}

/* ---- queues of the device ---- */

static struct omprma_queue *new_queue(struct device *device)
{
    struct omprma_queue *queue;

    if (device->queue_count == QUEUES_MOST)
        return NULL;
    if (device->queue_count == device->queue_capacity) {
        uint32_t capacity = device->queue_capacity ? 2 * device->queue_capacity : 16;
        struct omprma_queue **queues = realloc(device->queues, capacity * sizeof(*queues));

        if (!queues)
            return NULL;
        device->queues = queues;
        device->queue_capacity = capacity;
    }
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->device = device;
    queue->number = device->queue_count;
    device->queues[device->queue_count++] = queue;
    return queue;
}

omprma_status_t queue_take(struct device *device, struct omprma_queue **out)
{
    struct omprma_queue *queue = device->free_queues;

    if (queue)
        device->free_queues = queue->next_free;
    else
        queue = new_queue(device);
    if (!queue)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for another queue, %u exist",
                         device_name(device), device->queue_count);
    queue->in_use = true;
    *out = queue;
    return OMPRMA_OK;
}

void queue_give(struct omprma_queue *queue)
{
    queue->in_use = false;
    queue->sender.queue = NULL;
    queue->next_free = queue->device->free_queues;
    queue->device->free_queues = queue;
}

/* ---- messages ---- */

bool device_may_send(const struct device *device)
{
    return device->sent - device->acked < DEVICE_WINDOW;
}

omprma_status_t device_send(struct device *device, struct channel_message *message, bool ask)
{
    struct wire_buffer buffer = channel_buffer(message);
    omprma_status_t status;

    if (device->lost) {
        channel_drop(device->runtime->channel, message);
        return error_set(OMPRMA_ERR_DEVICE_LOST, "%s", device->lost_text);
    }
    device->sent++;
    ask |= device->sent % DEVICE_ASK_EACH == 0;
    wire_seal(&buffer, WIRE_COMMANDS, device->sent, device->received, ask);
    message->peer = device->rank;
    device->stats.messages_out++;
    device->stats.message_bytes_out += message->bytes;
    status = channel_send(device->runtime->channel, message);
    /* A gap: what follows cannot be understood, and will not be answered. */
    if (status != OMPRMA_OK)
        device_lose(device, "%s: %s", device_name(device), error_text());
    else if (device->can_ring)
        wakes_add_bell(&device->runtime->wakes, device->runtime->bells[device->rank]);
    return status;
}

omprma_status_t device_send_record(struct device *device, const struct wire_record *record,
                                   bool ask)
{
    struct channel_message *message = channel_take(device->runtime->channel);
    struct wire_buffer buffer;

    if (!message)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for a control message",
                         device_name(device));
    buffer = channel_buffer(message);
    if (record)
        wire_append(&buffer, record);
    message->bytes = buffer.used;
    return device_send(device, message, ask);
}

static void print_output(const struct wire_record *record)
{
    FILE *stream = (record->word[0] & ~(uint64_t)WIRE_FLUSHED) == 2 ? stderr : stdout;

    fwrite(record->tail, 1, record->tail_bytes, stream);
    if (record->word[0] & WIRE_FLUSHED)
        fflush(stream);
}

/* A receive waits for the other end rather than for the network, as far as is known. */
static bool waits_for_sender(const struct device *device, const struct wire_record *record)
{
    struct queue_place sender = {0};

    if (record->queue < device->queue_count)
        sender = device->queues[record->queue]->sender;
    if (!sender.queue || sender.queue->done_op >= sender.op)
        return false;
    queue_ask(sender.queue);
    return true;
}

/* Data does not get from this worker to another, or back. The first time it may be that the other
 * one has not heard of it yet, because of this side: its window was full, and nobody drove. So only
 * being told again counts, which a worker does some time after it was heard the first time. */
static void hear_of_stall(struct device *device, const struct wire_record *record)
{
    const struct runtime *runtime = device->runtime;
    const struct device *peer;

    if (record->word[0] >= (uint64_t)runtime->world.size ||
        (int)record->word[0] == runtime->world.head || waits_for_sender(device, record) ||
        record->word[2] < 2)
        return;
    peer = runtime->devices[runtime->device_of_rank[record->word[0]]];
    device_lose(device,
                "device %d (%s) and device %d (%s): no data has moved between them for %llu s; if "
                "these hosts cannot reach each other, set OMPRMA_EXCHANGE=application; "
                "OMPRMA_TIMEOUT sets the limit",
                device->number, device->hello.host, peer->number, peer->hello.host,
                (unsigned long long)record->word[1]);
}

void device_accept(struct device *device, const struct channel_message *message)
{
    struct wire_reader reader;
    struct wire_record record;

    if (wire_open(&reader, message->data, message->bytes) != OMPRMA_OK) {
        device_lose(device, "%s", error_text());
        return;
    }
    device->received = reader.header.serial;
    device->acked = reader.header.ack;
    device->stats.messages_in++;
    device->stats.message_bytes_in += message->bytes;
    while (wire_next(&reader, &record)) {
        if (record.code == WIRE_OUTPUT)
            print_output(&record);
        else if (device->lost)
            continue; /* it was given up, and so was the memory that results would go to */
        else if (record.code == WIRE_STALLED)
            hear_of_stall(device, &record);
        else if (record.code != WIRE_ALIVE && record.queue < device->queue_count)
            queue_result(device->queues[record.queue], &record);
    }
}

/* Workers that exchange with a lost one would wait for ever. On the control queues' streams, under
 * the numbers that they are at. */
static void tell_others(const struct device *lost)
{
    struct runtime *runtime = lost->runtime;
    struct wire_record record = {
        .code = WIRE_LOST,
        .word = {(uint64_t)lost->rank},
        .tail = lost->lost_text,
        .tail_bytes = (uint32_t)strlen(lost->lost_text),
    };

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *device = runtime->devices[i];

        record.op = device ? (uint32_t)device->control->sent_op : 0;
        if (device && !device->lost)
            device_send_record(device, &record, false);
    }
}

/* Of devices that were exchanging with it: what their workers and it have begun cannot be taken
 * back, and may go on when it comes back to life. */
static void keep_memory(struct device *lost)
{
    struct runtime *runtime = lost->runtime;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *device = runtime->devices[i];

        for (uint32_t k = 0; device && k < device->queue_count; k++)
            queue_keep_memory(device->queues[k], lost);
    }
}

void device_lose(struct device *device, const char *format, ...)
{
    va_list arguments;

    if (device->lost)
        return;
    va_start(arguments, format);
    vsnprintf(device->lost_text, sizeof(device->lost_text), format, arguments);
    va_end(arguments);
    device->lost = true;
    device->runtime->unresponsive = true;
    keep_memory(device);
    for (uint32_t i = 0; i < device->queue_count; i++)
        queue_fail_lost(device->queues[i], device->lost_text);
    tell_others(device);
}

void device_note_crash(struct device *device, const char *text)
{
    if (!device->lost_text[0])
        snprintf(device->lost_text, sizeof(device->lost_text), "%s", text);
}

omprma_status_t device_check_alive(const struct device *device)
{
    return device->lost_text[0] ? error_set(OMPRMA_ERR_DEVICE_LOST, "%s", device->lost_text)
                                : OMPRMA_OK;
}

/* omprma-run, and mpirun, end the program when a worker dies, and say which one and of what. Only
 * where nobody does is it for the program to learn. */
void device_watch_death(struct device *device, int64_t now)
{
    if (device->lost || !device->can_ring ||
        !doorbell_owner_died(device->runtime->bells[device->rank]))
        return;
    if (device->died_ns == 0)
        device->died_ns = now;
    else if (now - device->died_ns > DIED_S * INT64_C(1000000000))
        device_lose(device, "%s: its worker, process %d, has died", device_name(device),
                    device->hello.bell.pid);
}

void device_watch(struct device *device, int64_t now)
{
    int64_t limit = device->runtime->config.timeout_s * INT64_C(1000000000);
    int64_t silent = now - device->heard_ns;

    device_watch_death(device, now);
    if (limit == 0 || device->lost || silent < limit / 4)
        return;
    if (device->probed_ns < device->heard_ns) { /* first doubt: ask for a sign of life */
        device->probed_ns = now;
        device_send_record(device, NULL, true);
        return;
    }
    if (now - device->probed_ns > limit)
        device_lose(device,
                    "%s (process %d) has not answered for %lld s and is given up; "
                    "OMPRMA_TIMEOUT sets the limit",
                    device_name(device), device->hello.bell.pid, (long long)(silent / 1000000000));
}

void device_keep_awake(struct device *device)
{
    struct runtime *runtime = device->runtime;
    /* On the control queue's stream, under the number that it is at: it reports nothing. */
    struct wire_record record = {
        .code = WIRE_AWAKE,
        .op = (uint32_t)device->control->sent_op,
        .word = {AWAKE_US},
    };
    int64_t now;

    /* Within one host osc/rdma copies by itself; the target has no part in it. */
    if (!runtime->world.component ||
        (device->can_ring && strcmp(runtime->world.component, "rdma") == 0))
        return;
    now = clock_ns();
    if (now - device->awake_sent_ns < AWAKE_US * INT64_C(500) || !device_may_send(device))
        return;
    if (device_send_record(device, &record, false) != OMPRMA_OK)
        return;
    device->awake_sent_ns = now;
    if (device->can_ring) /* at once: the call that moves the data may wait for the worker */
        doorbell_ring(runtime->bells[device->rank]);
}

omprma_status_t device_exit(struct device *device)
{
    struct wire_record record = {.code = WIRE_EXIT, .op = (uint32_t)device->control->sent_op + 1};

    return device_send_record(device, &record, true);
}

static bool command_over(const void *data)
{
    const struct device *device = data;

    return !device->commanding;
}

omprma_status_t device_command(struct device *device, const struct wire_record *record,
                               uint64_t *value, void *tail, uint32_t capacity)
{
    struct omprma_queue *queue = device->control;
    struct wire_record command = *record;
    omprma_status_t status;

    while (device->commanding) /* another thread's command */
        progress_wait(device->runtime, command_over, device);
    if (device->lost)
        return error_set(OMPRMA_ERR_DEVICE_LOST, "%s", device->lost_text);
    device->commanding = true;
    command.flags |= WIRE_REPLY;
    status = queue_append(queue, &command, NULL);
    if (status == OMPRMA_OK) {
        queue->tail = tail;
        queue->tail_capacity = capacity;
        status = queue_synchronize(queue);
        queue->tail = NULL;
    }
    if (status == OMPRMA_OK && value)
        *value = queue->value;
    device->commanding = false;
    progress_signal(device->runtime);
    return status;
}

/* ---- writes whose execution is not known ---- */

void device_remember_write(struct omprma_queue *queue, omprma_addr_t begin, uint64_t bytes,
                           uint64_t op)
{
    struct device *device = queue->device;

    writes_add(&queue->writes, begin, begin + bytes, op);
    if (queue->dirty)
        return;
    queue->dirty = true;
    queue->next_dirty = device->dirty;
    device->dirty = queue;
}

/* Takes queues out of the list of dirty ones whose small submits are all executed. */
static void clean(struct device *device)
{
    struct omprma_queue **link = &device->dirty;

    while (*link) {
        struct omprma_queue *queue = *link;

        writes_prune(&queue->writes, queue->done_op);
        if (queue->writes.count == 0) {
            queue->dirty = false;
            *link = queue->next_dirty;
        } else {
            link = &queue->next_dirty;
        }
    }
}

struct omprma_queue *device_next_write(struct device *device, omprma_addr_t begin,
                                       omprma_addr_t end, struct omprma_queue *after)
{
    struct omprma_queue *queue;

    if (!after)
        clean(device);
    queue = after ? after->next_dirty : device->dirty;
    /* What is not sent yet is ordered by its own queue. */
    while (queue && !writes_meet(&queue->writes, begin, end, queue->done_op, queue->sent_op))
        queue = queue->next_dirty;
    return queue;
}
