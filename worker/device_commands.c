/*
 * device_commands.c: commands about the device, on the application's control queue: arenas and
 * images. They fail by themselves and do not mark the queue. See command.h.
 */
#include "worker/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "worker/image.h"

void command_grow(struct server *server, const struct stream *stream,
                  const struct wire_record *record)
{
    uint64_t base = 0;
    omprma_status_t status = memory_grow(&server->memory, record->word[0], &base);

    if (status == OMPRMA_OK)
        command_finish(server, stream, record, base, NULL, 0);
    else
        command_refuse(server, stream, record, status, error_text());
}

void command_release(struct server *server, const struct stream *stream,
                     const struct wire_record *record)
{
    omprma_status_t status = memory_release(&server->memory, record->word[0]);

    if (status == OMPRMA_OK)
        command_finish(server, stream, record, 0, NULL, 0);
    else
        command_refuse(server, stream, record, status, error_text());
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

void command_load(struct server *server, const struct stream *stream,
                  const struct wire_record *record)
{
    uint64_t image_at = record->word[0], image_bytes = record->word[1];
    uint64_t names_at = record->word[2];
    uint32_t names_bytes = (uint32_t)record->word[3], count = (uint32_t)(record->word[3] >> 32);
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct image *image = NULL;
    omprma_status_t status = OMPRMA_OK;

    if (!addresses || count * sizeof(*addresses) > COMMAND_DATA_MOST)
        status = error_set(OMPRMA_ERR_PROTOCOL, "%u symbols at once are too many", count);
    else if (!memory_holds(&server->memory, image_at, image_bytes) ||
             !memory_holds(&server->memory, names_at, names_bytes))
        status = error_set(OMPRMA_ERR_PROTOCOL, "the image does not lie in device memory");
    if (status == OMPRMA_OK)
        status = image_open(command_pointer(image_at), image_bytes, &image);
    if (status == OMPRMA_OK)
        status = look_up(image, command_pointer(names_at),
                         (char *)command_pointer(names_at) + names_bytes, count, addresses);
    reply_output(server); /* constructors of the image may print */
    if (status == OMPRMA_OK)
        command_finish(server, stream, record, count, addresses,
                       (uint32_t)(count * sizeof(*addresses)));
    else
        command_refuse(server, stream, record, status, error_text());
    free(addresses);
}
