/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_maps.c: what maps mean, and the arguments of regions, on devices that are this
 * process (tests/unit/fake/local_omprma.c) and that do nothing before somebody waits. Lists of maps
 * are written as clang writes them; kernels are functions of this file.
 * Covers: enter.c leave.c update.c arguments.c api_memory.c copy/copy.c validate.c
 * openmp/device/devices.c site.c interop.c mapper.c map/moves.c work.c device/info.c
 * site/report.c location.c
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "openmp/abi/exports.h"
#include "openmp/entry/region.h"
#include "tests/unit/openmp/maps_fixture.h"

TEST(test_counts)
{
    int x[4] = {1, 2, 3, 4};
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_TO)));
    int *copy = copy_of(x);
    assert_memory_equal(copy, x, sizeof(x));
    x[0] = 7;
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_TO)));
    assert_int_equal(copy[0], 1); /* it was there already */
    assert_true(run(maps_enter, list_of(&x[1], 8, MAP_TO | MAP_ALWAYS)));
    assert_int_equal(copy[0], 1);
    copy[3] = 9;
    assert_true(run(maps_settle, list_of(&x[1], 8, MAP_FROM)));
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_FROM)));
    assert_int_equal(x[3], 4);
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_FROM)));
    assert_int_equal(x[3], 9);
    assert_null(copy_of(x));
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_FROM))); /* nothing is there */
}

/* Parts in any order, and the whole behind some of them: there is one range, counted once. */
TEST(test_whole_behind_many_parts)
{
    enum { PARTS = 200, BEHIND = 150 };
    static double data[PARTS];
    void *begins[PARTS];
    int64_t sizes[PARTS], types[PARTS];
    for (int i = 0; i < PARTS; i++) {
        data[i] = i;
        begins[i] = &data[i * 7 % PARTS];
        sizes[i] = sizeof(double);
        types[i] = MAP_TO;
    }
    begins[BEHIND] = data;
    sizes[BEHIND] = sizeof(data);
    struct maps maps = maps_make(PARTS, begins, begins, sizes, types, NULL, NULL);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    pthread_mutex_lock(&device->space->lock);
    assert_true(maps_enter(work, &maps));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_finish(work));
    assert_memory_equal(copy_of(data), data, sizeof(data));
    assert_true(run(maps_settle, list_of(data, sizeof(data), 0)));
    assert_null(copy_of(data));
}

TEST(test_delete_and_hold)
{
    int x = 1;
    assert_true(run(maps_enter, list_of(&x, 4, MAP_TO)));
    assert_true(run(maps_enter, list_of(&x, 4, MAP_TO)));
    assert_true(run(maps_enter, list_of(&x, 4, MAP_HOLD)));
    assert_true(run(maps_settle, list_of(&x, 4, MAP_DELETE)));
    assert_non_null(copy_of(&x));
    assert_true(run(maps_settle, list_of(&x, 4, MAP_HOLD)));
    assert_null(copy_of(&x));
}

TEST(test_wrong_lists)
{
    int x[4] = {0};
    assert_false(run(maps_enter, list_of(x, sizeof(x), MAP_PRESENT)));
    assert_true(run(maps_enter, list_of(x, 8, MAP_TO)));
    assert_false(run(maps_enter, list_of(x, sizeof(x), MAP_TO)));
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_TO | MAP_IMPLICIT)));
    assert_true(run(maps_settle, list_of(x, 8, MAP_DELETE)));
    assert_null(copy_of(x));
    assert_false(run(maps_settle, list_of(x, 8, MAP_PRESENT)));
    assert_false(run(maps_update, list_of(x, 8, MAP_PRESENT | MAP_TO)));
    assert_true(run(maps_update, list_of(x, 8, MAP_TO)));
}

