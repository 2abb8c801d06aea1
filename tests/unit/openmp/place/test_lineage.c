/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_lineage.c: random regions over a few ranges, some of which all sites lose then; a model
 * knows what each range holds, and so what has to be made again.
 * Covers: lineage.c
 */
#include <stdlib.h>
#include <string.h>

#include "openmp/device/remains.h"
#include "openmp/place/lineage.h"
#include "tests/unit/test.h"

enum { RANGES = 6, USES = 3, STEPS = 30, ROUNDS = 2000, BYTES = 64 };

static struct site site;
static struct space space;
static struct mapped *ranges[RANGES];
static unsigned char memory[RANGES][BYTES]; /* the program's */
static uint64_t now[RANGES];                /* what the range holds */
static uint64_t home[RANGES];               /* what the program's memory has of it, */
static uint64_t bases[RANGES];              /* and held when it got that */
static const char kernel;
static const omprma_addr_t own_at = 0x7f0000010000; /* private variables */
static unsigned seed;

static unsigned draw(unsigned limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

static void given(void *owner, const struct suballoc *part)
{
    (void)owner, (void)part;
}

/* ---- the model ------------------------------------------------------------------------------ */

/* What a region makes of its ranges; `words` is what it is launched with. */
struct played {
    uint64_t number;
    int count, use[USES];
    bool writes[USES];
};

static void play(const struct played *region, uint64_t *values)
{
    uint64_t mix = region->number * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < region->count; i++)
        mix = (mix ^ values[region->use[i]]) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)i;
    for (int i = 0; i < region->count; i++)
        if (region->writes[i])
            values[region->use[i]] = mix + (uint64_t)i;
}

/* ---- works ---------------------------------------------------------------------------------- */

static void over(struct mapped *mapped, struct pinned pinned, bool computes)
{
    const struct remains_end end = {.site = &site, .done = true, .computes = computes};
    pinned.mapped = mapped;
    pinned.number = space.works;
    mapped->present = 1;
    LIST_INSERT_HEAD(&mapped->pins, &pinned, link);
    remains_over(&pinned, &end);
    LIST_REMOVE(&pinned, link);
}

/* The program's memory gets another content, and the range or not. */
static void enter(int i, bool give)
{
    space.works++;
    ranges[i]->made_by = space.works;
    memset(memory[i], (int)draw(256), BYTES);
    over(ranges[i], (struct pinned){.writes = true, .sent = give, .given = give}, false);
    home[i] = now[i] = give ? space.works << 32 : 0;
    bases[i] = now[i];
}

static void bring_home(int i)
{
    space.works++;
    memset(memory[i], (int)draw(256), BYTES);
    over(ranges[i], (struct pinned){.retrieved = true, .whole = true}, false);
    home[i] = bases[i] = now[i];
}

/* By something else than a region. */
static void overwrite(int i)
{
    space.works++;
    over(ranges[i], (struct pinned){.writes = true, .sent = true}, false);
    now[i] = space.works << 32 | 1;
}

static struct played region_draw(void)
{
    struct played region = {.number = ++space.works, .count = 1 + (int)draw(USES)};
    for (int i = 0, first = (int)draw(RANGES); i < region.count; i++) {
        region.use[i] = (first + i) % RANGES;
        region.writes[i] = draw(2);
    }
    return region;
}

/* Its number, as a private variable. */
static void privates_give(struct work *work, const struct played *region)
{
    static const omprma_addr_t begins[sizeof(*region) / sizeof(uint64_t) + 1];
    work->begins = begins;
    work->privates.device = own_at;
    work->private_bytes = sizeof(region->number);
    sent_begin(&work->sent, true);
    sent_add(&work->sent, own_at, &region->number, sizeof(region->number));
}

/* Another one, with the same ranges and without an order, was issued just before, and fails: it
 * does nothing, but the region finds its version. */
