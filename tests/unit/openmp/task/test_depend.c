/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_depend.c: which constructs may begin, by their dependences: random rows against a
 * model that compares each with all before it; and threads that check that nobody is where others
 * exclude it.
 * Covers: depend.c
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "openmp/task/depend.h"

enum { ADDRESSES = 5, PARENTS = 2, MOST = 6, TASKS = 40, STEPS = 4000, ROWS = 40 };

struct node {
    struct ordered ordered; /* the first */
    bool entered, ready;
    uint64_t order;
    int parent;
    int kinds[ADDRESSES]; /* 0: none */
};

static unsigned seed;

static int draw(int limit)
{
    seed = seed * 1103515245u + 12345u;
    return (int)(seed >> 8 & 0x7fffff) % limit;
}

static const uint8_t flags[] = {DEPEND_IN, DEPEND_INOUT, DEPEND_SET, DEPEND_MUTEX, 2};

/* A random list; `kinds` says what it comes to. */
static int list_make(struct dependence *list, int *kinds)
{
    int count = draw(MOST + 1);
    memset(kinds, 0, ADDRESSES * sizeof(*kinds));
    for (int i = 0; i < count; i++) {
        int address = draw(ADDRESSES), flag = flags[draw(5)], kind = flag;
        if (kind != DEPEND_IN && kind != DEPEND_SET)
            kind = DEPEND_INOUT;
        list[i] = (struct dependence){.address = 100 + address, .bytes = 1, .flags = (uint8_t)flag};
        kinds[address] = kinds[address] && kinds[address] != kind ? DEPEND_INOUT : kind;
    }
    return count;
}

static bool excludes(const struct node *a, const struct node *b)
{
    if (a->parent != b->parent)
        return false;
    for (int i = 0; i < ADDRESSES; i++)
        if (a->kinds[i] && b->kinds[i] &&
            (a->kinds[i] != b->kinds[i] || a->kinds[i] == DEPEND_INOUT))
            return true;
    return false;
}

static void enter(struct node *node, uint64_t order)
{
    struct dependence list[MOST];
    int count = list_make(list, node->kinds), first = draw(count + 1);
    node->parent = draw(PARENTS);
    node->order = order;
    node->entered = true;
    const struct dependences dependences = {.parent = (uint64_t)node->parent,
                                            .count = first,
                                            .alias_free_count = count - first,
                                            .list = list,
                                            .alias_free = list + first};
    for (int i = 0; i < ADDRESSES; i++) {
        uintptr_t at = 100 + (uintptr_t)i;
        assert_int_equal(dependences_name(&dependences, at, at + 1, true),
                         node->kinds[i] == DEPEND_IN);
        assert_int_equal(dependences_name(&dependences, at, at + 1, false),
                         node->kinds[i] != 0 && node->kinds[i] != DEPEND_IN);
    }
    node->ready = depend_enter(&node->ordered, &dependences);
}

static void leave(struct node *node)
{
    struct ordered_list begin = STAILQ_HEAD_INITIALIZER(begin);
    struct ordered *ordered;
    depend_leave(&node->ordered, &begin);
    node->entered = node->ready = false;
    STAILQ_FOREACH(ordered, &begin, next)
    {
        struct node *next = (struct node *)ordered;
        assert_true(next->entered && !next->ready);
        next->ready = true;
    }
}

/* What one that may begin says of each address. */
static void compare_names(const struct node *node)
{
    for (int i = 0; i < ADDRESSES; i++) {
        uintptr_t at = 100 + (uintptr_t)i;
        assert_int_equal(depend_names(&node->ordered, at, at + 1, true),
                         node->kinds[i] == DEPEND_IN);
        assert_int_equal(depend_names(&node->ordered, at, at + 1, false),
                         node->kinds[i] != 0 && node->kinds[i] != DEPEND_IN);
    }
}