/* What no compiler makes is reported, and nothing is done. */
TEST(test_damaged_lists)
{
    int x[4] = {0};
    void *pointer = x;
    struct list shaped = list_of(x, 4, MAP_TO);
    struct list cut = list_of(&pointer, 4, MAP_TARGET_PARAM | MAP_PRIVATE | MAP_ATTACH);
    shaped.sizes[0] = 65;
    shaped.types[0] |= MAP_NON_CONTIG;
    assert_true(is_damaged(list_of((char *)UINTPTR_MAX - 2, 4, MAP_TO)));
    assert_true(is_damaged(list_of((char *)UINTPTR_MAX - 2, 4, MAP_TO | MAP_PRIVATE)));
    assert_true(is_damaged(list_of(x, SIZE_MAX / 2, MAP_TO | (int64_t)(UINT64_C(9) << 48))));
    assert_true(is_damaged(list_of(x, 4, MAP_TO | member_of(1))));
    assert_true(is_damaged(shaped));
    assert_true(is_damaged(cut));
    assert_false(is_damaged(list_of(x, sizeof(x), MAP_TO)));
}

/* Dimensions that end beyond all memory, or do not get on. */
TEST(test_damaged_dimensions)
{
    char x[64];
    struct dimension dimensions[] = {{0, 2, 16}, {0, 4, 1}};
    struct list list = list_of(x, 2, MAP_TO | MAP_NON_CONTIG);
    list.begins[0] = dimensions;
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_TO)));
    assert_true(run(maps_update, list));
    dimensions[0].stride = 0;
    assert_false(run(maps_update, list));
    dimensions[0].stride = UINT64_MAX / 2;
    assert_false(run(maps_update, list));
    dimensions[0] = (struct dimension){UINT64_MAX / 2, 2, 16};
    assert_false(run(maps_update, list));
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_DELETE)));
}

TEST(test_impossible_ranges)
{
    static char x[64];
    size_t volume[] = {2, 2}, none[] = {0, 0}, whole[] = {2, 2};
    void *block = omp_target_alloc(64, 0);
    assert_int_equal(omp_target_associate_ptr(x, block, SIZE_MAX, 0, 0), ABI_FAIL);
    assert_int_equal(omp_target_memcpy_rect(block, x, 1, 2, volume, none, none, whole, whole, 0,
                                            omp_get_initial_device()),
                     0);
    none[0] = SIZE_MAX - 1;
    assert_int_not_equal(omp_target_memcpy_rect(block, x, 1, 2, volume, none, none, whole, whole, 0,
                                                omp_get_initial_device()),
                         0);
    whole[1] = SIZE_MAX / 2;
    none[0] = 0;
    assert_int_not_equal(omp_target_memcpy_rect(block, x, 8, 2, volume, none, none, whole, whole, 0,
                                                omp_get_initial_device()),
                         0);
    omp_target_free(block, 0);
}

TEST(test_alignment)
{
    _Alignas(16) char x[64];
    for (size_t offset = 0; offset < 16; offset++) {
        assert_true(run(maps_enter, list_of(x + offset, 20, MAP_TO)));
        assert_int_equal((uintptr_t)copy_of(x + offset) % 16, offset);
        assert_true(run(maps_settle, list_of(x + offset, 20, 0)));
    }
}

struct holder {
    int tag;
    double *data;
};

/* A structure with a pointer, as clang up to 21 maps it. */
static struct list holder_list(struct holder *holder, size_t bytes, int64_t type)
{
    struct list list = list_of(holder, sizeof(*holder), 0);
    add(&list, holder, holder, sizeof(*holder), type | member_of(0));
    add(&list, &holder->data, holder->data, bytes, type | member_of(0) | MAP_PTR_AND_OBJ);
    return list;
}