static void fail_before(struct work *work)
{
    struct use *uses = work->uses.list;
    bool writes[USES];
    work->number--;
    for (size_t i = 0; i < work->uses.count; i++) {
        writes[i] = uses[i].writes;
        uses[i].writes = draw(2);
    }
    lineage_note(work, &kernel);
    for (size_t i = 0; i < work->uses.count; i++) {
        if (uses[i].writes)
            uses[i].version = work->number;
        uses[i].writes = writes[i];
    }
    work->number++;
}

static void compute(void)
{
    space.works++; /* of one that fails */
    struct played region = region_draw();
    struct use uses[USES];
    static const omprma_geometry_t geometry = {.threads = {7}};
    uint64_t words[1 + sizeof(region) / sizeof(uint64_t)] = {0};
    memcpy(words, &region, sizeof(region));
    const omprma_region_t launched = {
        .geometry = &geometry, .arguments = words, .count = sizeof(words) / sizeof(*words)};
    struct work work = {.number = region.number, .launched = &launched};
    bool has_privates = draw(2);
    if (has_privates)
        privates_give(&work, &region);
    for (int i = 0; i < region.count; i++) {
        struct mapped *range = ranges[region.use[i]];
        uses[i] = (struct use){.range = range,
                               .number = range->number,
                               .version = remains_version(range),
                               .writes = region.writes[i]};
    }
    work.uses.list = uses;
    work.uses.count = (size_t)region.count;
    if (draw(6) == 0)
        fail_before(&work);
    lineage_note(&work, &kernel);
    lineage_done(work.number);
    free(work.sent.list);
    play(&region, now);
    for (int i = 0; i < region.count; i++)
        over(ranges[region.use[i]], (struct pinned){.writes = region.writes[i]}, true);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void begin(void)
{
    space = (struct space){.sites = 2, .works = space.works};
    mapping_init(&space.mapping, given, NULL);
    for (int i = 0; i < RANGES; i++) {
        ranges[i] = mapping_add(&space.mapping, (uintptr_t)memory[i], BYTES, 4096, false);
        assert_non_null(ranges[i]);
        enter(i, draw(4) > 0);
    }
}

static void end(void)
{
    for (int i = 0; i < RANGES; i++) {
        mapping_remove(&space.mapping, ranges[i]);
        free(ranges[i]); /* which the table, that begins anew, had kept */
    }
}

static int index_of(const struct mapped *mapped)
{
    int i = 0;
    while (ranges[i] != mapped)
        i++;
    return i;
}

/* The private variable that it had, if any. */
static void own_compare(const struct ancestor *ancestor)
{
    uint64_t number;
    const struct own *own = ancestor->own;
    if (!own)
        return;
    const struct sent_piece *piece = sent_next(own->sent, own->sent_bytes, NULL);
    assert_int_equal(piece->bytes, sizeof(number));
    own_content(own, 64, piece, (unsigned char *)&number);
    assert_int_equal(number, ancestor->number);
}

/* Plays what is planned in a copy of what is there: what was lost is not. */
static void compare(const struct lineage *lineage, const bool *lost)
{
    uint64_t values[RANGES];
    struct played region;
    for (int i = 0; i < RANGES; i++)
        values[i] = lost[i] ? UINT64_MAX : now[i];
    for (size_t i = 0; i < lineage->heir_count; i++) {
        const struct heir *heir = &lineage->heirs[i];
        int which = index_of(heir->range);
        values[which] = heir->home ? home[which] : 0;
    }
    for (size_t i = 0; i < lineage->step_count; i++) {
        assert_ptr_equal(lineage->steps[i]->host_id, &kernel);
        assert_int_equal(lineage->steps[i]->geometry.threads[0], 7);
        memcpy(&region, lineage->steps[i]->words, sizeof(region));
        assert_int_equal(region.number, lineage->steps[i]->number);
        own_compare(lineage->steps[i]);
        play(&region, values);
    }
    for (size_t i = 0; i < lineage->heir_count; i++) {
        int which = index_of(lineage->heirs[i].range);
        assert_int_equal(values[which], now[which]);
    }
}

/* How many of them it can. */
static int lose_and_plan(void)
{
    bool lost[RANGES];
    struct lineage lineage;
    int planned = 0;
    for (int i = 0; i < RANGES; i++)
        lost[i] = draw(3) == 0;
    for (int i = 0; i < RANGES; i++)
        if (lost[i]) {
            ranges[i]->lost = true;
            ranges[i]->present = 0;
        }
    lineage_begin(&lineage, &space);
    for (int i = 0; i < RANGES; i++)
        if (lost[i] && !lineage_has(&lineage, ranges[i])) {
            size_t heirs = lineage.heir_count, steps = lineage.step_count;
            bool added = lineage_add(&lineage, ranges[i]);
            planned += added;
            assert_true(added || (lineage.heir_count == heirs && lineage.step_count == steps));
        }
    lineage_sort(&lineage);
    compare(&lineage, lost);
    lineage_end(&lineage);
    return planned;
}

TEST(what_is_planned_makes_what_was_lost)
{
    int planned = 0;
    for (seed = 1; seed <= ROUNDS; seed++) {
        unsigned round = seed;
        begin();
        for (unsigned steps = draw(STEPS); steps > 0; steps--)
            switch (draw(12)) {
            case 0:
                bring_home((int)draw(RANGES));
                break;
            case 1:
                if (draw(4) == 0)
                    overwrite((int)draw(RANGES));
                break;
            default:
                compute();
            }
        planned += lose_and_plan();
        end();
        seed = round;
    }
    assert_in_range(planned, ROUNDS / 4, ROUNDS * RANGES);
}

/* Of one range, which a few regions have written. */
static bool can_after(void (*change)(void))
{
    struct lineage lineage;
    seed = 5;
    begin();
    enter(0, true);
    for (int i = 0; i < 3; i++) {
        struct played region = {.number = ++space.works, .count = 1, .writes = {true}};
        uint64_t words[1 + sizeof(region) / sizeof(uint64_t)] = {0};
        static const omprma_geometry_t geometry;
        const omprma_region_t launched = {
            .geometry = &geometry, .arguments = words, .count = sizeof(words) / sizeof(*words)};
        struct use use = {.range = ranges[0],
                          .number = ranges[0]->number,
                          .version = remains_version(ranges[0]),
                          .writes = true};
        struct work work = {
            .number = region.number, .launched = &launched, .uses = {.list = &use, .count = 1}};
        memcpy(words, &region, sizeof(region));
        lineage_note(&work, &kernel);
        lineage_done(work.number);
        over(ranges[0], (struct pinned){.writes = true}, true);
    }
    if (change)
        change();
    ranges[0]->lost = true;
    ranges[0]->present = 0;
    lineage_begin(&lineage, &space);
    bool can = lineage_add(&lineage, ranges[0]);
    assert_int_equal(lineage.step_count, can ? 3 : 0);
    lineage_end(&lineage);
    end();
    return can;
}

static void change_home(void)
{
    memory[0][7]++;
}

static void write_otherwise(void)
{
    overwrite(0);
}

/* Later regions have taken the places of these. */
static void forget(void)
{
    for (int i = 0; i < 5000; i++)
        compute();
}

static void begin_anew(void)
{
    mapping_vacate(&space.mapping, ranges[0]);
    mapping_revive(&space.mapping, ranges[0], false);
}

static void attach(void)
{
    assert_true(mapped_attach(ranges[0], (uintptr_t)memory[0], sizeof(void *), ranges[1]));
}

/* It had nothing when it was made, and pointers since. */
static void attach_to_nothing(void)
{
    attach();
    ranges[0]->has_digest = false;
    ranges[0]->blank = true;
    ranges[0]->made_by = bases[0] >> 32;
}

TEST(what_ends_it)
{
    assert_true(can_after(attach));
    assert_false(can_after(attach_to_nothing));
    assert_true(can_after(NULL));
    assert_false(can_after(change_home));
    assert_false(can_after(write_otherwise));
    assert_false(can_after(forget));
    assert_false(can_after(begin_anew));
}
