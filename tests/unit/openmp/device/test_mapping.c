/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_mapping.c: the table of mapped ranges: look-up against a plain list, counts, pointers.
 * Covers: mapping.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "openmp/device/mapping.h"

static size_t given; /* memory that came back */

static void give(void *owner, const struct suballoc *share)
{
    assert_null(owner);
    assert_int_not_equal(share->begin, 0);
    given++;
}

static void mapping_clear(struct mapping *mapping)
{
    mapping_forget(mapping);
    while (mapping_first(mapping))
        mapping_remove(mapping, mapping_first(mapping));
    for (struct mapped *each; (each = mapping->spare);) {
        mapping->spare = each->next_spare;
        free(each);
    }
}

static enum overlap find(struct mapping *mapping, uintptr_t begin, size_t bytes)
{
    struct mapped *found;
    return mapping_find(mapping, begin, bytes, &found);
}

TEST(test_edges)
{
    struct mapping mapping;
    mapping_init(&mapping, give, NULL);
    struct mapped *found, *made = mapping_add(&mapping, 1000, 100, 5000, false);
    assert_int_equal(mapping_find(&mapping, 1000, 100, &found), OVERLAP_INSIDE);
    assert_ptr_equal(found, made);
    assert_int_equal(mapped_address(found, 1010), 5010);
    assert_int_equal(find(&mapping, 1099, 1), OVERLAP_INSIDE);
    assert_int_equal(find(&mapping, 1099, 2), OVERLAP_PARTLY);
    assert_int_equal(find(&mapping, 999, 1), OVERLAP_NONE);
    assert_int_equal(find(&mapping, 999, 2), OVERLAP_PARTLY);
    assert_int_equal(find(&mapping, 900, 500), OVERLAP_PARTLY);
    assert_int_equal(find(&mapping, 1100, 1), OVERLAP_NONE);
    mapping_clear(&mapping);
    assert_int_equal(find(&mapping, 1000, 100), OVERLAP_NONE);
}

/* Sections of no length are found at the range, and between the variable's base and the range. */
TEST(test_empty_sections)
{
    struct mapping mapping;
    mapping_init(&mapping, give, NULL);
    struct mapped *found, *made = mapping_add(&mapping, 1000, 100, 5000, false);
    made->base = 900;
    assert_int_equal(mapping_find(&mapping, 950, 0, &found), OVERLAP_INSIDE);
    assert_ptr_equal(found, made);
    assert_int_equal(mapped_address(found, 950), 4950);
    assert_int_equal(find(&mapping, 1050, 0), OVERLAP_INSIDE);
    assert_int_equal(find(&mapping, 1100, 0), OVERLAP_NONE);
    assert_int_equal(find(&mapping, 899, 0), OVERLAP_NONE);
    mapping_clear(&mapping);
}

enum { SLOTS = 4096 };

static enum overlap model_find(const bool *used, size_t begin, size_t end)
{
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += used[i];
    return count == 0 ? OVERLAP_NONE : count == end - begin ? OVERLAP_INSIDE : OVERLAP_PARTLY;
}

/* Ranges of three slots with gaps, so that "all used" in the model means one range; some are vacant
 * when they have gone. */
TEST(test_model)
{
    struct mapping mapping;
    mapping_init(&mapping, give, NULL);
    static bool used[SLOTS + 8];
    unsigned seed = 1;
    size_t count = 0, again = 0, taken = 0, exact_count = 0;
    struct mapped *guess = NULL;
    given = 0;
    for (int step = 0; step < 20000; step++) {
        size_t at = (size_t)rand_r(&seed) % (SLOTS / 4) * 4;
        struct mapped *found;
        if (mapping_find(&mapping, at, 3, &found) == OVERLAP_INSIDE) {
            if (found->memory.begin == 0 || step % 7 == 0) {
                taken -= found->memory.begin != 0;
                mapping_remove(&mapping, found);
            } else {
                mapping_vacate(&mapping, found);
            }
            memset(used + at, 0, 3);
            count--;
        } else {
            found = step % 3 ? mapping_add_again(&mapping, at, 3, step % 2) : NULL;
            again += found != NULL;
            if (!found) {
                found = mapping_add(&mapping, at, 3, 100 + at, step % 2);
                found->memory.begin = step % 5 ? 1 + at : 0;
                taken += found->memory.begin != 0;
            }
            assert_int_equal(found->device, 100 + at);
            assert_int_equal(found->references, !(step % 2));
            assert_int_equal(found->holds, step % 2);
            memset(used + at, 1, 3);
            count++;
        }
        size_t begin = (size_t)rand_r(&seed) % SLOTS, bytes = 1 + (size_t)rand_r(&seed) % 6;
        assert_int_equal(find(&mapping, begin, bytes), model_find(used, begin, begin + bytes));
        begin = begin / 4 * 4;
        struct mapped *exact = mapping_exact(&mapping, begin, 3, step % 2 ? guess : NULL);
        exact_count += exact != NULL;
        assert_true(!exact || (exact->begin == begin && exact->end == begin + 3));
        assert_true(model_find(used, begin, begin + 3) ==
                    (exact && !exact->vacant ? OVERLAP_INSIDE : OVERLAP_NONE));
        guess = exact ? exact : guess;
    }
    assert_in_range(exact_count, 100, 20000);
    assert_int_equal(mapping.count, count);
    uintptr_t last = 0;
    for (struct mapped *each = mapping_first(&mapping); each; each = mapping_next(each)) {
        assert_true(each == mapping_first(&mapping) || each->begin > last);
        last = each->begin;
        count--;
    }
    assert_int_equal(count, 0);
    assert_in_range(again, 100, 10000);
    for (struct mapped *each = mapping_first(&mapping); each; each = mapping_next(each))
        taken -= each->memory.begin != 0;
    mapping_clear(&mapping);
    assert_int_equal(given, taken); /* of all that is neither mapped nor was removed */
}

