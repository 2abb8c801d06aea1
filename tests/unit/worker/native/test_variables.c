/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_variables.c: what was written is found byte by byte, and written on another side; two sides,
 * each with variables of its own, stand for two workers.
 * Covers: native/variables.c place/lacking.c place/variables.c */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/variables.h>

#include "openmp/place/lacking.h"
#include "tests/unit/test.h"
#include "worker/native/variables.h"

enum { LOG_BYTES = 1024, BYTES = 100 };

static _Alignas(8) char variables[BYTES + 8];
static struct {
    omprma_variables_log_t head;
    char data[LOG_BYTES];
} log_;

static uint64_t number(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

/* Small numbers, which are nobody's addresses. */
static int be_empty(void **state)
{
    (void)state;
    memset(variables, 0, sizeof(variables));
    return 0;
}

TEST_EACH(be_empty, NULL)

static void watch(uint64_t at, uint64_t bytes, uint64_t own)
{
    omprma_variables_range_t range = {at, bytes};
    memset(&log_, 0, sizeof(log_));
    variables_serve(OMPRMA_VARIABLES_WATCH, number(&range), 1, 1);
    assert_int_equal(range.at, own);
}

/* Bytes that were written to the log. */
static uint64_t note(uint64_t read)
{
    variables_serve(OMPRMA_VARIABLES_NOTE, number(&log_), LOG_BYTES, read);
    return log_.head.end - read;
}

TEST(test_what_was_written)
{
    watch(number(variables + 3), BYTES, 0);
    assert_int_equal(note(0), 0);
    variables[2] = 1; /* nobody's */
    assert_int_equal(note(0), 0);
    variables[5] = 1;
    assert_int_equal(note(0), omprma_variables_bytes(1));
    assert_int_equal(log_.data[sizeof(omprma_variables_record_t)], 1 << 5);
    assert_int_equal(note(log_.head.end), 0); /* it is known */
    variables[BYTES + 2] = variables[BYTES + 3] = 1;
    uint64_t read = log_.head.end;
    assert_int_equal(note(read), omprma_variables_bytes(1));
    assert_int_equal(log_.data[read + sizeof(omprma_variables_record_t)], 1 << (BYTES + 2) % 8);
}

/* A log that is full is gone on with when it was read, at its beginning. */
TEST(test_a_full_log)
{
    watch(number(variables), BYTES, 0);
    uint64_t read = 0;
    for (int i = 0; i < 100; i++) {
        variables[8 * (i % 10)]++;
        note(read);
        assert_int_equal(log_.head.more, 0);
        read = log_.head.end;
    }
    for (int i = 0; i < 80; i += 16)
        variables[i]++;
    variables_serve(OMPRMA_VARIABLES_NOTE, number(&log_), LOG_BYTES, read - LOG_BYTES + 40);
    assert_int_equal(log_.head.end - read, omprma_variables_bytes(1));
    assert_int_equal(log_.head.more, 1);
    read = log_.head.end;
    assert_int_equal(note(read), 4 * omprma_variables_bytes(1));
    assert_int_equal(log_.head.more, 0);
}

TEST(test_an_address_of_own_memory)
{
    static void *pointer;
    void *own = malloc(100);
    watch(number(&pointer), sizeof(pointer), 0);
    pointer = own;
    assert_int_equal(note(0), omprma_variables_bytes(1));
    omprma_variables_record_t record;
    memcpy(&record, log_.data, sizeof(record));
    assert_true(record.is_address);
    watch(number(&pointer), sizeof(pointer), number(own));
    pointer = NULL;
    free(own);
}

/* In a word of a place, of other memory than the place is a part of. */
TEST(test_a_search_for_addresses)
{
    static uint64_t words[16];
    const uint64_t begin = number(words), low = 0x500000000000, high = low + 4096;
    struct {
        omprma_variables_search_t head;
        omprma_variables_place_t places[2];
    } search = {{.low = low, .high = high, .count = 2},
                {{begin + 4, 28, begin, begin + 128}, {begin + 64, 64, begin, begin + 128}}};
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, 0);
    words[0] = words[4] = words[7] = low; /* not in a place, as a whole */
    words[9] = high;
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, 0);
    words[15] = low;
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, low);
    words[1] = high - 1;
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, high - 1);
    search.head.low = begin;
    search.head.high = begin + 128;
    words[1] = words[15] = begin + 8; /* its own */
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, 0);
    words[2] = number(&search); /* sanitizers put what malloc() gives elsewhere */
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, number(&search));
    words[2] = number(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")); /* in a library */
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, words[2]);
    words[2] = number(variables_serve); /* in the program */
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, 0);
    search.places[0].end = search.places[1].end = begin + 8;
    variables_serve(OMPRMA_VARIABLES_SEARCH, number(&search), 0, 0);
    assert_int_equal(search.head.found, begin + 8);
}

