/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * placement.c: a site's price for a construct is the time until it would be done with what it has,
 * but not less than until what the construct uses is written, and the time to bring what it lacks,
 * as start-up measured it between the two. Of equal ones the site with the least under way is
 * taken, or, for what is entered, that with the fewest bytes.
 */
#include "openmp/place/placement.h"

#include <string.h>

#include <omprma_private/common.h>

#include "base/clock.h"
#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/place/addressed.h"
#include "openmp/place/copies.h"
#include "openmp/place/deal.h"
#include "openmp/place/graph.h"
#include "openmp/place/lineage.h"
#include "openmp/place/links.h"
#include "openmp/place/price.h"
#include "openmp/place/promised.h"
#include "openmp/place/recompute.h"
#include "openmp/place/stored.h"
#include "openmp/place/variables.h"
#include "openmp/site/load.h"

enum {
    KERNELS = 256,         /* whose times are known */
    BRING_RANGE_NS = 3000, /* and a further range */
    MOST_ITEMS = 4096      /* of a longer list the rest tells no more */
};

/* More than any price: where another site is wanted. */
static const int64_t far_ns = INT64_MAX / 2;

static struct {
    struct kernel {
        const void *id;
        int64_t usual_ns;
    } kernels[KERNELS];
    struct deal deal;            /* under the space's lock, */
    const struct placed *placed; /* whose mappers are gone through; under the space's lock */
} placement;

/* ---- what a construct touches ---------------------------------------------------------------- */

static bool item_is_of_ranges(const struct maps *maps, int i)
{
    return !map_is_private(maps->types[i]);
}

static bool item_is_mapper(const struct maps *maps, int i)
{
    return maps->mappers && maps->mappers[i];
}

/* Where it is not told by one address. */
static bool item_is_hidden(const struct maps *maps, int i)
{
    return item_is_mapper(maps, i) || (maps->types[i] & MAP_NON_CONTIG);
}

static struct mapped *range_at(struct space *space, const void *begin, size_t bytes)
{
    struct mapped *mapped;
    enum overlap overlap = mapping_find(&space->mapping, (uintptr_t)begin, bytes, &mapped);
    return overlap == OVERLAP_NONE ? NULL : mapped;
}

/* An attach item says nothing of how much it points to. */
static struct mapped *item_range(struct space *space, const struct maps *maps, int i)
{
    size_t bytes = maps->types[i] & MAP_ATTACH ? 0 : maps_bytes(maps, i);
    return range_at(space, maps->begins[i], bytes);
}

/* The pointer's, of an item that brings one. */
static struct mapped *item_pointer(struct space *space, const struct maps *maps, int i)
{
    return maps->types[i] & (MAP_PTR_AND_OBJ | MAP_ATTACH)
               ? range_at(space, maps->bases[i], sizeof(void *))
               : NULL;
}

/* May a region write this range, which an item of its list names? What comes back was written, and
 * so was what it depends on in another way than `in`. A dependence `in` on what the item names says
 * that it only reads, whatever the region could do without a race. That it maps something `to` says
 * no more than that it has a value at first, unless the program promises more by "named". */
static bool region_may_write(const struct placed *placed, int i, const struct mapped *mapped)
{
    const struct maps *maps = placed->maps;
    int64_t type = maps->types[i];
    uintptr_t begin = (uintptr_t)maps->begins[i];
    size_t bytes = type & MAP_ATTACH ? 0 : maps_bytes(maps, i);
    if ((type & (MAP_FROM | MAP_ALWAYS)) || placed->depends(mapped->begin, mapped->end, false))
        return true;
    if (placed->depends(begin, begin + (bytes > 0 ? bytes : 1), true))
        return false;
    return !(type & MAP_TO) || (type & MAP_ATTACH) || !devices_are_named();
}

/* ---- the price ------------------------------------------------------------------------------- */

static int64_t *kernel_usual(const void *id)
{
    struct kernel *kernel = &placement.kernels[(uintptr_t)id / 8 % KERNELS];
    if (kernel->id != id)
        *kernel = (struct kernel){.id = id};
    return &kernel->usual_ns;
}

