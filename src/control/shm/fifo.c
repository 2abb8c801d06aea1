/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fifo.c: A message is stored over elements of 512 bytes, and the number of its first element last:
 * by that the reader sees all of it, in a cache line that it needs anyway. The writer reads how far
 * the reader has come only when it knows of no room.
 */
#include "control/shm/fifo.h"

#include <emmintrin.h>
#include <stdatomic.h>
#include <string.h>

enum {
    ELEMENTS = 1024,
    ELEMENT_BYTES = 512,
    HEADER_BYTES = 8,
    LONGEST = 36,
    LINE = 64,
    STREAMED = 2560 /* longer ones, of more than 2 KiB of data, are written past the caches */
};

/* `number` is that of its place among all that were ever filled, from 1, stored last; 0 at first.
 */
struct element {
    _Atomic uint32_t number;
    _Atomic uint32_t bytes;
    uint8_t data[ELEMENT_BYTES - HEADER_BYTES];
};

/* How far the reader has come stands by itself: the writer looks only when it knows of no room. A
 * message begins with the header of its first element and goes over those of the others; one that
 * begins in the last elements goes on behind them. */
struct fifo {
    _Alignas(64) _Atomic uint32_t emptied;
    _Atomic bool is_open;
    _Alignas(64) struct element elements[ELEMENTS + LONGEST - 1];
};

_Static_assert(sizeof(struct element) % 64 == 0, "an element begins with a cache line");
_Static_assert(sizeof(struct fifo) <= FIFO_BYTES, "a FIFO is larger than stated");
_Static_assert(FIFO_MESSAGE_BYTES + HEADER_BYTES == LONGEST * ELEMENT_BYTES, "the longest message");

static struct element *element_at(struct fifo *fifo, uint32_t position)
{
    return &fifo->elements[position % ELEMENTS];
}

static uint32_t elements_of(uint32_t bytes)
{
    return (bytes + HEADER_BYTES + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
}

/* Of the message that begins there; none if the other process has written where it must not. */
static uint32_t bytes_of(const struct element *element)
{
    uint32_t bytes = atomic_load_explicit(&element->bytes, memory_order_relaxed);

    return bytes > FIFO_MESSAGE_BYTES ? 0 : bytes;
}

void fifo_open(struct fifo *fifo)
{
    atomic_store_explicit(&fifo->is_open, true, memory_order_release);
}

bool fifo_is_open(const struct fifo *fifo)
{
    return atomic_load_explicit(&fifo->is_open, memory_order_acquire);
}

/* Into an element, whose data begins HEADER_BYTES behind a line. Where two cores share no cache, a
 * line that one of them has written takes the other 35 ns even if it asks for many; from memory
 * they come three times as fast. A short message is better off in the cache: its first line counts,
 * not how many there are. */
static void write_message(uint8_t *data, const uint8_t *message, uint32_t bytes)
{
    uint32_t at = LINE - HEADER_BYTES;

    if (bytes <= STREAMED) {
        memcpy(data, message, bytes);
        return;
    }
    memcpy(data, message, at);
    for (; at + LINE <= bytes; at += LINE)
        for (uint32_t i = at; i < at + LINE; i += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(data + i),
                             _mm_loadu_si128((const __m128i *)(const void *)(message + i)));
    memcpy(data + at, message + at, bytes - at);
    _mm_sfence(); /* such stores are ordered by nothing else, not by releasing */
}

bool fifo_has_room(struct fifo_end *writer, uint32_t bytes)
{
    uint32_t taken = elements_of(bytes) + writer->reserved;

    if (writer->position - writer->emptied + taken > ELEMENTS)
        writer->emptied = atomic_load_explicit(&writer->fifo->emptied, memory_order_acquire);
    return writer->position - writer->emptied + taken <= ELEMENTS;
}

bool fifo_push(struct fifo_end *writer, const void *message, uint32_t bytes)
{
    struct element *element = element_at(writer->fifo, writer->position);

    if (bytes > FIFO_MESSAGE_BYTES || !fifo_has_room(writer, bytes))
        return false;
    atomic_store_explicit(&element->bytes, bytes, memory_order_relaxed);
    write_message((uint8_t *)element + HEADER_BYTES, message, bytes);
    atomic_store_explicit(&element->number, writer->position + 1, memory_order_release);
    writer->position += elements_of(bytes);
    return true;
}

const void *fifo_peek(const struct fifo_end *reader, uint32_t *bytes)
{
    struct element *element = element_at(reader->fifo, reader->position);

    __builtin_prefetch((uint8_t *)element + 64);
    if (atomic_load_explicit(&element->number, memory_order_acquire) != reader->position + 1)
        return NULL;
    *bytes = bytes_of(element);
    return element->data;
}

void fifo_pop(struct fifo_end *reader)
{
    uint32_t count = elements_of(bytes_of(element_at(reader->fifo, reader->position)));

    /* Where the message went over a header there may stand any number, also that of the next one.
     */
    for (uint32_t i = 1; i < count; i++)
        atomic_store_explicit(&element_at(reader->fifo, reader->position + i)->number,
                              reader->position + i + 1, memory_order_relaxed);
    reader->position += count;
    atomic_store_explicit(&reader->fifo->emptied, reader->position, memory_order_release);
}