/* What has gone is found by nobody, and comes back as new; a range elsewhere takes its place. */
TEST(test_vacant)
{
    struct mapping mapping;
    struct mapped *one, *two, *found;
    mapping_init(&mapping, give, NULL);
    given = 0;
    one = mapping_add(&mapping, 1000, 100, 5000, false);
    two = mapping_add(&mapping, 1200, 100, 5200, false);
    one->memory.begin = two->memory.begin = 1;
    one->base = 900;
    one->name = "one";
    mapping_vacate(&mapping, one);
    assert_int_equal(mapping.count, 1);
    assert_int_equal(find(&mapping, 1000, 100), OVERLAP_NONE);
    assert_int_equal(find(&mapping, 1050, 0), OVERLAP_NONE);
    assert_int_equal(find(&mapping, 950, 0), OVERLAP_NONE);
    assert_int_equal(find(&mapping, 1050, 300), OVERLAP_PARTLY); /* behind it */
    assert_ptr_equal(mapping_first(&mapping), two);
    assert_null(mapping_add_again(&mapping, 1000, 50, false));
    assert_null(mapping_add_again(&mapping, 1001, 99, false));
    assert_null(mapping_add_again(&mapping, 1200, 100, false));
    assert_ptr_equal(mapping_add_again(&mapping, 1000, 100, true), one);
    assert_true(one->holds == 1 && one->references == 0 && one->base == 1000 && !one->name);
    assert_int_equal(mapping_find(&mapping, 1000, 100, &found), OVERLAP_INSIDE);
    assert_ptr_equal(found, one);
    mapping_vacate(&mapping, one);
    assert_int_equal(given, 0);
    assert_non_null(mapping_add(&mapping, 1090, 20, 7000, false));
    assert_int_equal(given, 1);
    mapping_vacate(&mapping, two);
    assert_true(mapping_forget(&mapping));
    assert_int_equal(given, 2);
    assert_false(mapping_forget(&mapping));
    assert_int_equal(mapping.count, 1);
    mapping_clear(&mapping);
}

/* Whatever is guessed, also a range that has gone and come back as another one. */
TEST(test_exact)
{
    struct mapping mapping;
    struct mapped *one, *two, *three;
    mapping_init(&mapping, give, NULL);
    assert_null(mapping_exact(&mapping, 1000, 8, NULL));
    one = mapping_add(&mapping, 1000, 8, 5000, false);
    two = mapping_add(&mapping, 1100, 8, 5100, false);
    one->memory.begin = two->memory.begin = 1;
    struct mapped *guesses[] = {NULL, one, two};
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(mapping_exact(&mapping, 1000, 8, guesses[i]), one);
        assert_ptr_equal(mapping_exact(&mapping, 1100, 8, guesses[i]), two);
        assert_null(mapping_exact(&mapping, 1000, 4, guesses[i]));
        assert_null(mapping_exact(&mapping, 1100, 16, guesses[i]));
        assert_null(mapping_exact(&mapping, 1104, 4, guesses[i]));
    }
    mapping_vacate(&mapping, two);
    assert_ptr_equal(mapping_exact(&mapping, 1100, 8, NULL), two);
    assert_true(two->vacant);
    assert_true(mapping_forget(&mapping));
    assert_null(mapping_exact(&mapping, 1100, 8, two));
    three = mapping_add(&mapping, 2000, 8, 6000, false); /* in its memory */
    assert_ptr_equal(three, two);
    assert_null(mapping_exact(&mapping, 1100, 8, two));
    assert_ptr_equal(mapping_exact(&mapping, 2000, 8, two), three);
    mapping_remove(&mapping, three);
    assert_null(mapping_exact(&mapping, 2000, 8, three));
    mapping_clear(&mapping);
}

