/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_own.c: memory that regions had for themselves is given again elsewhere, with what they were
 * sent, and with pointers and words that lead there; what cannot be given again is not noted.
 * Covers: own.c sent.c
 */
#include <stdlib.h>
#include <string.h>

#include "openmp/place/own.h"
#include "tests/unit/test.h"

enum { WORDS = 3, ROOM = 16384 };

static const omprma_addr_t there = 0x7f0012340000, block = 0x7f0055550000;
static struct work work;
static omprma_region_t launched;
static omprma_addr_t begins[WORDS];

static int set_up(void **state)
{
    (void)state;
    unsigned char *list = work.sent.list;
    work = (struct work){.number = 7, .launched = &launched, .begins = begins};
    work.sent.list = list;
    sent_begin(&work.sent, true);
    launched.count = WORDS;
    return 0;
}
TEST_EACH(set_up, NULL)

static void privates(omprma_addr_t at, size_t bytes)
{
    work.privates.device = at;
    work.private_bytes = bytes;
}

/* What was sent, in the block at `block`, of which this is the memory. */
static void give(const struct own *own, unsigned char *memory)
{
    const struct sent_piece *piece = NULL;
    assert_in_range(own->bytes, 1, ROOM);
    while ((piece = sent_next(own->sent, own->sent_bytes, piece))) {
        omprma_addr_t to = own_address(own, block, piece->to);
        assert_in_range(to, block, block + own->bytes - piece->bytes);
        own_content(own, block, piece, memory + (to - block));
    }
}

TEST(private_variables_are_given_again)
{
    unsigned char memory[ROOM] = {0};
    const char text[] = "thirteen bytes", later[] = "THIR";
    const omprma_addr_t pointers[] = {there + 96, 0x7f0000000000};
    uint64_t words[] = {11, there + 64 - 800, 0x7f0000000000};
    struct own *own;
    privates(there, 200);
    begins[0] = begins[2] = 0;
    begins[1] = there + 64;
    sent_add(&work.sent, there + 1, text, sizeof(text));
    sent_add(&work.sent, there + 128, pointers, sizeof(pointers));
    sent_add(&work.sent, there + 1, later, 4);
    assert_true(own_note(&work, &own));
    sent_begin(&work.sent, true); /* the next region's */
    give(own, memory);
    omprma_addr_t at = own_address(own, block, there), pointer;
    assert_int_equal(at % 64, there % 64);
    assert_string_equal((char *)memory + (at - block) + 1, "THIRteen bytes");
    memcpy(&pointer, memory + (at - block) + 128, sizeof(pointer));
    assert_int_equal(pointer, at + 96);
    memcpy(&pointer, memory + (at - block) + 136, sizeof(pointer));
    assert_int_equal(pointer, 0x7f0000000000);
    own_words(own, block, words);
    assert_int_equal(words[0], 11);
    assert_int_equal(words[1], at + 64 - 800);
    assert_int_equal(words[2], 0x7f0000000000);
    free(own);
}

TEST(a_page_stays_one)
{
    struct own *own;
    privates(there + 8, 4096 + 5);
    assert_true(own_note(&work, &own));
    assert_int_equal(own_address(own, block, there + 8) % 4096, 8);
    assert_int_equal(own_address(own, block, there + 8 + 4096 + 5), there + 8 + 4096 + 5);
    free(own);
}

TEST(a_region_without_own_memory_has_none)
{
    struct own *own;
    assert_true(own_note(&work, &own));
    assert_null(own);
}

static bool can(void)
{
    struct own *own;
    bool noted = own_note(&work, &own);
    assert_true(noted || !own);
    free(own);
    return noted;
}

TEST(what_was_sent_to_elsewhere_cannot_be_given_again)
{
    sent_add(&work.sent, there, "1234567", 8);
    assert_false(can());
    privates(there, 8);
    assert_true(can());
    privates(there, 7);
    assert_false(can());
    privates(there + 4, 8);
    assert_false(can());
}

/* A range that the region has pinned, and maybe made. */
struct user {
    struct mapped mapped;
    struct pinned pinned;
};

static void pin(struct user *user, omprma_addr_t at, size_t bytes, bool made)
{
    static const uintptr_t host = 4096;
    user->mapped = (struct mapped){.begin = host,
                                   .end = host + bytes,
                                   .device = at,
                                   .made_by = made ? work.number : work.number - 1};
    user->pinned = (struct pinned){.next = work.pinned, .work = &work, .mapped = &user->mapped};
    work.pinned = &user->pinned;
}

TEST(what_the_region_maps_itself_is_given_again)
{
    struct user before, structure, list, twice;
    unsigned char memory[ROOM] = {0};
    const double numbers[] = {1, 2, 3};
    const omprma_addr_t pointer = there + 4096 - 8;
    uint64_t words[WORDS] = {there, there + 256, there + 4096 - 16};
    struct own *own;
    privates(there, 16);
    pin(&before, there + 4096 - 8, 8, false);
    pin(&structure, there + 256, 24, true);
    pin(&list, there + 4096, 5000, true); /* of which the first element is another one's */
    pin(&twice, there + 256, 24, true);
    for (int i = 0; i < WORDS; i++)
        begins[i] = words[i];
    begins[2] = there + 4096;
    sent_add(&work.sent, there + 4096, numbers, sizeof(numbers));
    sent_add(&work.sent, there + 256 + 8, &pointer, sizeof(pointer));
    assert_true(own_note(&work, &own));
    assert_int_equal(own->part_count, 3);
    give(own, memory);
    own_words(own, block, words);
    omprma_addr_t moved = own_address(own, block, there + 4096);
    assert_int_equal(moved % 4096, 0);
    assert_memory_equal(memory + (moved - block), numbers, sizeof(numbers));
    assert_int_equal(words[0], own_address(own, block, there));
    assert_int_equal(words[1], own_address(own, block, there + 256));
    assert_int_equal(words[2], moved - 16);
    /* It leads to what was there before. */
    assert_memory_equal(memory + (words[1] - block) + 8, &pointer, sizeof(pointer));
    free(own);
}

TEST(what_others_had_before_cannot_be_given_again)
{
    struct user user;
    pin(&user, there, 64, false);
    user.pinned.retrieved = true;
    assert_true(can());
    user.pinned.sent = true;
    assert_false(can());
    work.pinned = NULL;
    pin(&user, there, 64, true);
    user.pinned.sent = true;
    assert_true(can());
    user.mapped.used_by = work.number; /* it was there, and is made anew */
    assert_false(can());
}

TEST(what_is_too_much_cannot_be_given_again)
{
    static const unsigned char bytes[SENT_BYTES];
    privates(there, sizeof(bytes));
    sent_add(&work.sent, there, bytes, SENT_BYTES / 2);
    assert_true(can());
    sent_add(&work.sent, there, bytes, SENT_BYTES / 2);
    assert_false(can());
    sent_begin(&work.sent, true);
    sent_add(&work.sent, there, NULL, 8);
    assert_false(can());
    sent_begin(&work.sent, true);
    privates(there, 1 << 20);
    assert_true(can());
    privates(there, (1 << 20) + 1);
    assert_false(can());
}

TEST(what_words_stand_for_has_to_be_known)
{
    privates(there, 8);
    work.begins = NULL;
    assert_false(can());
}
