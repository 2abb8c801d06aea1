/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * depend.c: A tree of addresses, each with its row of groups; the first group of a row has begun.
 * Whoever is entered joins the last group of each of its addresses if their kinds go together,
 * else begins another one, and counts the groups that it still waits for. Whoever leaves takes
 * itself out; where a first group gets empty the next one begins, and those of it whose count
 * comes to zero are handed to the caller.
 */
#include "openmp/task/depend.h"

#include <bsd/sys/tree.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "openmp/site/report.h"

/* Those of one group exclude those of all others. */
enum kind { KIND_READ, KIND_SET, KIND_ALONE };

struct use {
    TAILQ_ENTRY(use) next; /* of the group */
    struct ordered *ordered;
    struct group *group;
};

struct group {
    TAILQ_ENTRY(group) next;        /* of the address */
    TAILQ_HEAD(use_list, use) uses; /* that have not left */
    enum kind kind;
    struct spot *spot;
};

/* An address that some child of this parent depends on; its first group has begun. */
struct spot {
    RB_ENTRY(spot) link;
    uint64_t parent;
    intptr_t address;
    TAILQ_HEAD(group_list, group) groups;
};

static int spot_compare(const struct spot *a, const struct spot *b)
{
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

RB_HEAD(spots, spot);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* not all of them are used */
RB_GENERATE_INTERNAL(spots, spot, link, spot_compare, static)
#pragma GCC diagnostic pop

static struct order {
    pthread_mutex_t lock;
    struct spots spots;
    _Atomic int64_t entered; /* and not left; with dependences */
} order = {.lock = PTHREAD_MUTEX_INITIALIZER, .spots = RB_INITIALIZER(&order.spots)};

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        report(NULL, NULL, "no host memory for the dependences of a target construct");
        report_fatal(NULL);
    }
    return memory;
}

static struct spot *spot_find(uint64_t parent, intptr_t address)
{
    struct spot key = {.parent = parent, .address = address},
                *spot = RB_FIND(spots, &order.spots, &key);
    if (spot)
        return spot;
    spot = take(sizeof(*spot));
    spot->parent = parent;
    spot->address = address;
    TAILQ_INIT(&spot->groups);
    RB_INSERT(spots, &order.spots, spot);
    return spot;
}

static struct group *group_last(struct spot *spot)
{
    return TAILQ_LAST(&spot->groups, group_list);
}

static bool group_has_begun(const struct group *group)
{
    return group == TAILQ_FIRST(&group->spot->groups);
}

static struct group *group_make(struct spot *spot, enum kind kind)
{
    struct group *group = take(sizeof(*group));
    TAILQ_INIT(&group->uses);
    group->kind = kind;
    group->spot = spot;
    TAILQ_INSERT_TAIL(&spot->groups, group, next);
    return group;
}

static void use_join(struct use *use, struct ordered *ordered, struct group *group)
{
    use->ordered = ordered;
    use->group = group;
    TAILQ_INSERT_TAIL(&group->uses, use, next);
    if (!group_has_begun(group))
        ordered->pending++;
}

/* Takes out the group of an address that has begun and that all have left; the next one begins. */
static void spot_advance(struct spot *spot, struct ordered_list *begin)
{
    struct use *use;
    struct group *group = TAILQ_FIRST(&spot->groups);
    TAILQ_REMOVE(&spot->groups, group, next);
    free(group);
    group = TAILQ_FIRST(&spot->groups);
    if (!group) {
        RB_REMOVE(spots, &order.spots, spot);
        free(spot);
        return;
    }
    TAILQ_FOREACH(use, &group->uses, next)
    if (--use->ordered->pending == 0)
        STAILQ_INSERT_TAIL(begin, use->ordered, next);
}

static enum kind kind_of(const struct dependence *dependence)
{
    if (dependence->flags == DEPEND_IN)
        return KIND_READ;
    return dependence->flags == DEPEND_SET ? KIND_SET : KIND_ALONE;
}