/* Each byte counts, also the last one of a place that is no whole number of words. */
TEST(test_sums)
{
    struct {
        omprma_variables_sums_t head;
        omprma_variables_sum_t sums[2];
    } sums = {{.count = 2}, {{number(variables + 1), 29, 0}, {number(variables + 40), 60, 0}}};
    variables_serve(OMPRMA_VARIABLES_SUM, number(&sums), 0, 0);
    assert_int_equal(sums.head.changed, 0);
    for (int i = 0; i < BYTES; i++) {
        bool first = i >= 1 && i < 30, second = i >= 40;
        variables_serve(OMPRMA_VARIABLES_SUM, number(&sums), 0, 0);
        variables[i]++;
        variables_serve(OMPRMA_VARIABLES_SUM, number(&sums), 1, 0);
        assert_int_equal(sums.head.changed, first ? 1 : second ? 2 : 0);
    }
    variables_serve(OMPRMA_VARIABLES_SUM, number(&sums), 0, 0);
    variables_serve(OMPRMA_VARIABLES_SUM, number(&sums), 1, 0);
    assert_int_equal(sums.head.changed, 0);
}

static void address_none(void *context, uint64_t address)
{
    *(uint64_t *)context = address;
}

/* The books of two sites: what one has written, the other lacks, once, and with addresses of its
 * own. */
TEST(test_books)
{
    struct words words = {.sites = 2};
    const uint64_t places[] = {number(variables), 0x10000000};
    const omprma_variables_range_t range = {number(variables), BYTES};
    _Alignas(8) char records[LOG_BYTES];
    uint64_t other = 0, word;
    assert_true(words_add_image(&words, places, BYTES) && words_add_range(&words, &range));
    watch(number(variables), BYTES, 0);
    variables[9]++;
    word = number(variables + 16);
    memcpy(variables + 24, &word, sizeof(word));
    words_take(&words, 0, log_.data, note(0), address_none, &other);
    assert_int_equal(other, 0);
    assert_int_equal(words_lacking(&words, 0), 0);
    assert_int_equal(words_lacking(&words, 1), 2 * omprma_variables_bytes(1));
    size_t bytes = words_give(&words, 1, records);
    assert_int_equal(words_lacking(&words, 1), 0);
    assert_int_equal(bytes, 2 * omprma_variables_bytes(1));
    memcpy(&word, records + bytes - sizeof(word), sizeof(word));
    assert_int_equal(word, 0x10000000 + 16);
    assert_false(words.torn);
    words_take(&words, 0, records, omprma_variables_bytes(1), address_none, &other);
    words_take(&words, 1, records, omprma_variables_bytes(1), address_none, &other);
    assert_true(words.torn); /* it had not seen what the other wrote */
    char before = variables[9];
    variables[9] = 0;
    variables_serve(OMPRMA_VARIABLES_WRITE, number(records), omprma_variables_bytes(1), 0);
    assert_int_equal(variables[9], before);
    free(words.places);
    free(words.firsts);
    free(words.common);
    free(words.images);
    for (int i = 0; i < words.sites; i++)
        free(words.lacks[i].masks);
}
