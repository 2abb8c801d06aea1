/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_values.c: what an item's columns and flags speak of, see src/openmp/map/maps.h:
 * values where others have addresses, and flags of what a pointer points to, which are not the
 * pointer's. Lists are as clang up to 21 makes them (PTR_AND_OBJ), and as 22 does (ATTACH).
 * Covers: way.c wholes.c
 */
#include "tests/unit/test.h"
#include "tests/unit/openmp/maps_fixture.h"

/* ---- values --------------------------------------------------------------------------------- */

/* Values of every kind: near nothing, near the end, one bit, all but one. */
static uint64_t value_of(int i)
{
    enum { NEAR = 20 };
    if (i < NEAR)
        return (uint64_t)i;
    if (i < 2 * NEAR)
        return UINT64_MAX - (uint64_t)(i - NEAR);
    return i < 2 * NEAR + 64 ? UINT64_C(1) << (i - 2 * NEAR)
                             : ~(UINT64_C(1) << (i - 2 * NEAR - 64) % 64);
}
enum { VALUES = 2 * 20 + 2 * 64 };

/* All that compilers pass a value by, where others pass an address: see maps.h. */
static struct list list_of_values(void *value, void **holder)
{
    const int64_t lambda = MAP_PTR_AND_OBJ | MAP_LITERAL | MAP_IMPLICIT;
    struct list list = {.count = 0};
    *holder = value;
    add(&list, value, value, 8, MAP_TARGET_PARAM | MAP_LITERAL);
    add(&list, value, value, 1, MAP_TARGET_PARAM | MAP_LITERAL | MAP_IMPLICIT | MAP_PRIVATE);
    add(&list, value, value, 0, MAP_TARGET_PARAM | MAP_LITERAL);
    add(&list, value, value, 0, MAP_TARGET_PARAM | MAP_IMPLICIT);
    add(&list, value, value, 0, MAP_TARGET_PARAM | MAP_TO | MAP_FROM);
    add(&list, holder, value, 8, MAP_ATTACH);
    add(&list, holder, holder, 8, MAP_TARGET_PARAM | MAP_PRIVATE | MAP_TO);
    add(&list, holder, value, 0, lambda | member_of(6));
    return list;
}

/* Private variables, also those that are pointers, hold the value; the rest of the words are it. */
TEST(test_values)
{
    int x = 0;
    assert_true(run(maps_enter, list_of(&x, sizeof(x), MAP_TO)));
    for (int i = 0; i < VALUES; i++) {
        void *value = (void *)value_of(i), *holder; /* NOLINT(performance-no-int-to-ptr) */
        struct list list = list_of_values(value, &holder);
        struct maps maps = maps_of(&list);
        struct work *work = work_begin(device, NULL, WORK_WAITED);
        assert_true(maps_are_valid(work, &maps));
        arguments_of(list, 0, work);
        assert_int_equal(built.count, 6);
        for (int word = 0; word < 5; word++)
            assert_int_equal(built.words[word], value_of(i));
        bool done;
        assert_true(work_send(work));
        omprma_queue_query(work->queue, &done);
        assert_int_equal(*(uint64_t *)built.words[5], value_of(i));
        arguments_clear(&built);
        assert_true(work_finish(work));
        assert_true(run(maps_settle, list));
        list = list_of(value, 0, MAP_TO | MAP_RETURN_PARAM); /* use_device_ptr */
        assert_false(is_damaged(list));
        assert_true(run(maps_enter, list));
        assert_ptr_equal(list.bases[0], value);
        assert_true(run(maps_update, list));
        assert_true(run(maps_settle, list));
        assert_int_equal(omp_target_is_present(value, 0), 0);
    }
    assert_true(run(maps_settle, list_of(&x, sizeof(x), MAP_DELETE)));
}

