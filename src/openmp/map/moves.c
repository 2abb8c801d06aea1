/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * moves.c: the only place that sends for maps: data of mapped ranges, and the pointers in them. See
 * maps.h. Each move orders the work behind who moved the range's data last, tells tools and
 * LIBOMPTARGET_INFO, and notes what the range has from then on.
 */
#include <stdlib.h>
#include <string.h>

#include "openmp/abi/location.h"
#include "openmp/device/info.h"
#include "openmp/map/maps.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

#include <omprma_private/memory.h>

enum { POINTER_BYTES_MOST = 256 /* the longest descriptor of Fortran has less */ };

static void info_copy(const struct work *work, bool back, uintptr_t host, omprma_addr_t device,
                      size_t bytes, const char *map_name)
{
    struct name name = name_of(map_name);
    unsigned long long there = device, here = host;
    info_print(work->device->number,
               "Copying data from %s, %s=0x%016llx, %s=0x%016llx, Size=%zu, Name=%.*s\n",
               back ? "device to host" : "host to device", back ? "TgtPtr" : "HstPtr",
               back ? there : here, back ? "HstPtr" : "TgtPtr", back ? here : there, bytes,
               name.length, name.text);
}

/* ---- pointers ------------------------------------------------------------------------------- */

/* Goes through pointers in a range. */
struct walk {
    struct work *work;
    struct mapped *range;
    uintptr_t at; /* of what comes back: what lies before it is under way, or stays */
    size_t count;
    bool right;
};

/* To where the host has its own. What was taken out of the table has no address any more. */
static void pointer_submit(struct attached *pointer, void *context)
{
    struct walk *walk = context;
    unsigned char value[POINTER_BYTES_MOST];
    if (!walk->right || !attached_value(pointer, value))
        return;
    omprma_addr_t to = mapped_address(walk->range, pointer->pointer);
    struct ompt_op op =
        ompt_to((const void *)pointer->pointer, walk->work->device->number, to, pointer->bytes);
    ompt_op_begin(&op);
    walk->right = work_submit(walk->work, to, value, pointer->bytes, NULL);
    ompt_op_end(&op);
    pointer->due = false;
}

static void pointer_submit_due(struct attached *pointer, void *context)
{
    const struct walk *walk = context;
    if (!pointer->due)
        return;
    if (info_wants(INFO_TRANSFERS))
        info_copy(walk->work, false, pointer->pointer,
                  mapped_address(walk->range, pointer->pointer), pointer->bytes, NULL);
    pointer_submit(pointer, context);
}

static bool pointers_issue(struct work *work, const struct move *move)
{
    struct walk walk = {
        .work = work, .range = move->range, .right = work_follow(work, move->range)};
    mapped_each_pointer(move->range, move->begin, move->bytes, pointer_submit_due, &walk);
    work_write(work, move->range);
    if (!walk.right || !work_pin(work, move->range, move->begin, 0))
        return false;
    LIST_FIRST(&move->range->pins)->points = true;
    return true;
}

static void pointer_count(struct attached *pointer, void *context)
{
    (void)pointer;
    ((struct walk *)context)->count++;
}

static void retrieve_until(struct walk *walk, uintptr_t end)
{
    if (walk->right && walk->at < end)
        walk->right = work_retrieve_part(walk->work, walk->range, (void *)walk->at, end - walk->at);
}

static void pointer_pass(struct attached *pointer, void *context)
{
    struct walk *walk = context;
    retrieve_until(walk, pointer->pointer);
    walk->at = pointer->pointer + pointer->bytes;
}

/* A pointer that is attached keeps its value on the host. Other threads may read it at any time,
 * those that come to the next construct that maps what it points to, so the device's value is not
 * to stand there even for a moment: only what lies between pointers is retrieved. Where there are
 * *many, all is, and the pointers are put right when the construct ends. */
static bool retrieve_around(struct work *work, const struct move *move, bool *many)
{
    enum { FEW = 64 };
    struct mapped *range = move->range;
    struct walk walk = {.work = work, .range = range, .at = move->begin, .right = true};
    if (move->bytes > FEW * sizeof(void *))
        mapped_each_pointer(range, move->begin, move->bytes, pointer_count, &walk);
    *many = walk.count > FEW;
    if (!*many)
        mapped_each_pointer(range, move->begin, move->bytes, pointer_pass, &walk);
    retrieve_until(&walk, move->begin + move->bytes);
    return walk.right;
}