TEST(test_structure)
{
    double data[4] = {1, 2, 3, 4};
    struct holder holder = {5, data};
    assert_true(run(maps_enter, holder_list(&holder, sizeof(data), MAP_TO)));
    struct holder *copy = copy_of(&holder);
    assert_int_equal(copy->tag, 5);
    assert_ptr_equal(copy->data, copy_of(data));
    copy->tag = 6;
    copy->data[2] = 30;
    holder.tag = 1;
    assert_true(run(maps_update, list_of(&holder, sizeof(holder), MAP_TO)));
    assert_int_equal(copy->tag, 1);
    assert_ptr_equal(copy->data, copy_of(data)); /* an update leaves it alone */
    copy->tag = 6;
    assert_true(run(maps_update, list_of(&holder, sizeof(holder), MAP_FROM)));
    assert_int_equal(holder.tag, 6);
    assert_ptr_equal(holder.data, data);
    assert_true(run(maps_settle, holder_list(&holder, sizeof(data), MAP_FROM)));
    assert_int_equal(data[2], 30);
    assert_ptr_equal(holder.data, data);
    assert_null(copy_of(&holder));
    assert_null(copy_of(data));
}

struct pair {
    double tag, *data, between, *other, last;
};

/* As clang up to 21 maps what a pointer in a structure points to. */
static struct list pointee_list(struct pair *pair, double **pointer, size_t bytes, int64_t type)
{
    struct list list = {.count = 0};
    add(&list, pair, pointer, sizeof(*pointer), 0);
    add(&list, pointer, *pointer, bytes, type | member_of(0) | MAP_PTR_AND_OBJ);
    return list;
}

/* What is there only for pointers in it becomes a part of what is named around it. */
TEST(test_around_pointers)
{
    double data[4] = {1, 2, 3, 4}, other[2] = {5, 6};
    const int64_t kinds[] = {MAP_TO, 0, MAP_TO | MAP_IMPLICIT};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct pair pair = {1, data, 2, other, 3};
        assert_true(run(maps_enter, pointee_list(&pair, &pair.data, sizeof(data), MAP_TO)));
        assert_true(run(maps_enter, pointee_list(&pair, &pair.other, sizeof(other), MAP_TO)));
        assert_null(copy_of(&pair));
        assert_true(run(maps_enter, list_of(&pair, sizeof(pair), kinds[i])));
        struct pair *copy = copy_of(&pair);
        assert_non_null(copy);
        assert_ptr_equal(copy->data, copy_of(data));
        assert_ptr_equal(copy->other, copy_of(other));
        copy->last = 7;
        assert_true(run(maps_settle, list_of(&pair, sizeof(pair), MAP_FROM)));
        assert_int_equal(pair.last, 7);
        assert_ptr_equal(pair.data, data);
        assert_null(copy_of(&pair.data)); /* it has ended for all of it */
        assert_true(run(maps_settle, pointee_list(&pair, &pair.data, sizeof(data), MAP_FROM)));
        assert_true(run(maps_settle, pointee_list(&pair, &pair.other, sizeof(other), MAP_FROM)));
        assert_null(copy_of(data));
        assert_null(copy_of(other));
    }
    struct pair pair = {1, data, 2, other, 3}; /* a clause's own part is no way */
    assert_true(run(maps_enter, list_of(&pair.data, sizeof(pair.data), MAP_TO)));
    assert_false(run(maps_enter, list_of(&pair, sizeof(pair), MAP_TO)));
    assert_true(run(maps_settle, list_of(&pair.data, sizeof(pair.data), MAP_DELETE)));
}

/* While a structure comes back, other threads may read its pointers. Of many pointers that holds
 * only when the construct has ended. */