static void compare(const struct node *nodes)
{
    for (int i = 0; i < TASKS; i++) {
        bool free = nodes[i].entered;
        for (int j = 0; j < TASKS && free; j++)
            free = !nodes[j].entered || nodes[j].order >= nodes[i].order ||
                   !excludes(&nodes[i], &nodes[j]);
        assert_int_equal(nodes[i].ready, free);
        if (free)
            compare_names(&nodes[i]);
    }
}

TEST(test_random_rows)
{
    static struct node nodes[TASKS];
    for (int row = 0; row < ROWS; row++) {
        int full = 1 + draw(TASKS);
        seed = (unsigned)row;
        for (uint64_t step = 0; step < STEPS; step++) {
            struct node *node = &nodes[draw(full)];
            if (node->ready)
                leave(node);
            else if (!node->entered)
                enter(node, step);
            compare(nodes);
        }
        for (int i = 0; i < 2 * TASKS; i++)
            for (int j = 0; j < TASKS; j++)
                if (nodes[j].ready)
                    leave(&nodes[j]);
        for (int i = 0; i < TASKS; i++)
            assert_false(nodes[i].entered);
        assert_false(depend_any());
    }
}

/* One address, many readers, and one that writes between them. */
TEST(test_readers_together)
{
    const struct dependence in = {.address = 8, .flags = DEPEND_IN};
    const struct dependence out = {.address = 8, .flags = DEPEND_INOUT};
    const struct dependences read = {.count = 1, .list = &in}, write = {.count = 1, .list = &out};
    struct ordered_list begin = STAILQ_HEAD_INITIALIZER(begin);
    struct ordered first, second, writer, last;
    assert_true(depend_enter(&first, &read));
    assert_true(depend_enter(&second, &read));
    assert_false(depend_enter(&writer, &write));
    assert_false(depend_enter(&last, &read));
    depend_leave(&second, &begin);
    assert_true(STAILQ_EMPTY(&begin));
    depend_leave(&first, &begin);
    assert_ptr_equal(STAILQ_FIRST(&begin), &writer);
    STAILQ_INIT(&begin);
    depend_leave(&writer, &begin);
    assert_ptr_equal(STAILQ_FIRST(&begin), &last);
    STAILQ_INIT(&begin);
    depend_leave(&last, &begin);
    assert_true(STAILQ_EMPTY(&begin));
    assert_false(depend_any());
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 3000 };

struct guest {
    struct ordered ordered; /* the first */
    atomic_bool begun;
};

static atomic_int writers[ADDRESSES], readers[ADDRESSES], wrong;

static void begin_all(struct ordered_list *list)
{
    struct ordered *ordered;
    while ((ordered = STAILQ_FIRST(list))) {
        STAILQ_REMOVE_HEAD(list, next);
        atomic_store(&((struct guest *)ordered)->begun, true);
    }
}

static void *visit(void *context)
{
    unsigned own = (unsigned)(uintptr_t)context;
    for (int round = 0; round < ROUNDS; round++) {
        struct ordered_list begin = STAILQ_HEAD_INITIALIZER(begin);
        struct guest guest;
        own = own * 1103515245u + 12345u;
        int place = (int)(own >> 16 & 0xff) % ADDRESSES;
        bool writes = own >> 24 & 1;
        const struct dependence use = {.address = place,
                                       .flags = writes ? DEPEND_INOUT : DEPEND_IN};
        atomic_init(&guest.begun, false);
        if (depend_enter(&guest.ordered, &(struct dependences){.count = 1, .list = &use}))
            atomic_store(&guest.begun, true);
        while (!atomic_load(&guest.begun))
            sched_yield();
        atomic_int *mine = writes ? &writers[place] : &readers[place];
        atomic_fetch_add(mine, 1);
        if (atomic_load(&writers[place]) > (writes ? 1 : 0) ||
            (writes && atomic_load(&readers[place]) > 0))
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_sub(mine, 1);
        depend_leave(&guest.ordered, &begin);
        begin_all(&begin);
    }
    return NULL;
}

TEST(test_threads)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, visit, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_false(depend_any());
}