/* flang's a(5:3), which is empty. */
TEST(test_less_than_nothing)
{
    double x[4] = {0};
    struct list list = {.count = 0};
    add(&list, x, &x[3], (size_t)-8, MAP_TO | MAP_FROM | MAP_TARGET_PARAM);
    add(&list, x, &x[2], (size_t)INT64_MIN, MAP_TARGET_PARAM | MAP_PRIVATE | MAP_TO);
    assert_false(is_damaged(list));
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    arguments_of(list, 0, work);
    assert_int_equal(built.words[0], (uintptr_t)x);
    arguments_clear(&built);
    assert_true(work_finish(work));
    assert_true(run(maps_update, list));
    assert_true(run(maps_settle, list));
    assert_null(copy_of(&x[3]));
}

/* ---- pointers ------------------------------------------------------------------------------- */

struct inner {
    double *p;
    int x, y;
};
struct outer {
    struct inner *all;
};

static double elements[4];
static struct inner inners[4];
static struct outer outer = {inners};
static double *rows[4];

/* The forms of clang up to 21 for outer.all[1].p[:4], for rows[1][:4] and for pointers that are
 * variables of the device, and that of clang 22. */
enum form { MEMBERS, ROWS, BARE, ATTACHED, FORMS };

static struct list elements_list(enum form form, int64_t type)
{
    struct list list = {.count = 0};
    if (form == ATTACHED) {
        add(&list, elements, elements, sizeof(elements), type);
        add(&list, &inners[1].p, elements, sizeof(void *), MAP_ATTACH);
        return list;
    }
    if (form == ROWS) {
        add(&list, rows, &rows[1], sizeof(void *), type);
    } else if (form == MEMBERS) {
        add(&list, &outer, &outer.all, sizeof(void *), type & (MAP_HOLD | MAP_PRESENT));
        add(&list, &outer.all, &inners[1].p, sizeof(void *),
            (type & (MAP_HOLD | MAP_PRESENT)) | MAP_PTR_AND_OBJ | member_of(0));
    }
    add(&list, form == ROWS ? &rows[1] : &inners[1].p, elements, sizeof(elements),
        type | MAP_PTR_AND_OBJ);
    return list;
}

/* What holds the pointer to the elements, as a clause by itself. */
static struct list holder_list(enum form form, int64_t type)
{
    return form == ROWS ? list_of(rows, sizeof(rows), type) : list_of(inners, sizeof(inners), type);
}

static void *holder_of(enum form form)
{
    return form == ROWS ? (void *)rows : (void *)inners;
}

static double **pointer_of(enum form form)
{
    return form == ROWS ? &rows[1] : &inners[1].p;
}

static void start(void)
{
    memset(inners, 0, sizeof(inners));
    inners[1].p = rows[1] = elements;
    elements[0] = 1;
}

static void assert_nothing_is_mapped(void)
{
    assert_null(copy_of(&outer));
    for (int i = 0; i < 4; i++) {
        assert_null(copy_of(&inners[i]));
        assert_null(copy_of(&rows[i]));
    }
    assert_null(copy_of(elements));
}

/* Deleted or released, the inner one leaves the count of the outer one alone. */
TEST(test_inner_leaves_first)
{
    for (enum form form = 0; form < FORMS; form++) {
        start();
        assert_true(run(maps_enter, holder_list(form, MAP_TO)));
        for (int i = 0; i < 3; i++)
            assert_true(run(maps_enter, elements_list(form, MAP_TO)));
        assert_ptr_equal(*(void **)copy_of(pointer_of(form)), copy_of(elements));
        assert_true(run(maps_settle, elements_list(form, 0)));
        assert_non_null(copy_of(elements));
        assert_true(run(maps_settle, elements_list(form, MAP_DELETE)));
        assert_null(copy_of(elements));
        inners[0].x = 1;
        assert_non_null(copy_of(holder_of(form)));
        assert_true(run(maps_settle, elements_list(form, MAP_DELETE)));
        assert_true(run(maps_settle, holder_list(form, MAP_FROM)));
        assert_int_equal(inners[0].x, form == ROWS); /* the device's came back */
        assert_ptr_equal(*pointer_of(form), elements);
        assert_nothing_is_mapped();
    }
}

