/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copies.c: what is brought is a work of its own on the site that has it, in a queue of its own, as
 * an exchange is its source's; the work that needs it waits for that one's end, and cleans up after
 * it.
 */
#include "openmp/place/copies.h"

#include "base/clock.h"
#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/device/spare.h"
#include "openmp/map/maps.h"
#include "openmp/place/links.h"

/* The work that has pinned it brings a copy to the device. */
static bool is_brought_to(const struct pinned *pinned, const struct device *device)
{
    return pinned->brings && pinned->work->device == device;
}

/* Each site that has it gives it to one after the other, also one to which it comes only now, when
 * it has come. */
static void sources_look(const struct mapped *mapped, int64_t *free_ns)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->brings && each->bringer) {
        int64_t *from = &free_ns[each->bringer->site->index], *to = &free_ns[each->site];
        *from = *from > each->until_ns ? *from : each->until_ns;
        *to = *to > each->until_ns ? *to : each->until_ns;
    }
}

/* From which site would it be here first? So what many read is handed on, as in a tree. *until_ns:
 * when that is expected. */
static struct device *source_of(const struct mapped *mapped, int to, int64_t *until_ns)
{
    int64_t free_ns[SITES_MOST] = {0}, now = clock_ns();
    struct device *source = NULL;
    sources_look(mapped, free_ns);
    for (uint64_t present = mapped_present(mapped); present; present &= present - 1) {
        int from = __builtin_ctzll(present);
        int64_t until = (free_ns[from] > now ? free_ns[from] : now) +
                        link_ns(from, to, mapped->end - mapped->begin);
        if (source && until >= *until_ns)
            continue;
        source = device_of_site(from);
        *until_ns = until;
    }
    return source;
}

static bool range_move(struct work *work, enum move_kind kind, struct mapped *mapped)
{
    const struct move move = move_of_range(kind, mapped);
    return move_issue(work, &move);
}

/* From the program's memory, which has what all sites have lost. */
static bool range_give(struct work *work, struct mapped *mapped)
{
    mapped_recover(mapped);
    mapped->settled = 0;
    mapped->present = site_bit(work->site);
    return range_move(work, MOVE_TO, mapped);
}

/* Nobody has it. Where it is there only for works under way, they go, and it with them; then it is
 * made anew. One that can be computed again will be when the construct comes again. */
static bool range_miss(struct work *work, const struct mapped *mapped)
{
    bool goes = work->spared && (!mapped_is_wanted(mapped) || mapped_is_pending(mapped));
    work->lost |= goes;
    return goes || spare_refused(work->where, NULL, mapped);
}

/* Behind who has pinned it, whose copy is brought: all else that this one does may take longer. But
 * where it was lost before all was issued, it alone says so. */
static bool follow_bringer(struct work *work, const struct pinned *pinned)
{
    bool comes = pinned->bringer && !pinned->work->broken;
    return work_wait_for(work, comes ? pinned->bringer : pinned->work);
}

/* Behind who may write the range, or uses what is overwritten, or else behind who brings what is
 * read. */
static bool bringer_follow_one(struct work *bringer, const struct work *work,
                               const struct pinned *other)
{
    if (other->writes || other->work->device == work->device)
        return work_wait_for(bringer, other->work);
    return !is_brought_to(other, bringer->device) || follow_bringer(bringer, other);
}

static bool bringer_follow(struct work *bringer, const struct work *work,
                           const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->work != work && !bringer_follow_one(bringer, work, each))
        return false;
    return true;
}

static bool range_bring(struct work *work, const struct mapped *mapped, struct use *use)
{
    size_t bytes = mapped->end - mapped->begin;
    struct device *source = source_of(mapped, work->site->index, &use->until_ns);
    struct work *bringer = work_begin_locked(source, work->where, WORK_FLIGHT);
    bool right = bringer && bringer_follow(bringer, work, mapped) &&
                 work_exchange(bringer, mapped->device, work->site, mapped->device, bytes, NULL);
    if (!bringer)
        return false;
    use->bringer = bringer;
    return work_depart(bringer) && work_await(work, bringer) && right;
}

/* What is here may be on its way still, or be read by regions that are done again. */
static bool range_follow(struct work *work, const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->work != work && each->work->device == work->device &&
        (each->work->repeats ? !work_wait_for(work, each->work)
                             : each->brings && !follow_bringer(work, each)))
        return false;
    return true;
}

static bool uses_grow(struct work *work)
{
    struct uses *uses = &work->uses;
    struct use *list = work_grow(work, uses->list, &uses->room, sizeof(*list), "what is used");
    if (list)
        uses->list = list;
    return list;
}

/* The work's use of the range; NULL: reported. */
static struct use *use_of(struct work *work, struct mapped *mapped)
{
    struct uses *uses = &work->uses;
    if (mapped->used_by == work->number)
        return &uses->list[mapped->use];
    if (uses->count == uses->room && !uses_grow(work))
        return NULL;
    mapped->used_by = work->number;
    mapped->use = uses->count++;
    uses->list[mapped->use] =
        (struct use){.range = mapped, .number = mapped->number, .version = remains_version(mapped)};
    return &uses->list[mapped->use];
}