/* What it takes to bring what sites lack, and what is not mapped yet. */
struct tally {
    int64_t first_ns[SITES_MOST], more_ns[SITES_MOST];
    uint64_t own[SITES_MOST]; /* bytes that are there, see tally_own() */
    uint64_t most;            /* of these */
    int dealt;                /* the site that is wanted; -1: none is */
    int64_t now_ns;
    int64_t usual_ns;   /* that a region takes */
    int64_t written_ns; /* until the last region under way that writes it is expected to end */
    uint64_t made;
};

/* Until one that uses a range has written it; 0: it does not. */
static int64_t written_in(const struct tally *tally, const struct pinned *user)
{
    const struct loaded *region = &user->work->loaded;
    return user->writes && region->usual ? region->until_ns - tally->now_ns : 0;
}

static void tally_writers(struct tally *tally, const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (written_in(tally, each) > tally->written_ns)
        tally->written_ns = written_in(tally, each);
}

/* From the nearest site that has it. */
static const struct link_cost *link_nearest(uint64_t present, int to)
{
    const struct link_cost *nearest = NULL;
    for (; present; present &= present - 1) {
        const struct link_cost *link = link_between(__builtin_ctzll(present), to);
        if (!nearest || link->mib_ns < nearest->mib_ns)
            nearest = link;
    }
    return nearest;
}

static void tally_add(struct tally *tally, const struct mapped *mapped, int sites)
{
    uint64_t present = mapped_present(mapped);
    if (!present)
        return;
    double mib = (double)(mapped->end - mapped->begin) / (1 << 20);
    tally_writers(tally, mapped);
    for (int i = 0; i < sites; i++)
        if (!(present >> i & 1)) {
            const struct link_cost *link = link_nearest(present, i);
            if (link->first_ns > tally->first_ns[i])
                tally->first_ns[i] = link->first_ns;
            tally->more_ns[i] += BRING_RANGE_NS + (int64_t)(mib * (double)link->mib_ns);
        }
}

/* Where does a region belong? Where most is of what it writes, and of what regions before it have
 * written and it reads. What the program has entered may be read anywhere. To be written again, a
 * range is where it was written, whoever has copies to read; for the first time, where regions have
 * read it: where it was entered says nothing of those that come. */
static void tally_own(struct tally *tally, const struct mapped *mapped, bool writes, int sites)
{
    uint64_t present = mapped_present(mapped), home = mapped->home & present;
    uint64_t where = writes && home ? home : writes || mapped->written ? present : 0;
    for (int i = 0; i < sites; i++)
        if (where >> i & 1) {
            tally->own[i] += mapped->end - mapped->begin;
            if (tally->own[i] > tally->most)
                tally->most = tally->own[i];
        }
}

static void tally_use(struct tally *tally, struct mapped *mapped, bool writes, int sites)
{
    deal_use(&placement.deal, mapped, writes);
    tally_own(tally, mapped, writes, sites);
}

static void tally_items(struct tally *tally, struct space *space, const struct placed *placed)
{
    const struct maps *maps = placed->maps;
    for (int i = 0; i < maps->count && i < MOST_ITEMS; i++) {
        if (!item_is_of_ranges(maps, i))
            continue;
        struct mapped *mapped = item_range(space, maps, i);
        if (mapped)
            tally_add(tally, mapped, space->sites);
        else if (placed->kind == CONSTRUCT_ENTER && !item_is_hidden(maps, i) &&
                 !(maps->types[i] & MAP_ATTACH))
            tally->made += maps_bytes(maps, i);
        if (mapped && placed->kind == CONSTRUCT_REGION)
            tally_use(tally, mapped, region_may_write(placed, i, mapped), space->sites);
    }
}

struct addressed {
    struct tally *tally;
    int sites;
};

static bool tally_addressed(void *context, struct mapped *range)
{
    const struct addressed *addressed = context;
    tally_add(addressed->tally, range, addressed->sites);
    tally_use(addressed->tally, range, true, addressed->sites);
    return true;
}

