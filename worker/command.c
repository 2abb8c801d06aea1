/*
 * command.c: what each command does on the worker. A command that starts transfers lets the stream
 * go on; every other one waits until they are over. See server.h and docs/protocol.md.
 */
#include "worker/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/bench.h"
#include "worker/crash.h"
#include "worker/image.h"

enum { READ_MOST = WIRE_MESSAGE_BYTES - 256 };

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void finish(struct server *server, struct stream *stream, const struct wire_record *record,
                   uint64_t value, const void *tail, uint32_t bytes)
{
    if (record->flags & WIRE_REPLY)
        reply_append(server, WIRE_DONE, stream->number, record->op, value, tail, bytes);
}

static void refuse(struct server *server, const struct stream *stream,
                   const struct wire_record *record, omprma_status_t status, const char *text)
{
    if (record->flags & WIRE_REPLY)
        reply_append(server, WIRE_FAILED, stream->number, record->op, (uint64_t)status, text,
                     (uint32_t)strnlen(text, ERROR_TEXT_BYTES));
}

static void fail_range(struct stream *stream, const char *what, uint64_t address, uint64_t bytes,
                       uint64_t bad)
{
    error_set(OMPRMA_ERR_ADDRESS,
              "%s of %llu bytes at device address 0x%llx: 0x%llx is not mapped "
              "on the device",
              what, (unsigned long long)bytes, (unsigned long long)address,
              (unsigned long long)bad);
    stream_fail(stream, OMPRMA_ERR_ADDRESS, error_text());
}

static void run_write(struct server *server, struct stream *stream,
                      const struct wire_record *record)
{
    uint64_t bad = 0;

    if (memory_holds(&server->memory, record->word[0], record->tail_bytes))
        memcpy(pointer(record->word[0]), record->tail, record->tail_bytes);
    else if (!guarded_copy(pointer(record->word[0]), record->tail, record->tail_bytes, &bad))
        fail_range(stream, "submit", record->word[0], record->tail_bytes, bad);
}

/* Answers with the memory itself; copies it once, into the message. */
static void run_read(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t address = record->word[0], bytes = record->word[1], bad = 0;
    void *to;

    if (bytes > READ_MOST) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a read is larger than a message");
        return;
    }
    if (!memory_holds(&server->memory, address, bytes) &&
        !guarded_probe(address, bytes, false, &bad)) {
        fail_range(stream, "retrieve", address, bytes, bad);
        return;
    }
    to = reply_append(server, WIRE_DONE, stream->number, record->op, bytes, NULL, (uint32_t)bytes);
    if (to)
        memcpy(to, pointer(address), bytes);
}

/* Overlapping ranges are allowed. */
static void run_copy(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t to = record->word[0], from = record->word[1], bytes = record->word[2], bad = 0;

    if (!memory_holds(&server->memory, from, bytes) && !guarded_probe(from, bytes, false, &bad))
        fail_range(stream, "exchange", from, bytes, bad);
    else if (!memory_holds(&server->memory, to, bytes) && !guarded_probe(to, bytes, true, &bad))
        fail_range(stream, "exchange", to, bytes, bad);
    else
        memmove(pointer(to), pointer(from), bytes);
}

/* ---- transfers ---- */

static struct stream_transfer *take_transfer(struct server *server)
{
    struct stream_transfer *node = server->spare_transfers;

    if (node)
        server->spare_transfers = node->next;
    else
        node = malloc(sizeof(*node));
    if (node)
        memset(node, 0, sizeof(*node));
    return node;
}

static bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool is_one_sided(const struct wire_record *record)
{
    return record->code == WIRE_PUT || record->code == WIRE_GET;
}

/* True if the transfer of this command touches what one under way touches, here or at the peer. */
static bool overlaps(const struct stream *stream, const struct wire_record *record)
{
    uint64_t bytes = record->word[is_one_sided(record) ? 2 : 1];

    for (const struct stream_transfer *node = stream->transfers; node; node = node->next) {
        const struct transfer *other = &node->transfer;

        if (ranges_meet(record->word[0], bytes, (uint64_t)(uintptr_t)other->local, other->bytes))
            return true;
        if (is_one_sided(record) && node->path->one_sided && (int)record->word[3] == other->peer &&
            ranges_meet(record->word[1], bytes, other->remote, other->bytes))
            return true;
    }
    return false;
}

/* Fills `transfer` from a command. */
static void describe(const struct server *server, const struct wire_record *record,
                     struct stream_transfer *node)
{
    bool one_sided = is_one_sided(record);
    bool out = record->code == WIRE_PUT || record->code == WIRE_SEND;

    node->path = one_sided ? server->one_sided : server->two_sided;
    node->transfer.direction = out ? TRANSFER_OUT : TRANSFER_IN;
    node->transfer.local = pointer(record->word[0]);
    node->transfer.peer = (int)record->word[3];
    if (one_sided) {
        node->transfer.remote = record->word[1];
        node->transfer.bytes = record->word[2];
    } else {
        node->transfer.bytes = record->word[1];
        node->transfer.tag = (uint32_t)record->word[2];
    }
}