/* The outer one goes, and comes back, when its own count is over. */
TEST(test_outer_leaves_first)
{
    for (enum form form = 0; form < FORMS; form++) {
        start();
        assert_true(run(maps_enter, holder_list(form, MAP_TO)));
        assert_true(run(maps_enter, elements_list(form, MAP_TO)));
        assert_true(run(maps_enter, elements_list(form, MAP_TO | MAP_ALWAYS)));
        inners[0].x = 1;
        assert_true(run(maps_settle, holder_list(form, MAP_FROM)));
        assert_null(copy_of(holder_of(form)));
        assert_int_equal(inners[0].x, form == ROWS);
        *(double *)copy_of(elements) = 7;
        assert_true(run(maps_settle, elements_list(form, MAP_FROM)));
        assert_int_equal(elements[0], 1);
        assert_true(run(maps_settle, elements_list(form, MAP_FROM)));
        assert_int_equal(elements[0], 7);
        assert_nothing_is_mapped();
    }
}

/* Nobody has mapped what holds the pointers: what is there for them goes with what they lead to. */
TEST(test_inner_alone)
{
    for (enum form form = 0; form < FORMS; form++) {
        start();
        for (int64_t last = 0; last <= MAP_DELETE; last += MAP_DELETE) {
            assert_true(run(maps_enter, elements_list(form, MAP_TO)));
            assert_true(run(maps_enter, elements_list(form, MAP_TO)));
            assert_true(run(maps_settle, elements_list(form, last)));
            assert_int_equal(copy_of(elements) != NULL, last == 0);
            if (last == 0)
                assert_true(run(maps_settle, elements_list(form, MAP_FROM)));
            assert_nothing_is_mapped();
        }
    }
}

/* Only the elements have to be there, or are held. */
TEST(test_present_and_hold)
{
    for (enum form form = 0; form < FORMS; form++) {
        start();
        assert_false(run(maps_enter, elements_list(form, MAP_TO | MAP_PRESENT)));
        assert_true(run(maps_settle, elements_list(form, MAP_DELETE)));
        assert_true(run(maps_enter, list_of(elements, sizeof(elements), MAP_TO)));
        assert_true(run(maps_update, elements_list(form, MAP_FROM | MAP_PRESENT)));
        assert_true(run(maps_enter, elements_list(form, MAP_TO | MAP_PRESENT)));
        assert_true(run(maps_settle, elements_list(form, MAP_PRESENT)));
        assert_true(run(maps_enter, elements_list(form, MAP_TO | MAP_HOLD)));
        assert_true(run(maps_settle, elements_list(form, MAP_HOLD)));
        assert_true(run(maps_enter, holder_list(form, MAP_TO)));
        assert_true(run(maps_enter, elements_list(form, MAP_HOLD)));
        assert_true(run(maps_settle, holder_list(form, MAP_DELETE)));
        assert_null(copy_of(holder_of(form)));
        assert_true(run(maps_settle, list_of(elements, sizeof(elements), MAP_DELETE)));
        assert_non_null(copy_of(elements));
        assert_true(run(maps_settle, elements_list(form, MAP_HOLD)));
        assert_nothing_is_mapped();
    }
}

/* Pointers are attached, not moved: what a kernel or the program has put there stays. */
TEST(test_motion)
{
    double other;
    for (enum form form = 0; form < FORMS; form++) {
        start();
        assert_true(run(maps_enter, list_of(elements, sizeof(elements), MAP_TO)));
        assert_true(run(maps_enter, holder_list(form, MAP_TO)));
        *(double **)copy_of(pointer_of(form)) = &other;
        *(double *)copy_of(elements) = 5;
        assert_true(run(maps_update, elements_list(form, MAP_FROM)));
        assert_int_equal(elements[0], 5);
        assert_ptr_equal(*pointer_of(form), elements);
        assert_true(run(maps_update, elements_list(form, MAP_TO)));
        assert_ptr_equal(*(double **)copy_of(pointer_of(form)), &other);
        assert_true(run(maps_settle, elements_list(form, MAP_FROM | MAP_ALWAYS)));
        assert_ptr_equal(*pointer_of(form), elements);
        assert_true(run(maps_settle, holder_list(form, MAP_DELETE)));
        assert_nothing_is_mapped();
    }
}

