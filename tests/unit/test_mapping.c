/* test_mapping.c: the table of mapped ranges: look-up against a plain list, counts, pointers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "openmp/mapping.h"

static void mapping_clear(struct mapping *mapping)
{
    while (mapping_first(mapping))
        mapping_remove(mapping, mapping_first(mapping));
    for (struct mapped *each; (each = mapping->spare);) {
        mapping->spare = each->next_spare;
        free(each);
    }
}

static enum overlap find(const struct mapping *mapping, uintptr_t begin, size_t bytes)
{
    struct mapped *found;
    return mapping_find(mapping, begin, bytes, &found);
}

static void test_edges(void **state)
{
    (void)state;
    struct mapping mapping = {0};
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
static void test_empty_sections(void **state)
{
    (void)state;
    struct mapping mapping = {0};
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

/* Ranges of three slots with gaps, so that "all used" in the model means one range. */
static void test_model(void **state)
{
    (void)state;
    struct mapping mapping = {0};
    static bool used[SLOTS + 8];
    unsigned seed = 1;
    size_t count = 0;
    for (int step = 0; step < 20000; step++) {
        size_t at = (size_t)rand_r(&seed) % (SLOTS / 4) * 4;
        struct mapped *found;
        if (mapping_find(&mapping, at, 3, &found) == OVERLAP_INSIDE) {
            mapping_remove(&mapping, found);
            memset(used + at, 0, 3);
            count--;
        } else {
            assert_non_null(mapping_add(&mapping, at, 3, 100 + at, false));
            memset(used + at, 1, 3);
            count++;
        }
        size_t begin = (size_t)rand_r(&seed) % SLOTS, bytes = 1 + (size_t)rand_r(&seed) % 6;
        assert_int_equal(find(&mapping, begin, bytes), model_find(used, begin, begin + bytes));
    }
    assert_int_equal(mapping.count, count);
    uintptr_t last = 0;
    for (struct mapped *each = mapping_first(&mapping); each; each = mapping_next(each)) {
        assert_true(each == mapping_first(&mapping) || each->begin > last);
        last = each->begin;
        count--;
    }
    assert_int_equal(count, 0);
    mapping_clear(&mapping);
}

static void test_counts(void **state)
{
    (void)state;
    struct mapping mapping = {0};
    struct mapped *mapped = mapping_add(&mapping, 1000, 100, 5000, false);
    assert_true(mapped_is_last(mapped, false, false));
    mapped_enter(mapped, false);
    mapped_enter(mapped, true);
    assert_false(mapped_is_last(mapped, false, true)); /* it is held */
    mapped_leave(mapped, false, true);
    assert_int_equal(mapped->references, 0);
    assert_true(mapped_is_last(mapped, true, false));
    mapped_leave(mapped, true, false);
    assert_true(mapped_is_over(mapped));
    mapped_leave(mapped, false, false); /* one too many */
    assert_int_equal(mapped->references, 0);
    mapped->references = COUNT_INFINITE;
    mapped_enter(mapped, false);
    mapped_leave(mapped, false, true);
    assert_int_equal(mapped->references, COUNT_INFINITE);
    assert_false(mapped_is_last(mapped, false, true));
    mapping_clear(&mapping);
}

static void count_pointer(const struct attached *pointer, void *context)
{
    assert_int_equal(pointer->bytes, sizeof(void *));
    ++*(int *)context;
}

static void test_pointers(void **state)
{
    (void)state;
    struct mapping mapping = {0};
    void *pointers[10] = {0};
    struct mapped *mapped =
        mapping_add(&mapping, (uintptr_t)pointers, sizeof(pointers), 5000, false);
    for (int i = 0; i < 10; i++) {
        uint64_t device = 7000 + (uint64_t)i;
        bool changed;
        pointers[i] = &pointers[i];
        assert_true(mapped_attach(mapped, (uintptr_t)&pointers[i], 8, &device, &changed));
        assert_true(changed);
        assert_true(mapped_attach(mapped, (uintptr_t)&pointers[i], 8, &device, &changed));
        assert_false(changed);
        device++;
        assert_true(mapped_attach(mapped, (uintptr_t)&pointers[i], 8, &device, &changed));
        assert_true(changed);
    }
    int seen = 0;
    mapped_each_pointer(mapped, (uintptr_t)&pointers[3], 4 * 8, count_pointer, &seen);
    assert_int_equal(seen, 4);
    mapping_clear(&mapping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),    cmocka_unit_test(test_empty_sections),
        cmocka_unit_test(test_model),    cmocka_unit_test(test_counts),
        cmocka_unit_test(test_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