TEST(test_pointers_come_back)
{
    enum { MANY = 70 };
    static struct holder holders[MANY];
    double data[4] = {1, 2, 3, 4};
    assert_true(run(maps_enter, list_of(holders, sizeof(holders), MAP_TO)));
    for (int i = 0; i < MANY; i++) {
        struct list list = {.count = 0};
        holders[i].data = data;
        add(&list, &holders[i].data, data, sizeof(data), MAP_TO | MAP_PTR_AND_OBJ);
        assert_true(run(maps_enter, list));
    }
    struct holder *copy = copy_of(holders);
    for (int i = 0; i < MANY; i++) {
        assert_ptr_equal(copy[i].data, copy_of(data));
        copy[i].tag = i;
    }

    struct list few = list_of(&holders[3], 4 * sizeof(*holders), MAP_FROM);
    struct maps maps = maps_of(&few);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    pthread_mutex_lock(&device->space->lock);
    assert_true(maps_update(work, &maps));
    pthread_mutex_unlock(&device->space->lock);
    assert_int_equal(omprma_queue_synchronize(work->queue), OMPRMA_OK);
    for (int i = 3; i < 7; i++) {
        assert_int_equal(holders[i].tag, i);
        assert_ptr_equal(holders[i].data, data);
    }
    assert_true(work_finish(work));

    assert_true(run(maps_update, list_of(holders, sizeof(holders), MAP_FROM)));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(holders[i].tag, i);
        assert_ptr_equal(holders[i].data, data);
    }
    assert_true(run(maps_settle, list_of(data, sizeof(data), MAP_DELETE)));
    assert_true(run(maps_settle, list_of(holders, sizeof(holders), MAP_DELETE)));
    assert_null(copy_of(holders));
}

/* The same as clang 22 maps it: the pointer is attached by an item of its own. */
TEST(test_attach)
{
    double data[4] = {1, 2, 3, 4};
    struct holder holder = {5, data};
    struct list list = list_of(&holder, sizeof(holder), MAP_TO);
    add(&list, &holder.data, data, sizeof(void *), MAP_ATTACH);
    add(&list, data, data, sizeof(data), MAP_TO);
    assert_true(run(maps_enter, list));
    struct holder *copy = copy_of(&holder);
    assert_ptr_equal(copy->data, copy_of(data));
    copy->data = NULL;
    assert_true(run(maps_enter, list)); /* nothing is new: not attached again */
    assert_null(copy->data);
    assert_true(run(maps_settle, list));
    assert_true(run(maps_settle, list));
    assert_null(copy_of(&holder));
    assert_null(copy_of(data));
    assert_ptr_equal(holder.data, data);
}

/* What clang makes of declare mapper(struct holder h) map(h, h.data[0:4]). */
static void holder_mapper(void *handle, void *base, void *begin, int64_t size, int64_t type,
                          void *name)
{
    struct holder *holder = begin;
    int64_t parent = (int64_t)((uint64_t)__tgt_mapper_num_components(handle) << 48);
    int64_t way = type & (MAP_TO | MAP_FROM);
    __tgt_push_mapper_component(handle, base, begin, size, parent, name);
    __tgt_push_mapper_component(handle, base, begin, size, way | (member_of(0) + parent), name);
    __tgt_push_mapper_component(handle, &holder->data, holder->data, 32,
                                way | (member_of(0) + parent) | MAP_PTR_AND_OBJ, name);
}

/* LLVM 14 to 16 keep a reference after the first use. */
TEST(test_mapper_twice)
{
    double data[4] = {1, 2, 3, 4};
    struct holder holder = {5, data};
    for (int round = 0; round < 2; round++) {
        struct list list = list_of(&holder, sizeof(holder), MAP_TO | MAP_FROM);
        *(void (**)(void *, void *, void *, int64_t, int64_t, void *)) & list.mappers[0] =
            holder_mapper;
        assert_true(run(maps_enter, list));
        struct holder *copy = copy_of(&holder);
        assert_ptr_equal(copy->data, copy_of(data));
        copy->data[1] += 10;
        assert_true(run(maps_settle, list));
        assert_int_equal(data[1], 12 + 10 * round);
        assert_null(copy_of(&holder));
        assert_null(copy_of(data));
        assert_ptr_equal(holder.data, data);
    }
}

