/* relay.c: see relay.h. Two queues of its own, one on each device, take turns with the parts by
 * waiting for places in each other, as a user's queues would with events. */
#include "host/relay.h"

#include <stdlib.h>

#include "base/error.h"
#include "host/operation.h"

enum { PARTS = 2 /* of memory: one is filled while the other is emptied */ };

struct relay {
    int users; /* queues that are not over */
    uint64_t part_bytes;
    char memory[];
};

void relay_drop(struct relay *relay, struct runtime *runtime)
{
    if (--relay->users > 0)
        return;
    free(relay);
    runtime->relays--;
    progress_signal(runtime);
}

static bool one_is_free(const void *data)
{
    const struct runtime *runtime = data;

    return runtime->relays < RELAYS_MOST;
}

static struct relay *create(const struct runtime *runtime, uint64_t bytes)
{
    uint64_t most = (uint64_t)runtime->config.piece;
    struct relay *relay;

    if (most > RELAY_PART_MOST)
        most = RELAY_PART_MOST;
    if (most > bytes)
        most = bytes;
    relay = malloc(sizeof(*relay) + PARTS * most);
    if (relay)
        *relay = (struct relay){.part_bytes = most};
    return relay;
}

static void use(struct relay *relay, struct omprma_queue *queue)
{
    queue->relay = relay;
    relay->users++;
}

/* Part after part: the writer waits until one has come, the reader until its memory is free. */
static omprma_status_t append_parts(const struct exchange *x, struct relay *relay,
                                    struct omprma_queue *reader, struct omprma_queue *writer)
{
    struct queue_place written[PARTS] = {0};
    omprma_status_t status = OMPRMA_OK;
    uint64_t bytes;
    int part = 0;

    for (uint64_t at = 0; at < x->bytes && status == OMPRMA_OK; at += bytes) {
        char *memory = relay->memory + (uint64_t)part * relay->part_bytes;

        bytes = x->bytes - at < relay->part_bytes ? x->bytes - at : relay->part_bytes;
        if (written[part].queue)
            status = exchange_wait(reader, written[part]);
        if (status == OMPRMA_OK)
            status = operation_bulk(reader, false, x->from + at, memory, bytes, x->from_arena);
        if (status == OMPRMA_OK)
            status = exchange_wait(writer, queue_end(reader));
        if (status == OMPRMA_OK)
            status = operation_bulk(writer, true, x->to + at, memory, bytes, x->to_arena);
        written[part] = queue_end(writer);
        part = (part + 1) % PARTS;
    }
    return status;
}

omprma_status_t relay_start(const struct exchange *x, struct queue_place *arrived)
{
    struct runtime *runtime = x->queue->device->runtime;
    struct omprma_queue *reader, *writer;
    struct relay *relay;
    omprma_status_t status;

    if (!one_is_free(runtime))
        progress_wait(runtime, one_is_free, runtime);
    if (x->queue->failed != OMPRMA_OK)
        return error_set(x->queue->failed, "%s", x->queue->failed_text);
    relay = create(runtime, x->bytes);
    if (!relay)
        return error_set(OMPRMA_ERR_HOST_MEMORY,
                         "no memory for an exchange through the application");
    status = exchange_helper(x->queue->device, x->queue, &reader);
    if (status != OMPRMA_OK) {
        free(relay);
        return status;
    }
    runtime->relays++;
    use(relay, reader);
    status = exchange_helper(x->to_device, NULL, &writer);
    if (status != OMPRMA_OK)
        return exchange_let_go(reader, status);
    use(relay, writer);
    status = append_parts(x, relay, reader, writer);
    *arrived = queue_end(writer);
    exchange_let_go(reader, status);
    exchange_let_go(writer, status);
    return status;
}