/* A part of the structure that was there for pointers alone is new to a clause that names it. */
TEST(test_named_later)
{
    static struct {
        double *p;
        int x;
        double *q;
    } both = {elements, 3, elements};
    struct list list = list_of(&both, sizeof(both), 0);
    add(&list, &both.p, elements, sizeof(elements), MAP_TO | MAP_PTR_AND_OBJ | member_of(0));
    add(&list, &both.q, elements, sizeof(elements), MAP_TO | MAP_PTR_AND_OBJ | member_of(0));
    assert_true(run(maps_enter, list));
    assert_true(run(maps_enter, list_of(&both.x, sizeof(both.x), MAP_TO)));
    assert_int_equal(*(int *)copy_of(&both.x), 3);
    assert_ptr_equal(*(void **)copy_of(&both.q), copy_of(elements));
    *(int *)copy_of(&both.x) = 4;
    assert_true(run(maps_settle, list_of(&both.x, sizeof(both.x), MAP_FROM)));
    assert_int_equal(both.x, 4);
    struct list member = list_of(&both.x, sizeof(both.x), 0);
    add(&member, &both, &both.x, sizeof(both.x), MAP_TO | member_of(0));
    for (int i = 0; i < 4; i++) { /* what comes and goes takes nothing of the pointers' */
        assert_true(run(maps_enter, member));
        assert_true(run(maps_settle, member));
    }
    assert_ptr_equal(*(void **)copy_of(&both.q), copy_of(elements));
    assert_true(run(maps_settle, list));
    assert_null(copy_of(&both));
    assert_true(run(maps_enter, list));
    assert_true(run(maps_settle, list_of(&both, sizeof(both), MAP_DELETE)));
    assert_null(copy_of(&both));
    assert_true(run(maps_settle, list));
    list.types[0] = MAP_TO; /* now it names the structure itself */
    assert_true(run(maps_enter, list));
    list.types[0] = 0;
    assert_true(run(maps_settle, list));
    assert_non_null(copy_of(&both));
    assert_true(run(maps_settle, list_of(&both, sizeof(both), MAP_FROM)));
    assert_null(copy_of(&both));
    assert_nothing_is_mapped();
}

/* exit data map(delete: s.x, s.y) */
TEST(test_members_delete)
{
    struct inner *s = &inners[2];
    struct list list = list_of(&s->x, 2 * sizeof(s->x), 0);
    add(&list, s, &s->x, sizeof(s->x), MAP_DELETE | member_of(0));
    add(&list, s, &s->y, sizeof(s->y), MAP_DELETE | member_of(0));
    for (int i = 0; i < 3; i++)
        assert_true(run(maps_enter, list_of(s, sizeof(*s), MAP_TO)));
    assert_true(run(maps_settle, list));
    assert_nothing_is_mapped();
    assert_true(run(maps_enter, list_of(s, sizeof(*s), MAP_TO)));
    ((struct inner *)copy_of(s))->x = 6;
    list.types[1] = MAP_FROM | member_of(0);
    assert_true(run(maps_settle, list));
    assert_int_equal(s->x, 6);
    assert_nothing_is_mapped();
    for (int i = 0; i < 2; i++)
        assert_true(run(maps_enter, list_of(s, sizeof(*s), MAP_TO)));
    ((struct inner *)copy_of(s))->x = 7; /* it comes back before the other one's delete */
    assert_true(run(maps_settle, list));
    assert_int_equal(s->x, 7);
    assert_nothing_is_mapped();
}

/* flang's map(s%a), where s has more parts. A descriptor's first words are a pointer, the length of
 * an element and a version. Since flang 23 the pointer is attached. */