TEST(test_update_parts)
{
    int x[48], *copy; /* 6 rows of 8 */
    for (int i = 0; i < 48; i++)
        x[i] = i;
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_TO)));
    copy = copy_of(x);
    for (int i = 0; i < 48; i++)
        copy[i] = -i;
    /* x[1:2][3:2:4], rows of 32 bytes, then elements with a step of four */
    struct dimension parts[2][3] = {{{1, 2, 32}, {3, 2, 16}, {0, 1, 4}},
                                    {{32, 2, 32}, {12, 2, 16}, {0, 4, 1}}}; /* since clang 23 */
    for (int form = 0; form < 2; form++) {
        struct list list = {.count = 0};
        add(&list, x, parts[form], 3, MAP_FROM | MAP_NON_CONTIG);
        assert_true(run(maps_update, list));
        for (int i = 0; i < 48; i++) {
            bool inside = i / 8 >= 1 && i / 8 < 3 && (i % 8 == 3 || i % 8 == 7);
            assert_int_equal(x[i], inside ? -i : i);
            x[i] = i;
        }
    }
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_DELETE)));
}

/* clang 22 counts the offsets of a member from the structure's begin and leaves out the member's
 * own; up to 19 it passes no dimensions at all. */
TEST(test_update_parts_of_member)
{
    struct {
        int before, row[6][8];
    } x, *copy;
    memset(&x, 0, sizeof(x));
    assert_true(run(maps_enter, list_of(&x, sizeof(x), MAP_TO)));
    copy = copy_of(&x);
    memset(copy, 1, sizeof(*copy));
    struct dimension parts[] = {{1, 2, 32}, {3, 4, 4}, {0, 1, 4}};
    struct list list = {.count = 0};
    add(&list, &x, &x.row[1][3], 4, 0);
    add(&list, &x, parts, 3, MAP_FROM | MAP_NON_CONTIG | member_of(0));
    assert_true(run(maps_update, list));
    assert_int_equal(x.before, 0);
    for (int i = 0; i < 48; i++) {
        bool inside = i / 8 >= 1 && i / 8 < 3 && i % 8 >= 3 && i % 8 < 7;
        assert_int_equal(x.row[i / 8][i % 8] != 0, inside);
    }
    list.sizes[1] = 0;
    assert_false(run(maps_update, list));
    assert_true(run(maps_settle, list_of(&x, sizeof(x), MAP_DELETE)));
}

/* A handle may be the caller's own std::vector of LLVM's components: three pointers. */
TEST(test_mapper_handle)
{
    struct {
        void *base, *begin;
        int64_t size, type;
        void *name;
    } * handle[3] = {NULL};
    char x[2];
    for (int i = 0; i < 20; i++)
        __tgt_push_mapper_component(handle, x, x + 1, 1, i, NULL);
    assert_int_equal(__tgt_mapper_num_components(handle), 20);
    assert_int_equal(handle[1] - handle[0], 20);
    assert_ptr_equal(handle[0][19].begin, x + 1);
    assert_int_equal(handle[0][19].type, 19);
    free(handle[0]);
}

/* What is associated and held by a map stays. */
TEST(test_disassociate)
{
    static char x[16], there[16];
    assert_int_equal(omp_target_associate_ptr(x, there, sizeof(x), 0, 0), 0);
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_HOLD)));
    assert_int_not_equal(omp_target_disassociate_ptr(x, 0), 0);
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_HOLD)));
    assert_int_not_equal(omp_target_disassociate_ptr(x + 1, 0), 0);
    assert_int_equal(omp_target_disassociate_ptr(x, 0), 0);
    assert_null(copy_of(x));
}