/* ---- data ----------------------------------------------------------------------------------- */

/* *many: see retrieve_around(). */
static bool data_send(struct work *work, const struct move *move, omprma_addr_t there, bool *many)
{
    struct mapped *range = move->range;
    void *host = (void *)move->begin;
    if (move->kind == MOVE_TO)
        return move->shape ? work_submit(work, there, host, move->bytes, move->shape)
                           : work_submit_part(work, range, host, move->bytes);
    if (move->shape)
        return work_retrieve(work, host, there, move->bytes, move->shape);
    if (mapped_has_pointers(range))
        return retrieve_around(work, move, many);
    return work_retrieve_part(work, range, host, move->bytes);
}

static bool data_is_whole(const struct move *move)
{
    const struct mapped *range = move->range;
    return !move->shape && move->begin == range->begin && move->bytes == range->end - range->begin;
}

/* The range has the host's values now, or the host is to have its. */
static bool data_note(struct work *work, const struct move *move, bool many)
{
    struct mapped *range = move->range;
    bool there = move->kind == MOVE_TO;
    struct walk walk = {.work = work, .range = range, .right = true};
    work_write(work, range);
    if (there && mapped_has_pointers(range))
        mapped_each_pointer(range, move->begin, move->bytes, pointer_submit, &walk);
    if (!walk.right || !work_pin(work, range, move->begin, many ? move->bytes : 0))
        return false;
    struct pinned *pinned = LIST_FIRST(&range->pins);
    pinned->sent |= there;
    pinned->given |= there && data_is_whole(move);
    pinned->retrieved |= !there;
    pinned->whole |= !there && data_is_whole(move);
    return true;
}

static bool data_issue(struct work *work, const struct move *move)
{
    const struct mapped *range = move->range;
    size_t bytes = move->shape ? shape_bytes(move->shape) : move->bytes;
    int number = work->device->number;
    bool back = move->kind == MOVE_FROM, many = false;
    void *host = (void *)move->begin;
    omprma_addr_t there = mapped_address(range, move->begin);
    if (info_wants(INFO_TRANSFERS))
        info_copy(work, back, move->begin, there, bytes, range->name);
    struct ompt_op op =
        back ? ompt_from(number, there, host, bytes) : ompt_to(host, number, there, bytes);
    ompt_op_begin(&op);
    work->moved = range->name;
    bool right = work_follow(work, move->range) && data_send(work, move, there, &many);
    work->moved = NULL;
    ompt_op_end(&op);
    return right && data_note(work, move, many);
}

/* ---- moves ---------------------------------------------------------------------------------- */

/* What memory of a new range holds is nobody's. */
static bool clear_issue(struct work *work, const struct move *move)
{
    struct mapped *range = move->range;
    bool right = work_follow(work, range) &&
                 work_fill(work, mapped_address(range, move->begin), 0, move->bytes);
    work_write(work, range);
    return right;
}

/* Compilers map constants there and back, too, as variables. What came from memory that may not be
 * written has not changed there, so it need not come back. */
static bool move_is_spared(const struct move *move)
{
    struct mapped *range = move->range;
    if (!range->writable)
        range->writable = !omprma_memory_is_constant((const void *)move->begin, move->bytes);
    return !range->writable && move->constant;
}

bool move_issue(struct work *work, const struct move *move)
{
    if (move->kind == MOVE_NOTHING)
        return work_follow(work, move->range);
    if (move->kind == MOVE_CLEAR)
        return clear_issue(work, move);
    return move->kind == MOVE_POINTERS ? pointers_issue(work, move) : data_issue(work, move);
}

/* Others that have left already may still be computing with it. */
static bool move_issue_back(struct work *work, const struct move *move)
{
    return move_is_spared(move) || (work_follow_all(work, move->range) && data_issue(work, move));
}

/* What an item says comes back does when the construct ends its range, whichever item does that. */
static bool move_is_undecided(const struct work *work, const struct move *move)
{
    return move->kind == MOVE_ATTACH ||
           (move->kind == MOVE_FROM && !move->always && move->range->ended_by != work->number);
}