/* Only so many are kept, the last ones. */
TEST(test_vacant_most)
{
    enum { RANGES = 1000 };
    struct mapping mapping;
    size_t kept = 0;
    mapping_init(&mapping, give, NULL);
    given = 0;
    for (uintptr_t i = 0; i < RANGES; i++)
        mapping_add(&mapping, 16 * i, 8, 16 * i, false)->memory.begin = 1;
    while (mapping_first(&mapping))
        mapping_vacate(&mapping, mapping_first(&mapping));
    for (uintptr_t i = 0; i < RANGES; i++)
        kept += mapping_add_again(&mapping, 16 * i, 8, false) != NULL;
    assert_in_range(kept, 40, RANGES / 2);
    assert_int_equal(given, RANGES - kept);
    assert_int_equal(find(&mapping, 16 * (RANGES - 1), 8), OVERLAP_INSIDE);
    mapping_clear(&mapping);
}

TEST(test_counts)
{
    struct mapping mapping;
    mapping_init(&mapping, give, NULL);
    struct mapped *mapped = mapping_add(&mapping, 1000, 100, 5000, false);
    mapped_enter(mapped, false, 2);
    mapped_enter(mapped, true, 2);
    mapped_leave(mapped, false, true, 3);
    assert_int_equal(mapped->references, 0);
    assert_int_not_equal(mapped->ended_by, 3); /* it is held */
    mapped_leave(mapped, true, false, 4);
    assert_int_equal(mapped->ended_by, 4);
    assert_true(mapped_is_over(mapped));
    mapped_leave(mapped, false, false, 5); /* one too many */
    assert_int_equal(mapped->references, 0);
    assert_int_equal(mapped->ended_by, 4);
    mapped->references = COUNT_INFINITE;
    mapped_enter(mapped, false, 6);
    mapped_leave(mapped, false, true, 7);
    assert_int_equal(mapped->references, COUNT_INFINITE);
    assert_int_equal(mapped->ended_by, 4);
    mapping_clear(&mapping);
}

/* However many items of one construct name it. */
TEST(test_counts_of_a_construct)
{
    struct mapping mapping;
    mapping_init(&mapping, give, NULL);
    struct mapped *mapped = mapping_add(&mapping, 1000, 100, 5000, false);
    mapped_enter(mapped, false, 1);
    mapped_enter(mapped, false, 1);
    assert_int_equal(mapped->references, 2);
    mapped_leave(mapped, false, false, 2);
    mapped_leave(mapped, false, false, 2);
    assert_int_equal(mapped->references, 1);
    assert_int_equal(mapped->ended_by, 0);
    mapped_leave(mapped, false, false, 3);
    assert_int_equal(mapped->ended_by, 3);
    mapping_clear(&mapping);
}

static void count_pointer(struct attached *pointer, void *context)
{
    assert_int_equal(pointer->bytes, sizeof(void *));
    ++*(int *)context;
}

static void take_due(struct attached *pointer, void *context)
{
    if (pointer->due)
        assert_true(attached_value(pointer, context));
    pointer->due = false;
}

/* Attaches: the value that the device gets; 0: it has it. */
static uint64_t attach(struct mapped *mapped, void **pointer, const struct mapped *pointee)
{
    uint64_t value = 0;
    assert_true(mapped_attach(mapped, (uintptr_t)pointer, sizeof(*pointer), pointee));
    mapped_each_pointer(mapped, (uintptr_t)pointer, sizeof(*pointer), take_due, &value);
    return value;
}

static void is_gone(struct attached *pointer, void *context)
{
    unsigned char value[sizeof(void *)];
    (void)context;
    assert_false(attached_value(pointer, value));
}

/* A pointer is a place in the range that it points into. It is due when that has changed, or the
 * host's value. */
TEST(test_pointers)
{
    struct mapping mapping;
    mapping_init(&mapping, give, NULL);
    static char data[64];
    static void *pointers[10];
    uintptr_t first = (uintptr_t)pointers;
    struct mapped *mapped = mapping_add(&mapping, first, sizeof(pointers), 5000, false);
    struct mapped *pointee = mapping_add(&mapping, (uintptr_t)data, 64, 7000, false);
    for (int i = 0; i < 10; i++) {
        pointers[i] = &data[i];
        assert_int_equal(attach(mapped, &pointers[i], pointee), 7000 + i);
        assert_int_equal(attach(mapped, &pointers[i], pointee), 0);
        pointers[i] = &data[i + 1];
        assert_int_equal(attach(mapped, &pointers[i], pointee), 7001 + i);
    }
    int seen = 0;
    mapped_each_pointer(mapped, (uintptr_t)&pointers[3], 4 * 8, count_pointer, &seen);
    assert_int_equal(seen, 4);
    mapping_remove(&mapping, pointee);
    mapped_each_pointer(mapped, first, sizeof(pointers), is_gone, NULL);
    pointee = mapping_add(&mapping, (uintptr_t)data, 64, 9000, false); /* perhaps in its place */
    mapped_each_pointer(mapped, first, sizeof(pointers), is_gone, NULL);
    assert_int_equal(attach(mapped, &pointers[3], pointee), 9004);
    assert_int_equal(attach(mapped, &pointers[3], NULL), 0);
    mapping_clear(&mapping);
}