TEST(test_interop)
{
    struct interop_context context = {.thread = 0};
    struct interop *interop = __tgt_interop_get(NULL, 1, 0, 0, NULL, &context, NULL);
    int result = 1;
    assert_non_null(interop);
    assert_int_equal(omp_get_interop_int(interop, -5, &result), 0); /* the device's number */
    assert_int_equal(result, 0);
    assert_string_equal(omp_get_interop_str(interop, -4, &result), "omprma");
    omp_get_interop_int(interop, -4, &result);
    assert_string_equal(omp_get_interop_rc_desc(interop, result),
                        "property is a string, not an integer or pointer");
    assert_int_equal(__tgt_interop_use60(NULL, interop, &context, NULL), ABI_OK);
    assert_int_equal(__tgt_interop_release(NULL, interop, &context, NULL), ABI_OK);
    __tgt_interop_init(NULL, 0, &interop, 1, 0, 0, NULL, 0);
    assert_non_null(interop);
    __tgt_interop_destroy(NULL, 0, &interop, 0, 0, NULL, 0);
    assert_null(interop);
}

TEST(test_use_device_address)
{
    char x[64];
    assert_true(run(maps_enter, list_of(x, sizeof(x), MAP_TO)));
    struct list list = {.count = 0};
    add(&list, x, x + 8, 0, MAP_RETURN_PARAM);
    struct maps maps = maps_of(&list);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    pthread_mutex_lock(&device->space->lock);
    assert_true(maps_enter(work, &maps));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_finish(work));
    assert_ptr_equal(list.bases[0], copy_of(x));
    assert_true(run(maps_settle, list_of(x, sizeof(x), MAP_DELETE)));
}

/* What is not mapped stays the host's, or is NULL where the clause says so: at the item's begin. */
TEST(test_use_device_address_of_what_is_not_mapped)
{
    char x[64];
    struct list list = {.count = 0};
    add(&list, x, x + 8, 0, MAP_RETURN_PARAM);
    add(&list, x, x, 0, MAP_RETURN_PARAM | MAP_NULLIFY);
    add(&list, x, x + 8, 0, MAP_RETURN_PARAM | MAP_NULLIFY);
    struct maps maps = maps_of(&list);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    pthread_mutex_lock(&device->space->lock);
    assert_true(maps_enter(work, &maps));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_finish(work));
    assert_ptr_equal(list.bases[0], x);
    assert_null(list.bases[1]);
    assert_int_equal((intptr_t)list.bases[2], -8);
}

/* ---- arguments ---- */

/* Private variables share a block, keep their alignment, and large ones are not copied on the way.
 */
TEST(test_arguments)
{
    static char large[100000], small[24] = "small";
    _Alignas(16) double aligned[2] = {1, 2};
    int mapped[2] = {3, 4};
    memset(large, 'x', sizeof(large));
    struct list list = {.count = 0};
    const int64_t first = MAP_TARGET_PARAM | MAP_PRIVATE | MAP_TO;
    add(&list, (void *)42, (void *)42, 8, MAP_TARGET_PARAM | MAP_LITERAL);
    add(&list, large, large, sizeof(large), first);
    add(&list, small, small + 1, sizeof(small) - 1, first);
    add(&list, aligned, aligned, sizeof(aligned), first);
    add(&list, mapped, mapped, sizeof(mapped), MAP_TARGET_PARAM | MAP_TO);
    add(&list, small, small + 2, 0, MAP_TARGET_PARAM); /* is not mapped: it keeps its value */
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    arguments_of(list, 1, work);
    assert_int_equal(built.count, 7);
    assert_int_equal(built.words[0], 0);
    assert_int_equal(built.words[1], 42);
    assert_int_equal(built.words[4] % 16, 0);
    assert_int_equal(built.words[5], (uintptr_t)copy_of(mapped));
    assert_int_equal(built.words[6], (uintptr_t)small);
    omprma_queue_flush(work->queue);
    bool done = false;
    omprma_queue_query(work->queue, &done);
    assert_true(done);
    assert_memory_equal((void *)built.words[2], large, sizeof(large));
    assert_memory_equal((char *)built.words[3] + 1, small + 1, sizeof(small) - 1);
    assert_memory_equal((void *)built.words[4], aligned, sizeof(aligned));
    arguments_clear(&built);
    assert_true(work_finish(work));
    assert_true(run(maps_settle, list_of(mapped, sizeof(mapped), 0)));
}