/* One that names an address again, in another way, has it alone. Its first use of it is the last
 * one of the last group. */
static void use_repeat(struct use *use, enum kind kind)
{
    struct group *group = use->group;
    struct spot *spot = group->spot;
    if (group->kind == kind || group->kind == KIND_ALONE)
        return;
    if (use == TAILQ_FIRST(&group->uses)) { /* and the only one */
        group->kind = KIND_ALONE;
        return;
    }
    TAILQ_REMOVE(&group->uses, use, next);
    if (!group_has_begun(group))
        use->ordered->pending--;
    use_join(use, use->ordered, group_make(spot, KIND_ALONE));
}

static void use_enter(struct ordered *ordered, uint64_t parent, const struct dependence *dependence)
{
    struct spot *spot = spot_find(parent, dependence->address);
    struct group *group = group_last(spot);
    enum kind kind = kind_of(dependence);
    struct use *last = group ? TAILQ_LAST(&group->uses, use_list) : NULL;
    if (last && last->ordered == ordered) {
        use_repeat(last, kind);
        return;
    }
    if (!group || group->kind != kind || kind == KIND_ALONE)
        group = group_make(spot, kind);
    use_join(&ordered->uses[ordered->use_count++], ordered, group);
}

bool depend_enter(struct ordered *ordered, const struct dependences *dependences)
{
    int32_t total = dependences_total(dependences);
    *ordered = (struct ordered){0};
    if (total <= 0)
        return true;
    ordered->uses = take((size_t)total * sizeof(*ordered->uses));
    pthread_mutex_lock(&order.lock);
    atomic_fetch_add_explicit(&order.entered, 1, memory_order_relaxed);
    for (int32_t i = 0; i < total; i++)
        use_enter(ordered, dependences->parent, dependence_at(dependences, i));
    bool now = ordered->pending == 0;
    pthread_mutex_unlock(&order.lock);
    return now;
}

void depend_leave(struct ordered *ordered, struct ordered_list *begin)
{
    if (!ordered->uses)
        return;
    pthread_mutex_lock(&order.lock);
    for (int32_t i = 0; i < ordered->use_count; i++) {
        struct use *use = &ordered->uses[i];
        struct group *group = use->group;
        TAILQ_REMOVE(&group->uses, use, next);
        if (TAILQ_EMPTY(&group->uses))
            spot_advance(group->spot, begin);
    }
    atomic_fetch_sub_explicit(&order.entered, 1, memory_order_release);
    pthread_mutex_unlock(&order.lock);
    free(ordered->uses);
    ordered->uses = NULL;
}

/* Does it name the address in another way than by `in`? */
static bool address_is_written(const struct dependences *dependences, intptr_t address)
{
    for (int32_t i = 0; i < dependences_total(dependences); i++) {
        const struct dependence *each = dependence_at(dependences, i);
        if (each->address == address && kind_of(each) != KIND_READ)
            return true;
    }
    return false;
}

bool dependences_name(const struct dependences *dependences, uintptr_t begin, uintptr_t end,
                      bool by_in)
{
    for (int32_t i = 0; i < dependences_total(dependences); i++) {
        intptr_t address = dependence_at(dependences, i)->address;
        if ((uintptr_t)address >= begin && (uintptr_t)address < end &&
            address_is_written(dependences, address) != by_in)
            return true;
    }
    return false;
}

/* Its own uses stay as they are until it leaves, so this takes no lock. */
bool depend_names(const struct ordered *ordered, uintptr_t begin, uintptr_t end, bool by_in)
{
    for (int32_t i = 0; ordered->uses && i < ordered->use_count; i++) {
        const struct group *group = ordered->uses[i].group;
        uintptr_t address = (uintptr_t)group->spot->address;
        if (address >= begin && address < end && (group->kind == KIND_READ) == by_in)
            return true;
    }
    return false;
}

bool depend_any(void)
{
    return atomic_load_explicit(&order.entered, memory_order_acquire) > 0;
}