static struct list component_list(int64_t *s, int64_t type, bool attaches)
{
    struct list list = list_of(s + 1, 48, 0);
    if (attaches) {
        add(&list, s, s + 1, 48, type | member_of(0) | (type & MAP_TO ? MAP_ALWAYS : 0));
        add(&list, s, elements, sizeof(elements), type);
        add(&list, s + 1, elements, 48, MAP_ATTACH);
        return list;
    }
    add(&list, s, s + 1, 48, type | member_of(0) | (type & MAP_TO ? MAP_ALWAYS : 0));
    add(&list, s, s + 1, 8, type | member_of(0));
    add(&list, s + 1, elements, sizeof(elements), type | member_of(0) | MAP_PTR_AND_OBJ);
    return list;
}

/* A delete of s%a leaves the rest of s, which comes back; s%a by itself leaves nothing behind. */
static void check_component(bool attaches)
{
    int64_t s[8] = {1, (intptr_t)elements, 8, 20240719};
    for (int times = 1; times < 3; times++) {
        assert_true(run(maps_enter, list_of(s, sizeof(s), MAP_TO)));
        for (int i = 0; i < times; i++)
            assert_true(run(maps_enter, component_list(s, MAP_TO, attaches)));
        ((int64_t *)copy_of(s))[0] = 1 + times;
        assert_ptr_equal(((void **)copy_of(s))[1], copy_of(elements));
        assert_true(run(maps_settle, component_list(s, MAP_DELETE, attaches)));
        assert_null(copy_of(elements));
        assert_true(run(maps_settle, list_of(s, sizeof(s), MAP_FROM)));
        assert_int_equal(s[0], 1 + times);
        assert_ptr_equal(((void **)s)[1], elements);
        assert_null(copy_of(s));
        for (int i = 0; i < times; i++)
            assert_true(run(maps_enter, component_list(s, MAP_TO, attaches)));
        assert_true(run(maps_settle, component_list(s, MAP_DELETE, attaches)));
        assert_null(copy_of(s + 1));
        assert_null(copy_of(elements));
    }
}

TEST(test_component)
{
    check_component(false);
    check_component(true);
}

/* What clang makes of declare mapper(struct inner v) map(v.x, v.p[0:4]). */
static void inner_mapper(void *handle, void *base, void *begin, int64_t size, int64_t type,
                         void *name)
{
    struct inner *inner = begin;
    int64_t way = type & (MAP_TO | MAP_FROM);
    (void)size;
    __tgt_push_mapper_component(handle, base, inner, 12, 0, name);
    __tgt_push_mapper_component(handle, base, &inner->x, 4, way | member_of(0), name);
    __tgt_push_mapper_component(handle, &inner->p, inner->p, 32,
                                way | MAP_PTR_AND_OBJ | member_of(0), name);
}

static struct list mapped_list(int64_t type)
{
    struct list list = list_of(&inners[1], sizeof(inners[1]), type);
    *(void (**)(void *, void *, void *, int64_t, int64_t, void *)) & list.mappers[0] = inner_mapper;
    return list;
}

/* What is said of a thing with a mapper holds for all that the mapper makes of it. */
TEST(test_mapper)
{
    start();
    assert_false(run(maps_enter, mapped_list(MAP_TO | MAP_PRESENT)));
    assert_true(run(maps_enter, mapped_list(MAP_TO)));
    assert_true(run(maps_enter, mapped_list(MAP_TO | MAP_PRESENT)));
    inners[1].x = 8;
    elements[0] = 9;
    assert_true(run(maps_enter, mapped_list(MAP_TO | MAP_ALWAYS)));
    assert_int_equal(((struct inner *)copy_of(&inners[1]))->x, 8);
    assert_int_equal(*(double *)copy_of(elements), 9);
    assert_true(run(maps_enter, mapped_list(MAP_HOLD)));
    assert_true(run(maps_settle, mapped_list(MAP_DELETE)));
    assert_non_null(copy_of(&inners[1]));
    assert_non_null(copy_of(elements));
    assert_true(run(maps_settle, mapped_list(MAP_HOLD)));
    assert_nothing_is_mapped();
}

TEST_GROUP(set_up, tear_down)