TEST(test_many_arguments)
{
    enum { MANY = 1000 };
    static void *values[MANY];
    static int64_t sizes[MANY], types[MANY];
    for (int i = 0; i < MANY; i++) {
        values[i] = (void *)(uintptr_t)i;
        types[i] = MAP_TARGET_PARAM | MAP_LITERAL;
    }
    const struct maps maps = maps_make(MANY, values, values, sizes, types, NULL, NULL);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    assert_true(arguments_build(work, &maps, 0, &built));
    assert_int_equal(built.count, MANY);
    assert_int_equal(built.words[MANY - 1], MANY - 1);
    arguments_clear(&built);
    assert_true(work_finish(work));
}

/* A lambda's copy on the device refers to the device's data. */
TEST(test_lambda)
{
    int x = 3;
    struct {
        int *reference;
    } lambda = {&x};
    struct list list = {.count = 0};
    add(&list, &lambda, &lambda, sizeof(lambda), MAP_TARGET_PARAM | MAP_PRIVATE | MAP_TO);
    add(&list, &lambda.reference, &x, sizeof(x),
        member_of(0) | MAP_PTR_AND_OBJ | MAP_LITERAL | MAP_IMPLICIT);
    assert_true(run(maps_enter, list_of(&x, sizeof(x), MAP_TO)));
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    arguments_of(list, 0, work);
    assert_int_equal(built.count, 1);
    bool done;
    omprma_queue_query(work->queue, &done);
    assert_ptr_equal(*(void **)built.words[0], copy_of(&x));
    arguments_clear(&built);
    assert_true(work_finish(work));
    assert_true(run(maps_settle, list_of(&x, sizeof(x), MAP_DELETE)));
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 200 };
/* Devices that are this process count, see tests/unit/fake/local_omprma.c. */
extern int local_omprma_blocks, local_omprma_blocks_most, local_omprma_submits;

/* Maps the places in this order, and unmaps them. */
static bool come_and_go(const int places[], int count, uint64_t values[])
{
    struct list list = {.count = 0};
    for (int i = 0; i < count; i++)
        add(&list, &values[places[i]], &values[places[i]], sizeof(values[0]), MAP_TO | MAP_FROM);
    return run(maps_enter, list) && run(maps_settle, list);
}

/* Places that were kept for variables that come no more are no reason to fail. */
TEST(test_full_memory)
{
    enum { MANY = 3000 };
    static uint64_t values[MANY];
    int place = 0;
    assert_true(come_and_go(&place, 1, values));
    local_omprma_blocks_most = local_omprma_blocks;
    for (place = 1; place < MANY; place++)
        assert_true(come_and_go(&place, 1, values));
    void *other = omp_target_alloc(100, 0);
    assert_non_null(other);
    assert_null(omp_target_alloc(100, 0)); /* now it is full */
    omp_target_free(other, 0);
    local_omprma_blocks_most = 0;
}

/* Where the same variables are mapped in changing ways, what is kept of one must not keep another's
 * from travelling together. */
TEST(test_changing_lists)
{
    enum { TIMES = 2000, VALUES = 6, MOST_MORE = 100 };
    static const int lists[][VALUES] = {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 1, 5, 0}};
    static const int counts[] = {6, 6, 4};
    static uint64_t values[VALUES];
    int before = local_omprma_submits;
    for (int round = 0; round < TIMES; round++)
        assert_true(come_and_go(lists[round % 3], counts[round % 3], values));
    assert_in_range(local_omprma_submits - before, TIMES, TIMES + MOST_MORE);
    before = local_omprma_submits; /* and one that stays the same keeps its places some time */
    const struct mapped *kept = NULL;
    for (int round = 0; round < 1 << 17 && !kept; round++) {
        assert_true(come_and_go(lists[0], VALUES, values));
        kept = TAILQ_FIRST(&device->space->mapping.vacant);
    }
    assert_non_null(kept);
}