/* The other end of a two-sided transfer already waits: it must be served, from memory of ours, even
 * if the range is refused or the queue has failed. */
static bool use_scratch(struct stream_transfer *node)
{
    node->scratch = calloc(1, node->transfer.bytes);
    node->transfer.local = node->scratch;
    return node->scratch != NULL;
}

static void begin_transfer(struct server *server, struct stream *stream,
                           const struct wire_record *record)
{
    struct stream_transfer *node = take_transfer(server);
    struct transfer *transfer;
    uint64_t bad = 0;
    omprma_status_t status;

    if (!node) {
        stream_fail(stream, OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory for a transfer");
        return;
    }
    describe(server, record, node);
    transfer = &node->transfer;
    if (transfer->bytes == 0 || !node->path ||
        (server->world && (transfer->peer < 0 || transfer->peer >= server->world->size)))
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a transfer of 0 bytes, or to an unknown peer");
    else if (stream->failed == OMPRMA_OK &&
             !memory_holds(&server->memory, record->word[0], transfer->bytes) &&
             !guarded_probe(record->word[0], transfer->bytes, transfer->direction == TRANSFER_IN,
                            &bad))
        fail_range(stream, transfer->direction == TRANSFER_IN ? "submit" : "retrieve",
                   record->word[0], transfer->bytes, bad);
    if (stream->failed != OMPRMA_OK &&
        (record->code == WIRE_PUT || record->code == WIRE_GET || transfer->bytes == 0 ||
         !node->path || !use_scratch(node))) {
        free(node);
        return;
    }
    status = datapath_start(node->path, transfer);
    if (status != OMPRMA_OK) {
        stream_fail(stream, status, error_text());
        free(node->scratch);
        free(node);
        return;
    }
    node->next = stream->transfers;
    stream->transfers = node;
}

static enum command_step run_transfer(struct server *server, struct stream *stream,
                                      const struct wire_record *record)
{
    if (!stream->begun) {
        if (overlaps(stream, record))
            return COMMAND_STALL;
        begin_transfer(server, stream, record);
        if (!(record->flags & WIRE_REPLY))
            return COMMAND_DONE;
        stream->begun = true;
    }
    if (stream->transfers)
        return COMMAND_STALL;
    stream->begun = false;
    if (stream->failed == OMPRMA_OK)
        finish(server, stream, record, 0, NULL, 0);
    else
        refuse(server, stream, record, stream->failed, stream->failed_text);
    return COMMAND_DONE;
}

/* ---- commands about the device, on the application's control queue; they fail by themselves ----
 */

static void run_grow(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t base = 0;
    omprma_status_t status = memory_grow(&server->memory, record->word[0], &base);

    if (status == OMPRMA_OK)
        finish(server, stream, record, base, NULL, 0);
    else
        refuse(server, stream, record, status, error_text());
}

static void run_release(struct server *server, struct stream *stream,
                        const struct wire_record *record)
{
    omprma_status_t status = memory_release(&server->memory, record->word[0]);

    if (status == OMPRMA_OK)
        finish(server, stream, record, 0, NULL, 0);
    else
        refuse(server, stream, record, status, error_text());
}

/* Looks up the symbols whose sizes and names lie at `at`: 8 bytes of size, the name, a zero byte,
 * padded to 8, one after the other. */
static omprma_status_t look_up(struct image *image, const char *at, const char *end, uint32_t count,
                               uint64_t *addresses)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes;
        size_t length;
        omprma_status_t status;

        if (end - at < 16)
            return error_set(OMPRMA_ERR_PROTOCOL, "the list of symbols ends early");
        memcpy(&bytes, at, sizeof(bytes));
        at += sizeof(bytes);
        length = strnlen(at, (size_t)(end - at));
        if (at + length == end)
            return error_set(OMPRMA_ERR_PROTOCOL, "a symbol's name has no end");
        status = image_symbol(image, at, bytes, &addresses[i]);
        if (status != OMPRMA_OK)
            return status;
        at += (length + 8) & ~(size_t)7;
        if (at > end)
            at = end;
    }
    return OMPRMA_OK;
}

static void run_load(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t image_at = record->word[0], image_bytes = record->word[1];
    uint64_t names_at = record->word[2];
    uint32_t names_bytes = (uint32_t)record->word[3], count = (uint32_t)(record->word[3] >> 32);
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct image *image = NULL;
    omprma_status_t status = OMPRMA_OK;

    if (!addresses || count * sizeof(*addresses) > READ_MOST)
        status = error_set(OMPRMA_ERR_PROTOCOL, "%u symbols at once are too many", count);
    else if (!memory_holds(&server->memory, image_at, image_bytes) ||
             !memory_holds(&server->memory, names_at, names_bytes))
        status = error_set(OMPRMA_ERR_PROTOCOL, "the image does not lie in device memory");
    if (status == OMPRMA_OK)
        status = image_open(pointer(image_at), image_bytes, &image);
    if (status == OMPRMA_OK)
        status = look_up(image, pointer(names_at), (char *)pointer(names_at) + names_bytes, count,
                         addresses);
    reply_output(server); /* constructors of the image may print */
    if (status == OMPRMA_OK)
        finish(server, stream, record, count, addresses, (uint32_t)(count * sizeof(*addresses)));
    else
        refuse(server, stream, record, status, error_text());
    free(addresses);
}

