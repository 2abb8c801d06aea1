/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_fifo.c: messages come out as they went in, in order, each once; what finds no room is told;
 * damaged memory leads nowhere else.
 * Covers: fifo.c */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/shm/fifo.h"

enum { ELEMENTS = 1024, ELEMENT_BYTES = 512, LONGEST = 36, MESSAGES = 200000 };

static struct fifo *make(void)
{
    void *memory = aligned_alloc(64, FIFO_BYTES);

    assert_non_null(memory);
    memset(memory, 0, FIFO_BYTES);
    return memory;
}

/* Length and content of the n-th message. Every fourth one may be as long as a message can be, the
 * others go into one element. What it is filled with may be taken for the number of an element. */
static uint32_t length_of(uint32_t number)
{
    uint32_t most = number % 4 == 3 ? FIFO_MESSAGE_BYTES : ELEMENT_BYTES - 8;

    return 4 + number * 2654435761U % (most - 3);
}

static uint32_t make_message(uint32_t number, uint8_t *data)
{
    uint32_t bytes = length_of(number);

    for (uint32_t at = 0; at + sizeof(at) <= bytes; at += sizeof(at)) {
        uint32_t word = number + at / sizeof(at) % 64;

        memcpy(data + at, &word, sizeof(word));
    }
    memset(data + bytes / 4 * 4, (int)(number % 251), bytes % 4);
    return bytes;
}

static uint32_t elements_of(uint32_t number)
{
    return (length_of(number) + 8 + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
}

/* True if the n-th message is the next to come out; takes it out. */
static bool take(struct fifo_end *reader, uint32_t number)
{
    uint8_t expected[FIFO_MESSAGE_BYTES];
    uint32_t bytes = 0, expected_bytes = make_message(number, expected);
    const void *data = fifo_peek(reader, &bytes);
    bool is_right = data && bytes == expected_bytes && memcmp(data, expected, bytes) == 0;

    if (data)
        fifo_pop(reader);
    return is_right;
}

static bool put(struct fifo_end *writer, uint32_t number)
{
    uint8_t data[FIFO_MESSAGE_BYTES];
    uint32_t bytes = make_message(number, data);

    return fifo_push(writer, data, bytes);
}

/* Puts in what there is room for, by the elements that messages take. */
static void fill(struct fifo_end *writer, uint32_t *in, uint32_t *used)
{
    for (; *used + elements_of(*in) <= ELEMENTS; *used += elements_of(*in), ++*in)
        assert_true(put(writer, *in));
    assert_false(put(writer, *in));
}

TEST(full_and_empty)
{
    struct fifo_end writer = {.fifo = make()}, reader = {.fifo = writer.fifo};
    uint32_t in = 0, out = 0, used = 0, bytes;

    assert_null(fifo_peek(&reader, &bytes));
    for (int lap = 0; lap < 50; lap++) {
        fill(&writer, &in, &used);
        for (int i = 0; i < 37 * lap % 101 && out < in; i++) { /* what was emptied can be filled */
            used -= elements_of(out);
            assert_true(take(&reader, out++));
        }
        fill(&writer, &in, &used);
        if (lap % 3)
            continue;
        for (; out < in; out++)
            assert_true(take(&reader, out));
        used = 0;
        assert_null(fifo_peek(&reader, &bytes));
    }
    free(writer.fifo);
}

TEST(positions_wrap_around)
{
    struct fifo_end writer = {.fifo = make(), .position = UINT32_MAX - 400};
    struct fifo_end reader = writer;

    writer.emptied = writer.position;
    for (uint32_t number = 0; number < 100; number++) {
        assert_true(put(&writer, number));
        assert_true(take(&reader, number));
    }
    free(writer.fifo);
}

TEST(too_long)
{
    static const uint8_t data[FIFO_MESSAGE_BYTES + 1];
    struct fifo_end writer = {.fifo = make()}, reader = {.fifo = writer.fifo};
    uint32_t bytes = 0;

    assert_false(fifo_push(&writer, data, sizeof(data)));
    assert_null(fifo_peek(&reader, &bytes));
    assert_true(fifo_push(&writer, data, FIFO_MESSAGE_BYTES));
    assert_non_null(fifo_peek(&reader, &bytes));
    assert_int_equal(bytes, FIFO_MESSAGE_BYTES);
    free(writer.fifo);
}

/* What a long message leaves where the header of a later one will be is not taken for that one. */
TEST(content_is_no_message)
{
    static uint32_t words[FIFO_MESSAGE_BYTES / sizeof(uint32_t)];
    struct fifo_end writer = {.fifo = make()}, reader = {.fifo = writer.fifo};
    uint32_t bytes = 0;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        words[i] = ELEMENTS + 2; /* the number of the second element's next message */
    assert_true(fifo_push(&writer, words, FIFO_MESSAGE_BYTES));
    for (int i = LONGEST; i <= ELEMENTS; i++) {
        assert_non_null(fifo_peek(&reader, &bytes));
        fifo_pop(&reader);
        assert_true(fifo_push(&writer, words, 8));
    }
    assert_non_null(fifo_peek(&reader, &bytes));
    fifo_pop(&reader);
    assert_null(fifo_peek(&reader, &bytes));
    free(writer.fifo);
}

TEST(closed_at_first)
{
    struct fifo *fifo = make();

    assert_false(fifo_is_open(fifo));
    fifo_open(fifo);
    assert_true(fifo_is_open(fifo));
    free(fifo);
}

/* The other process wrote where it must not. */
TEST(damaged_memory)
{
    struct fifo *fifo = make();
    struct fifo_end writer = {.fifo = fifo}, reader = {.fifo = fifo};
    uint32_t bytes = 1;

    assert_true(put(&writer, 0));
    memset((uint8_t *)fifo + 64 + 4, 0xff, 4); /* the length in the first element */
    assert_non_null(fifo_peek(&reader, &bytes));
    assert_int_equal(bytes, 0);
    fifo_pop(&reader); /* as if it took one element */
    assert_int_equal(reader.position, 1);
    memset(fifo, 0xff, FIFO_BYTES);
    assert_null(fifo_peek(&reader, &bytes));
    for (int i = 0; i < 2 * ELEMENTS; i++) /* stays inside, which the address sanitizer sees */
        put(&writer, 1);
    free(fifo);
}

static void *write_all(void *data)
{
    struct fifo_end *writer = data;

    for (uint32_t number = 0; number < MESSAGES;) {
        if (put(writer, number))
            number++;
        else
            sched_yield();
    }
    return NULL;
}

TEST(two_threads)
{
    struct fifo_end writer = {.fifo = make()}, reader = {.fifo = writer.fifo};
    pthread_t thread;
    uint32_t bytes;

    assert_int_equal(pthread_create(&thread, NULL, write_all, &writer), 0);
    for (uint32_t number = 0; number < MESSAGES; number++) {
        while (!fifo_peek(&reader, &bytes))
            sched_yield();
        assert_true(take(&reader, number));
    }
    pthread_join(thread, NULL);
    assert_null(fifo_peek(&reader, &bytes));
    free(writer.fifo);
}
