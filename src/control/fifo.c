/* fifo.c: see fifo.h. */
#include "control/fifo.h"

#include <stdatomic.h>
#include <string.h>

enum { ELEMENTS = 32 };

/* `number` is that of the message in it, from 1, stored last; 0 at first. */
struct element {
    _Atomic uint32_t number;
    _Atomic uint32_t bytes;
    uint8_t data[FIFO_MESSAGE_BYTES];
};

/* How far the reader has come stands by itself: the writer looks only when it knows of no room. */
struct fifo {
    _Alignas(64) _Atomic uint32_t emptied;
    _Atomic bool is_open;
    _Alignas(64) struct element elements[ELEMENTS];
};

_Static_assert(sizeof(struct element) % 64 == 0, "an element begins with a cache line");
_Static_assert(sizeof(struct fifo) <= FIFO_BYTES, "a FIFO is larger than stated");

void fifo_open(struct fifo *fifo)
{
    atomic_store_explicit(&fifo->is_open, true, memory_order_release);
}

bool fifo_is_open(const struct fifo *fifo)
{
    return atomic_load_explicit(&fifo->is_open, memory_order_acquire);
}

bool fifo_push(struct fifo_end *writer, const void *message, uint32_t bytes)
{
    struct fifo *fifo = writer->fifo;
    struct element *element = &fifo->elements[writer->position % ELEMENTS];

    if (bytes > FIFO_MESSAGE_BYTES)
        return false;
    if (writer->position - writer->emptied >= ELEMENTS) {
        writer->emptied = atomic_load_explicit(&fifo->emptied, memory_order_acquire);
        if (writer->position - writer->emptied >= ELEMENTS)
            return false;
    }
    atomic_store_explicit(&element->bytes, bytes, memory_order_relaxed);
    memcpy(element->data, message, bytes);
    atomic_store_explicit(&element->number, ++writer->position, memory_order_release);
    return true;
}

const void *fifo_peek(const struct fifo_end *reader, uint32_t *bytes)
{
    struct element *element = &reader->fifo->elements[reader->position % ELEMENTS];

    if (atomic_load_explicit(&element->number, memory_order_acquire) != reader->position + 1)
        return NULL;
    *bytes = atomic_load_explicit(&element->bytes, memory_order_relaxed);
    if (*bytes > FIFO_MESSAGE_BYTES) /* the other process has written where it must not */
        *bytes = 0;
    return element->data;
}

void fifo_pop(struct fifo_end *reader)
{
    atomic_store_explicit(&reader->fifo->emptied, ++reader->position, memory_order_release);
}