/* The short way of a plain item: a whole range whose memory the program had a moment ago, so that
 * nothing is asked about it, joins what travels together. False: it has to go the long way. */
static bool plain_issue(struct work *work, const struct move *move)
{
    struct mapped *range = move->range;
    if (mapped_has_pointers(range) || work_has_to_follow(work, range))
        return false;
    struct pinned *pinned = LIST_FIRST(&range->pins);
    if (move->kind == MOVE_TO) {
        if (!work->gather || !gather_add(work->gather, &range->memory, range->device,
                                         (void *)move->begin, move->bytes))
            return false;
        pinned->sent = pinned->given = true;
    } else {
        if (range->ended_by != work->number || !range->writable || !work_is_alone(work, range) ||
            !work->region || !work->scatter ||
            !scatter_add(work->scatter, &range->memory, (void *)move->begin, range->device,
                         move->bytes))
            return false;
        pinned->retrieved = pinned->whole = true;
    }
    work_write(work, range);
    return true;
}

/* Those that go the long way, but for what is not decided. */
static bool moves_issue_others(struct work *work)
{
    struct moves *moves = &work->moves;
    bool right = true;
    size_t kept = 0;
    for (size_t i = 0; i < moves->count; i++) {
        const struct move *move = &moves->list[i];
        if (move->plain || move_is_undecided(work, move))
            moves->list[kept++] = *move;
        else
            right = right && (move->kind == MOVE_FROM ? move_issue_back(work, move)
                                                      : move_issue(work, move));
    }
    moves->count = kept;
    return right;
}

/* What travels with a launch stands next to it: small pieces go there after large ones, and come
 * back before. */
bool moves_issue(struct work *work)
{
    struct moves *moves = &work->moves;
    bool back = moves->count > 0 && moves->list[0].kind == MOVE_FROM;
    bool right = !moves->others || back || moves_issue_others(work);
    size_t others = 0;
    for (size_t i = 0; i < moves->count && right; i++) {
        struct move *move = &moves->list[i];
        if (move->plain && plain_issue(work, move))
            continue;
        move->plain = false;
        if (others++ < i)
            moves->list[others - 1] = *move;
    }
    moves->count = moves->others = others;
    return right && (!others || moves_issue_others(work));
}

bool moves_add_grown(struct work *work, struct move move)
{
    struct moves *moves = &work->moves;
    struct move *list =
        work_grow(work, moves->list, &moves->room, sizeof(*list), "what is to move");
    if (!list)
        return false;
    moves->list = list;
    return moves_add(work, move);
}

/* ---- attaching ------------------------------------------------------------------------------ */

bool pointer_attach(struct work *work, struct mapped *range, uintptr_t pointer, size_t bytes,
                    struct mapped *pointee, struct move *move)
{
    if (bytes < sizeof(void *) || bytes > POINTER_BYTES_MOST)
        return report(work->where, work->site, "a pointer of %zu bytes cannot be attached", bytes);
    if (!mapped_attach(range, pointer, bytes, pointee))
        return report(work->where, work->site, "no host memory to attach a pointer");
    *move = (struct move){.kind = MOVE_POINTERS, .range = range, .begin = pointer, .bytes = bytes};
    return true;
}

/* An attach item. A pointer is attached when it or what it points to is new on the device, and both
 * are there. */
static bool attachment_decide(struct work *work, struct move *move)
{
    struct mapping *mapping = &work->device->space->mapping;
    struct mapped *pointer, *pointee;
    bool both = mapping_find(mapping, move->begin, move->bytes, &pointer) == OVERLAP_INSIDE &&
                mapping_find(mapping, move->pointee, 0, &pointee) == OVERLAP_INSIDE;
    bool is_new = both && (move->always || pointer->made_by == work->number ||
                           pointee->made_by == work->number);
    return !is_new || pointer_attach(work, pointer, move->begin, move->bytes, pointee, move);
}

bool attachments_decide(struct work *work)
{
    struct moves *moves = &work->moves;
    bool right = true;
    for (size_t i = 0; i < moves->count && right; i++)
        if (moves->list[i].kind == MOVE_ATTACH)
            right = attachment_decide(work, &moves->list[i]);
    return right;
}