static void tally_region(struct tally *tally, struct space *space, const struct placed *placed)
{
    struct addressed addressed = {tally, space->sites};
    tally->usual_ns = load_usual(kernel_usual(placed->host_id));
    deal_region(&placement.deal);
    tally_items(tally, space, placed);
    addresses_each(space, placed->maps, tally_addressed, &addressed);
    tally->dealt = deal_site(&placement.deal, space->sites);
    if (tally->dealt >= 0 && device_is_lost(device_of_site(tally->dealt)))
        tally->dealt = -1;
}

static int64_t site_price(const struct tally *tally, const struct site *site)
{
    int i = site->index;
    const struct offer offer = {
        .has = tally->own[i] == tally->most,
        .wait_ns = load_wait(&site->load, tally->now_ns),
        .idle_ns = load_idle(&site->load, tally->now_ns),
        .bring_ns = tally->first_ns[i] + tally->more_ns[i],
        .more_ns = load_time(&site->load, tally->usual_ns) - tally->usual_ns,
    };
    int64_t price = offer_price(&offer, tally->usual_ns, tally->written_ns);
    return tally->dealt < 0 || tally->dealt == i ? price : far_ns + price;
}

/* Of two with the same price. */
static bool site_is_better(const struct site *site, const struct site *than, bool makes)
{
    if (makes && site->load.entered != than->load.entered)
        return site->load.entered < than->load.entered;
    return site->load.under_way < than->load.under_way;
}

struct device *placement_choose(struct device *device, const struct placed *placed)
{
    struct space *space = device->space;
    struct tally tally = {.dealt = -1};
    int64_t least = INT64_MAX;
    if (space->sites == 1)
        return device;
    if (!placement_is_on())
        return placement_last();
    device = device_living(device);
    tally.now_ns = clock_ns();
    if (placed->kind == CONSTRUCT_REGION)
        tally_region(&tally, space, placed);
    else
        tally_items(&tally, space, placed);
    for (int i = 0; i < space->sites; i++) {
        struct device *each = device_of_site(i);
        if (device_is_lost(each))
            continue;
        int64_t price = site_price(&tally, &each->site);
        if (price < least ||
            (price == least && site_is_better(&each->site, &device->site, tally.made > 0))) {
            least = price;
            device = each;
        }
    }
    device->site.load.entered += tally.made;
    if (placed->kind == CONSTRUCT_REGION)
        deal_gone(&placement.deal, device->site.index);
    return device;
}

/* ---- bringing -------------------------------------------------------------------------------- */

/* Where it belongs from now on. */
static void home_note(struct mapped *mapped, uint64_t here, bool writes)
{
    if (writes)
        mapped->home = here;
    else if (!mapped->written)
        mapped->home |= here;
    mapped->written |= writes;
}

static bool range_use(struct work *work, struct mapped *mapped, bool writes)
{
    if (work->loaded.usual)
        home_note(mapped, site_bit(work->site), writes);
    return copies_use(work, mapped, writes);
}

/* Does the construct give the range, which is lost, all of its values? Or does it need none? What
 * it would have brought home is looked at when it ends. */
static bool is_not_missed(const struct placed *placed, int i, const struct mapped *mapped)
{
    const struct maps *maps = placed->maps;
    uintptr_t begin = (uintptr_t)maps->begins[i];
    return placed->kind == CONSTRUCT_LEAVE ||
           (placed->kind != CONSTRUCT_REGION && (maps->types[i] & MAP_TO) &&
            begin <= mapped->begin && begin + maps_bytes(maps, i) >= mapped->end);
}