static int shared[64];

static void add_one(int *copy)
{
    __atomic_fetch_add(&copy[0], 1, __ATOMIC_RELAXED);
}

/* A region that counts in `shared`, issued but not waited for. */
static void issue_region(struct work *work, bool (*step)(struct work *, const struct maps *))
{
    struct list list = list_of(shared, sizeof(shared), MAP_TO | MAP_FROM);
    struct maps maps = maps_of(&list);
    pthread_mutex_lock(&device->space->lock);
    assert_true(step(work, &maps));
    pthread_mutex_unlock(&device->space->lock);
    const uint64_t word = (uintptr_t)copy_of(shared);
    if (step == maps_enter)
        assert_true(work_launch(work, (uintptr_t)add_one, NULL, &word, 1));
}

/* Who leaves last brings back also what others, that left before, are still computing. */
TEST(test_leaving_last)
{
    shared[0] = 0;
    assert_true(run(maps_enter, list_of(shared, sizeof(shared), MAP_TO)));
    struct work *first = work_begin(device, NULL, WORK_WAITED),
                *last = work_begin(device, NULL, WORK_WAITED);
    issue_region(first, maps_enter);
    issue_region(last, maps_enter);
    assert_true(run(maps_settle, list_of(shared, sizeof(shared), 0)));
    issue_region(first, maps_settle);
    issue_region(last, maps_settle);
    assert_true(work_finish(last));
    assert_int_equal(shared[0], 2);
    assert_non_null(copy_of(shared)); /* the other one still uses it */
    assert_true(work_finish(first));
    assert_null(copy_of(shared));
}

/* All map the same array and their own, and count in it. */
static void *map_and_unmap(void *context)
{
    int own[16] = {0};
    (void)context;
    for (int round = 0; round < ROUNDS; round++) {
        struct list list = list_of(own, sizeof(own), MAP_TO | MAP_FROM | MAP_TARGET_PARAM);
        add(&list, shared, shared, sizeof(shared), MAP_TO | MAP_FROM | MAP_TARGET_PARAM);
        struct maps maps = maps_of(&list);
        struct arguments arguments;
        struct work *work = work_begin(device, NULL, WORK_WAITED);
        pthread_mutex_lock(&device->space->lock);
        maps_enter(work, &maps);
        arguments_build(work, &maps, 0, &arguments);
        pthread_mutex_unlock(&device->space->lock);
        work_launch(work, (uintptr_t)add_one, NULL, arguments.words, 1);
        work_launch(work, (uintptr_t)add_one, NULL, arguments.words + 1, 1);
        arguments_clear(&arguments);
        pthread_mutex_lock(&device->space->lock);
        maps_settle(work, &maps);
        pthread_mutex_unlock(&device->space->lock);
        work_finish(work);
    }
    return (void *)(uintptr_t)(own[0] == ROUNDS);
}

TEST(test_threads)
{
    pthread_t threads[THREADS];
    size_t before = device->space->mapping.count;
    shared[0] = 0;
    assert_true(run(maps_enter, list_of(shared, sizeof(shared), MAP_TO)));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *right;
        pthread_join(threads[i], &right);
        assert_non_null(right);
    }
    assert_true(run(maps_settle, list_of(shared, sizeof(shared), MAP_FROM)));
    assert_int_equal(shared[0], THREADS * ROUNDS);
    assert_int_equal(device->space->mapping.count, before);
}

/* Without somebody who keeps it mapped the array comes and goes. Whoever leaves last brings back
 * what all others have done, also those that left before and are still computing. */
TEST(test_threads_come_and_go)
{
    pthread_t threads[THREADS];
    shared[0] = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *right;
        pthread_join(threads[i], &right);
        assert_non_null(right);
    }
    assert_int_equal(shared[0], THREADS * ROUNDS);
    assert_null(copy_of(shared));
}

TEST_GROUP(set_up, tear_down)