static void run_ping(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t bytes = record->word[0] < READ_MOST ? record->word[0] : READ_MOST;
    void *to;

    if (!(record->flags & WIRE_REPLY))
        return;
    to = reply_append(server, WIRE_DONE, stream->number, record->op, 0, NULL, (uint32_t)bytes);
    if (to)
        memset(to, 0, bytes);
}

static enum command_step run_wait(struct server *server, struct stream *stream,
                                  const struct wire_record *record)
{
    const struct stream *other = stream_find(server, (uint32_t)record->word[0]);
    uint32_t op = (uint32_t)record->word[1];

    if (!other) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "wait for a queue that the worker never saw");
        return COMMAND_DONE;
    }
    if (other->failed == OMPRMA_OK)
        return (int32_t)(other->done_op - op) >= 0 ? COMMAND_DONE : COMMAND_STALL;
    if ((int32_t)(other->failed_after - op) < 0)
        stream_fail(stream, other->failed, other->failed_text);
    return COMMAND_DONE;
}

/* A launch on a thread that may not run kernels is left to a lane. */
static enum command_step run_launch(struct server *server, struct stream *stream,
                                    const struct wire_record *record, bool lane)
{
    if (!image_is_kernel(record->word[0]) && server->world) {
        error_set(OMPRMA_ERR_ADDRESS, "launch of 0x%llx, which is not a kernel of a loaded image",
                  (unsigned long long)record->word[0]);
        stream_fail(stream, OMPRMA_ERR_ADDRESS, error_text());
        return COMMAND_DONE;
    }
    if (!lane)
        return COMMAND_LANE;
    lane_call(server, stream, record);
    return COMMAND_DONE;
}

/* Commands of a queue that has failed: nothing is run, everybody who waits is answered. */
static enum command_step run_failed(struct server *server, struct stream *stream,
                                    const struct wire_record *record)
{
    const char *text = stream->failed_text ? stream->failed_text : "";

    if (record->code == WIRE_RECV || record->code == WIRE_SEND)
        return run_transfer(server, stream, record);
    if (record->code == WIRE_RESET && !server->lost) {
        stream->failed = OMPRMA_OK;
        free(stream->failed_text);
        stream->failed_text = NULL;
    }
    if (record->code == WIRE_EXIT)
        server->exiting = true;
    refuse(server, stream, record, stream->failed, text);
    return COMMAND_DONE;
}

enum command_step command_run(struct server *server, struct stream *stream,
                              const struct wire_record *record, bool lane)
{
    const char *text;
    enum command_step step = COMMAND_DONE;

    if (server->lost && stream->failed == OMPRMA_OK && crash_happened(&text))
        stream_fail(stream, OMPRMA_ERR_DEVICE_LOST, text);
    if (record->code >= WIRE_RECV && record->code <= WIRE_GET)
        return run_transfer(server, stream, record);
    if (stream->transfers)
        return COMMAND_STALL;
    if (stream->failed != OMPRMA_OK)
        return run_failed(server, stream, record);
    switch (record->code) {
    case WIRE_WRITE:
        run_write(server, stream, record);
        break;
    case WIRE_READ:
        run_read(server, stream, record);
        break;
    case WIRE_LAUNCH:
        step = run_launch(server, stream, record, lane);
        break;
    case WIRE_COPY:
        run_copy(server, stream, record);
        break;
    case WIRE_WAIT:
        step = run_wait(server, stream, record);
        break;
    case WIRE_GROW:
        run_grow(server, stream, record);
        return COMMAND_DONE;
    case WIRE_RELEASE:
        run_release(server, stream, record);
        return COMMAND_DONE;
    case WIRE_LOAD:
        run_load(server, stream, record);
        return COMMAND_DONE;
    case WIRE_PING:
        run_ping(server, stream, record);
        return COMMAND_DONE;
    case WIRE_AWAKE:
        server->awake_until_ns = clock_ns() + (int64_t)record->word[0] * 1000;
        break;
    case WIRE_BENCH:
        bench_run(server, stream, record);
        return COMMAND_DONE;
    case WIRE_EXIT:
        server->exiting = true;
        break;
    default: /* fence, reset of a queue that is well */
        break;
    }
    if (step != COMMAND_DONE)
        return step;
    if (stream->failed != OMPRMA_OK)
        refuse(server, stream, record, stream->failed, stream->failed_text);
    else if (record->code != WIRE_READ)
        finish(server, stream, record, 0, NULL, 0);
    return COMMAND_DONE;
}