/* Where a construct enters, it may write the pointers that it attaches. */
static bool item_use(struct work *work, const struct placed *placed, int i)
{
    const struct maps *maps = placed->maps;
    struct space *space = work->device->space;
    int64_t type = maps->types[i];
    bool to = type & MAP_TO, from = type & MAP_FROM;
    struct mapped *mapped = item_range(space, maps, i), *pointer = item_pointer(space, maps, i);
    bool uses = false, writes = false;
    switch (placed->kind) {
    case CONSTRUCT_REGION:
        uses = true;
        writes = mapped && region_may_write(placed, i, mapped);
        break;
    case CONSTRUCT_ENTER: /* one that was there for pointers in it may get its values, but for those
                           */
        uses = writes = (to && (type & MAP_ALWAYS)) || (mapped && mapped->ways > 0);
        break;
    case CONSTRUCT_LEAVE:
        uses = from;
        break;
    case CONSTRUCT_UPDATE:
        uses = to || from;
        writes = to;
        break;
    }
    bool points = pointer && (placed->kind == CONSTRUCT_REGION || placed->kind == CONSTRUCT_ENTER);
    if (mapped && uses && mapped->lost && is_not_missed(placed, i, mapped)) {
        uses = false;
        if (writes && !copies_give(work, mapped))
            return false;
    }
    if (placed->kind == CONSTRUCT_REGION && mapped && !writes && !(type & MAP_ATTACH) &&
        !promised_add(work, mapped, maps->begins[i], maps_bytes(maps, i), maps_name(maps, i)))
        return false;
    return (!points || range_use(work, pointer, true)) &&
           (!mapped || !uses || range_use(work, mapped, writes));
}

/* Mappers say what they stand for. What lists of dimensions reach is not looked at: that is all
 * there is. */
static bool list_use(struct work *work, const struct maps *maps)
{
    struct placed placed = *placement.placed;
    bool right = true;
    placed.maps = maps;
    for (int i = 0; i < maps->count && right; i++) {
        if (!item_is_of_ranges(maps, i))
            continue;
        if (item_is_mapper(maps, i))
            right = mapper_run(work, maps, i, list_use);
        else if (item_is_hidden(maps, i))
            right = copies_use_all(work, placed.kind != CONSTRUCT_LEAVE);
        else
            right = item_use(work, &placed, i);
    }
    return right;
}

static bool addressed_use(void *work, struct mapped *range)
{
    return range_use(work, range, true);
}

/* All that a region may touch, by maps or otherwise. */
static bool region_bring(struct work *work, const struct maps *maps)
{
    return addresses_each(work->device->space, maps, addressed_use, work) &&
           copies_use_pointees(work) && promised_sum(work);
}

bool placement_bring(struct work *work, const struct placed *placed)
{
    if (work->device->space->sites == 1 || work->lost)
        return true;
    if (placed->kind == CONSTRUCT_REGION)
        load_begin(&work->site->load, &work->loaded, kernel_usual(placed->host_id), clock_ns());
    placement.placed = placed;
    return variables_bring(work, placed->kind == CONSTRUCT_REGION) &&
           list_use(work, placed->maps) &&
           (placed->kind != CONSTRUCT_REGION || region_bring(work, placed->maps)) &&
           work_note_ready(work);
}

/* Who has made it by a region has used it. */
static void range_deal(const struct work *work, struct mapped *mapped)
{
    if (mapped->made_by != work->number)
        return;
    graph_enter(work, mapped);
    mapped->written = work->computes;
    mapped->home = work->computes ? site_bit(work->site) : 0;
    if (work->computes)
        mapped->dealt = (struct dealt){.deal = 0};
    else
        deal_enter(&placement.deal, mapped);
}

static bool region_tell(struct work *work)
{
    promised_tell(work);
    return stored_tell(work);
}

static void region_note(const struct work *work, const struct placed *placed)
{
    recompute_offer(work->device->space);
    lineage_note(work, placed->host_id);
}

bool placement_pin(struct work *work, const struct placed *placed)
{
    if (work->device->space->sites == 1)
        return true;
    bool right = variables_note(work);
    if (placed->kind == CONSTRUCT_REGION)
        graph_note(work);
    if (placed->kind == CONSTRUCT_REGION && losses_matter() && right && !work->over)
        region_note(work, placed);
    for (const struct pinned *each = work->pinned; each; each = each->next)
        range_deal(work, each->mapped);
    if (work->computes)
        work->told = region_tell;
    return copies_pin(work) && stored_search(work) && promised_sum_again(work) && right;
}