bool copies_use(struct work *work, struct mapped *mapped, bool writes)
{
    uint64_t here = site_bit(work->site);
    bool lost = mapped->lost;
    if (work->lost)
        return true;
    if (lost && !remains_at_home(mapped))
        return range_miss(work, mapped);
    struct use *use = use_of(work, mapped);
    if (!use)
        return false;
    if (mapped->variable)
        return true;
    bool is_here = mapped_present(mapped) & here;
    if (writes && !use->writes)
        remains_write(mapped, work->number);
    if (!is_here || use->brings)
        remains_bring(mapped, work->site);
    bool right = is_here ? use->brings || range_follow(work, mapped)
                 : lost  ? work_follow_all(work, mapped) && range_give(work, mapped)
                         : range_bring(work, mapped, use);
    use->brings |= !is_here;
    use->writes |= writes;
    mapped->present = writes ? here : mapped_present(mapped) | here;
    return right;
}

bool copies_give(struct work *work, struct mapped *mapped)
{
    if (work->lost)
        return true;
    struct use *use = use_of(work, mapped);
    if (!use)
        return false;
    use->writes = true;
    mapped_recover(mapped);
    mapped->present = site_bit(work->site);
    mapped->settled = 0;
    return true;
}

bool copies_remake(struct work *work, struct mapped *mapped, bool home)
{
    struct use *use = use_of(work, mapped);
    if (!use)
        return false;
    use->brings = true;
    mapped->writer = NULL;
    if (home)
        return range_give(work, mapped);
    mapped_recover(mapped);
    mapped->settled = 0;
    mapped->present = site_bit(work->site);
    return !mapped_is_searched(mapped) || range_move(work, MOVE_CLEAR, mapped);
}

struct pointees {
    struct work *work;
    bool right;
};

static void pointee_use(struct attached *pointer, void *context)
{
    struct pointees *pointees = context;
    struct work *work = pointees->work;
    struct mapped *to = (struct mapped *)pointer->to;
    if (!to || to->number != pointer->to_number || to->vacant || !mapped_is_wanted(to) ||
        !pointees->right)
        return;
    if (to->used_by != work->number || !work->uses.list[to->use].writes)
        pointees->right = copies_use(work, to, true);
}

/* The list gets longer meanwhile. */
bool copies_use_pointees(struct work *work)
{
    struct pointees pointees = {work, true};
    for (size_t i = 0; i < work->uses.count && pointees.right; i++) {
        struct mapped *mapped = work->uses.list[i].range;
        mapped_each_pointer(mapped, mapped->begin, mapped->end - mapped->begin, pointee_use,
                            &pointees);
    }
    return pointees.right;
}

/* A work that only brings everything to one site passes over what is lost. */
static bool any_use(struct work *work, struct mapped *mapped, bool writes)
{
    return (mapped->lost && !work->spared) || copies_use(work, mapped, writes);
}

bool copies_use_all(struct work *work, bool writes)
{
    struct mapped *each = mapping_first(&work->device->space->mapping);
    for (; each; each = mapping_next(each))
        if (each->references != COUNT_INFINITE && mapped_is_wanted(each) &&
            !any_use(work, each, writes))
            return false;
    for (each = mapping_first(&work->device->space->blocks); each; each = mapping_next(each))
        if (!any_use(work, each, writes))
            return false;
    return true;
}

/* What the work's maps have not pinned, none of its clauses names. */
static struct pinned *range_pin(struct work *work, struct mapped *mapped)
{
    struct pinned *first = LIST_FIRST(&mapped->pins);
    if (first && first->work == work)
        return first;
    if (!work_pin_again(work, mapped, mapped->begin, 0))
        return NULL;
    first = LIST_FIRST(&mapped->pins);
    first->guessed = true;
    return first;
}

static void pinned_bring(struct pinned *pinned, const struct use *use)
{
    pinned->brings = true;
    pinned->bringer = use->bringer;
    pinned->until_ns = use->until_ns;
}

bool copies_pin(struct work *work)
{
    work->broken = work->lost;
    for (struct pinned *each = work->pinned; each; each = each->next)
        if (each->mapped->made_by == work->number) {
            each->mapped->present = site_bit(work->site);
            each->mapped->lost = work->lost && losses_matter();
            each->writes = true;
        }
    for (size_t i = 0; i < work->uses.count; i++) {
        const struct use *use = &work->uses.list[i];
        struct pinned *pinned;
        /* It has become a part of another one. */
        if (use->range->number != use->number || use->range->vacant)
            continue;
        pinned = range_pin(work, use->range);
        if (!pinned)
            return false;
        pinned->writes |= use->writes;
        if (use->brings)
            pinned_bring(pinned, use);
    }
    work->uses.count = 0;
    return true;
}
